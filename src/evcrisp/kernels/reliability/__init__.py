"""Kernels of the reliability of a motion."""
