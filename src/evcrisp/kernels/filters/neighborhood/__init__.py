"""Kernels of the filters that look at the last events of neighboring pixels."""
