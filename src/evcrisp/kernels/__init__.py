"""Compiled code, and nothing else: numbers and contiguous arrays in, arrays out.

Only :mod:`evcrisp.kernels.compile` imports numba. Import kernels inside the function that needs
them, so that ``import evcrisp`` stays light.
"""
