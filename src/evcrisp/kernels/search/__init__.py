"""Kernels of the motion search."""
