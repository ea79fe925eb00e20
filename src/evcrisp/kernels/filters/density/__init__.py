"""Kernels of the filters on the density of events in space and time."""
