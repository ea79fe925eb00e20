"""Kernels of the method `auto`."""
