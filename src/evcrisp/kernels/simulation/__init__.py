"""Kernels of the simulator."""
