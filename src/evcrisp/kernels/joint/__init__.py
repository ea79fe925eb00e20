"""Kernels of the joint problem."""
