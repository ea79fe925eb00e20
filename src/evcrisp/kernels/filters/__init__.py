"""Kernels of the filters.

These arguments are the same in all kernels: x, y : (n,) uint16; t : (n,) int64 us; p : (n,) uint8;
signal : (n,) bool, filled; score : (n,) float64, filled. Arrays of state are updated in place.
"""
