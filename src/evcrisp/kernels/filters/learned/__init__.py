"""Kernels of the networks among the filters."""
