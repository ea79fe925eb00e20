"""Kernels of the pipeline."""
