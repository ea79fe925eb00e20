"""Decorators that compile kernels with numba, one per set of arithmetic rules.

A kernel without rules of its own inherits those of the kernel that is compiled first and calls it.
Give it explicit rules if its result must not depend on that order.
"""

import hashlib
import logging
import multiprocessing
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numba
import numba.core.event

logger = logging.getLogger(__name__)

#: Time of compilation after which users ask what takes so long, s.
_LONG_S = 3.0


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
            global _is_kept
            _is_kept = False
            return numba.njit(nogil=True, **settings)(function)
        _bind_cache_to_sources(kernel)
        return kernel

    return decorate


class Announcement(numba.core.event.Listener):
    """Says once that kernels are being compiled, when that has taken ``after_s``, s.

    Kernels that are loaded from the cache do not count.
    """

    def __init__(self, after_s: float = _LONG_S) -> None:
        self._rest_s = after_s
        self._starts_s: list[float] = []  # kernels that another one calls are compiled within it

    def on_start(self, event: Any) -> None:
        """Note the start of a kernel."""
        self._starts_s.append(time.monotonic())

    def on_end(self, event: Any) -> None:
        """Add the time of a kernel with those that it calls."""
        if not self._starts_s:  # it began before this module was imported
            return
        start_s = self._starts_s.pop()
        if self._starts_s or self._rest_s <= 0:
            return
        self._rest_s -= time.monotonic() - start_s
        if self._rest_s <= 0:
            logger.info("Kernels are compiled, which can take minutes. %s", _KEPT[_is_kept])


#: Whether compiled kernels are kept for the next start; and what that means.
_is_kept = True
_KEPT = {
    True: "They are kept: the next start is fast.",
    False: "No folder for them is writable, so that the next start takes as long; set NUMBA_CACHE_DIR.",
}

if multiprocessing.parent_process() is None:  # the messages of workers would repeat it
    numba.core.event.register("numba:compile", Announcement())


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
