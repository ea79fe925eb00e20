"""Kernels of the search for many motions in one window."""
