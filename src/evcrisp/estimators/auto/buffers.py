"""Buffers of `auto`: arrays that are reused from window to window.

New memory costs more than its use. Every thread has its own buffers. A buffer has one use, which its
name says; the next call of :func:`compute_evidence` in the thread overwrites all of them.
"""

import math
import threading
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Arrays with a longer side than this are not kept for the next window.
MAX_KEPT = 4_000_000


class Buffer:
    """Array of one type that grows to the largest request; its content is arbitrary."""

    __slots__ = ("_dtype", "_row", "_view")

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


def _singles() -> Buffer:
    return Buffer(np.float32)


def _integers() -> Buffer:
    return Buffer(np.int32)


@dataclass(slots=True)
class PointBuffers:
    """Buffers of positions on a map: of events, or of noise samples."""

    dt: Buffer = field(default_factory=lambda: Buffer(np.float64))
    positions: Buffer = field(default_factory=_singles)
    offsets: Buffer = field(default_factory=_singles)
    cell: Buffer = field(default_factory=_integers)
    support: Buffer = field(default_factory=_singles)
    unaligned_support: Buffer = field(default_factory=_singles)
    readiness: Buffer = field(default_factory=_singles)


@dataclass(slots=True)
class Buffers:
    """All buffers of a thread."""

    events: PointBuffers = field(default_factory=PointBuffers)
    samples: PointBuffers = field(default_factory=PointBuffers)
    links: Buffer = field(default_factory=_integers)
    last_of_source: Buffer = field(default_factory=_integers)
    sample_links: Buffer = field(default_factory=_integers)
    t: Buffer = field(default_factory=_singles)
    supporting_cell: Buffer = field(default_factory=_integers)
    images: Buffer = field(default_factory=_singles)
    self_support: Buffer = field(default_factory=_singles)
    excess: Buffer = field(default_factory=_singles)
    chance: Buffer = field(default_factory=_singles)
    time_order: Buffer = field(default_factory=_singles)
    nodes: Buffer = field(default_factory=lambda: Buffer(np.float64))
    partly_exposed: Buffer = field(default_factory=lambda: Buffer(np.bool_))


_LOCAL = threading.local()


def thread_buffers() -> Buffers:
    """Return the buffers of this thread."""
    buffers = getattr(_LOCAL, "buffers", None)
    if buffers is None:
        buffers = _LOCAL.buffers = Buffers()
    return buffers
