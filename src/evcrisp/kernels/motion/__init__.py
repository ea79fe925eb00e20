"""Kernels of motion models."""
