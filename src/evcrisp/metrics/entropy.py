"""Entropy of the positions of events, in blocks of pixels."""

import math
from collections.abc import Iterable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events
from evcrisp.core.validation import as_resolution, check_number
from evcrisp.metrics.chunks import checked, read_chunks

#: Side of a block, px; as in jAER.
BLOCK_PX = 16


def block_entropy(events: Events | Iterable[Events], *, block_px: int = BLOCK_PX) -> float:
    r"""Return the entropy of the distribution of events over blocks, bits; NaN without events.

    .. math:: H = -\sum_b p_b \log_2 p_b, \quad p_b = n_b / N

    Chunks are read once. Blocks are squares of ``block_px``, smaller at the right and lower border.

    Two blocks with equal numbers of events have one bit.

    >>> events = Events(x=[0, 1, 30, 31], y=[0] * 4, t=range(4), p=[1] * 4, resolution=(32, 16))
    >>> block_entropy(events)
    1.0
    """
    meter = read_chunks(events, partial(EntropyMeter, block_px=block_px))
    return math.nan if meter is None else meter.value()


def entropy_reduction(events: Events, *, raw: Events, block_px: int = BLOCK_PX) -> float:
    """Return by how many bits denoising reduces :func:`block_entropy`.

    Positive if the kept events are more concentrated. Random deletion hardly changes it.

    >>> raw = Events(x=[0, 1, 30, 31], y=[0] * 4, t=range(4), p=[1] * 4, resolution=(32, 16))
    >>> entropy_reduction(raw[:2], raw=raw)
    1.0
    """
    return block_entropy(raw, block_px=block_px) - block_entropy(events, block_px=block_px)


class EntropyMeter:
    """Measures the block entropy chunk by chunk; see :func:`block_entropy`."""

    def __init__(self, resolution: tuple[int, int], *, block_px: int = BLOCK_PX) -> None:
        check_number("block_px", block_px, 1)
        self.resolution = as_resolution(resolution)
        self._block_px = block_px
        self._counts = np.zeros(self.resolution[::-1], np.int64)

    def add(self, events: Events) -> None:
        """Add the next chunk."""
        from evcrisp.kernels.auto.hot_pixels import count_pixels

        events = checked(events, self.resolution)
        count_pixels(events.x, events.y, self._counts)

    def value(self) -> float:
        """Return the entropy of the events so far, bits."""
        counts: NDArray[np.int64] = self._counts
        for axis in (0, 1):
            starts = np.arange(0, counts.shape[axis], self._block_px)
            counts = np.add.reduceat(counts, starts, axis=axis)
        filled = counts[counts > 0]
        if filled.size == 0:
            return math.nan
        share = filled / filled.sum()
        return max(0.0, -float(np.sum(share * np.log2(share))))
