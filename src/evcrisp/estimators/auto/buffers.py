"""Buffers of `auto`: arrays that are reused from window to window.

New memory costs more than its use. Every thread has its own buffers. A buffer has one use, which its
name says; the next call of :func:`compute_evidence` in the thread overwrites all of them.
"""

import math
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Arrays with a longer side than this are not kept for the next window.
MAX_KEPT = 4_000_000


class Buffer:
    """Array of one type that grows to the largest request; its content is arbitrary."""

    def __init__(self, dtype: type) -> None:
        self._dtype = dtype
        self._row: NDArray[Any] = np.empty(0, dtype)
        self._view: NDArray[Any] = self._row

    def __call__(self, *shape: int) -> NDArray[Any]:
        """Return the array in a shape; huge arrays are new, so that their memory is released."""
        if self._view.shape == shape:  # windows of equal size are common
            return self._view
        if max(shape) > MAX_KEPT:
            return np.empty(shape, self._dtype)
        size = math.prod(shape)
        if self._row.size < size:
            self._row = np.empty(size, self._dtype)
        self._view = self._row[:size].reshape(shape)
        return self._view


def _singles(n: int) -> Iterator[Buffer]:
    return (Buffer(np.float32) for _ in range(n))


def _integers(n: int) -> Iterator[Buffer]:
    return (Buffer(np.int32) for _ in range(n))


class PointBuffers:
    """Buffers of positions on a map: of events, or of noise samples."""

    def __init__(self) -> None:
        self.dt, self.cell = Buffer(np.float64), Buffer(np.int32)
        self.positions, self.offsets, self.readiness = _singles(3)
        self.support, self.unaligned_support = _singles(2)


class Buffers:
    """All buffers of a thread."""

    def __init__(self) -> None:
        self.events, self.samples = PointBuffers(), PointBuffers()
        self.links, self.last_of_source, self.sample_links, self.supporting_cell = _integers(4)
        self.t, self.images, self.self_support = _singles(3)
        self.excess, self.chance, self.time_order = _singles(3)
        self.last_times, self.kept_image = _singles(2)
        self.rank = Buffer(np.uint32)
        self.nodes, self.partly_exposed = Buffer(np.float64), Buffer(np.bool_)


_LOCAL = threading.local()


def thread_buffers() -> Buffers:
    """Return the buffers of this thread."""
    buffers = getattr(_LOCAL, "buffers", None)
    if buffers is None:
        buffers = _LOCAL.buffers = Buffers()
    return buffers
