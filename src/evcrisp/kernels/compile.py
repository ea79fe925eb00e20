"""Decorators that compile kernels with numba, one per set of arithmetic rules.

A kernel without rules of its own inherits those of the kernel that is compiled first and calls it.
Give it explicit rules if its result must not depend on that order.
"""

import hashlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numba


@lru_cache(maxsize=1)
def _sources_digest() -> str:
    """Return a digest of the sources of all kernels."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _bind_cache_to_sources(kernel: Any) -> None:
    """Make the cache of a kernel depend on all kernels.

    Numba checks only the file of the kernel itself. After a change of another kernel that it calls, or
    of a type that it takes, the cached code would be stale or could not be loaded.
    """
    file = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    if file is not None:
        file._version = f"{file._version}-{_sources_digest()}"


def compiled(**settings: Any) -> Callable[[Any], Any]:
    """Return a decorator that compiles a kernel, and caches it on disk if possible."""

    def decorate(function: Any) -> Any:
        try:
            kernel = numba.njit(cache=True, nogil=True, **settings)(function)
        except RuntimeError:  # neither the folder of the package nor that of the user is writable
            return numba.njit(nogil=True, **settings)(function)
        _bind_cache_to_sources(kernel)
        return kernel

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

#: Exact, but a division by zero gives infinity: without exceptions, the compiler can vectorize.
unchecked = compiled(error_model="numpy")

#: `unchecked`, with sums in any order; infinity and NaN keep their meaning.
unchecked_sum = compiled(error_model="numpy", fastmath={"reassoc"})
