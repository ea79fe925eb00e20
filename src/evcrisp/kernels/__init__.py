"""Compiled code, and nothing else: numbers and contiguous arrays in, arrays out.

This is the only package that imports numba. Import its modules inside the function that needs
them, so that ``import evcrisp`` stays light.
"""

import numba

#: The one way in which evcrisp compiles: cached on disk, without the GIL, exact arithmetic.
njit = numba.njit(cache=True, nogil=True)
