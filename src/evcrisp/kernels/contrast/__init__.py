"""Kernels of contrast maps and objectives."""
