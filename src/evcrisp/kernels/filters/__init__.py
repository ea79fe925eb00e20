"""Kernels of the filters."""
