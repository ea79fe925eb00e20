"""Decorators that compile kernels with numba, one per set of arithmetic rules.

A kernel without rules of its own inherits those of the kernel that is compiled first and calls it.
Give it explicit rules if its result must not depend on that order.
"""

from collections.abc import Callable
from typing import Any

import numba


def compiled(**settings: Any) -> Callable[[Any], Any]:
    """Return a decorator that compiles a kernel, and caches it on disk if possible."""

    def decorate(function: Any) -> Any:
        try:
            return numba.njit(cache=True, nogil=True, **settings)(function)
        except RuntimeError:  # neither the folder of the package nor that of the user is writable
            return numba.njit(nogil=True, **settings)(function)

    return decorate


#: Exact arithmetic.
njit = compiled()

#: Sums in any order, which allows vector instructions (six times faster); infinity and NaN remain
#: valid.
summing = compiled(fastmath={"reassoc"})

#: Without NaN: minimum and maximum become one instruction. Otherwise exact.
comparing = compiled(fastmath={"nnan", "nsz"})

#: Fused multiply-add, rounded once; a division by zero gives infinity.
fused = compiled(error_model="numpy", fastmath={"contract"})

#: `fused`, with sums in any order.
accumulating = compiled(error_model="numpy", fastmath={"contract", "reassoc"})

#: `fused`, without NaN.
finite = compiled(error_model="numpy", fastmath={"contract", "nnan", "nsz"})
