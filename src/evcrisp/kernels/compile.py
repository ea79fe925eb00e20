"""Decorators that compile kernels with numba, one per set of arithmetic rules."""

from collections.abc import Callable
from typing import Any

import numba


def compiled(**settings: Any) -> Callable[[Any], Any]:
    """Return a decorator that compiles, and keeps the result on disk where a disk can be written."""

    def decorate(function: Any) -> Any:
        try:
            return numba.njit(cache=True, nogil=True, **settings)(function)
        except RuntimeError:  # neither the package's folder nor the user's can be written
            return numba.njit(nogil=True, **settings)(function)

    return decorate


#: The one way in which evcrisp compiles: cached on disk, without the GIL, exact arithmetic.
njit = compiled()

#: Sums may be added in any order, so that several numbers are taken at a time (six times faster);
#: infinity and NaN keep their meaning.
summing = compiled(fastmath={"reassoc"})

#: For kernels that no NaN can reach: the larger or smaller of two numbers is then one instruction
#: without a branch. Nothing else about the arithmetic changes.
comparing = compiled(fastmath={"nnan", "nsz"})

#: A product and a sum may become one operation, rounded once; a division by zero is infinity.
fused = compiled(error_model="numpy", fastmath={"contract"})

#: The same for sums, which may be added in any order.
accumulating = compiled(error_model="numpy", fastmath={"contract", "reassoc"})

#: The same for kernels that no NaN can reach, so that the larger of two numbers is one instruction.
finite = compiled(error_model="numpy", fastmath={"contract", "nnan", "nsz"})
