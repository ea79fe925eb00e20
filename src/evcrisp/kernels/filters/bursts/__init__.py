"""Kernels of the filters on the sequence of events at one pixel."""
