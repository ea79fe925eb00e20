"""Entropy of where the events are, in blocks of pixels."""

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.metrics.chunks import checked, chunks_of

#: Side of a block, px.
BLOCK_PX = 16


def block_entropy(events: Events | Iterable[Events], *, block_px: int = BLOCK_PX) -> float:
    r"""Return the entropy of the blocks that the events fall into, bits; NaN without events.

    .. math:: H = -\sum_b p_b \log_2 p_b, \quad p_b = n_b / N

    Parameters
    ----------
    events : Events or iterable of Events
        Chunks are read once.
    block_px : int
        Side of a block, px; blocks at the right and lower border may be smaller.

    Examples
    --------
    Two blocks with as many events each are one bit.

    >>> events = Events(x=[0, 1, 30, 31], y=[0] * 4, t=range(4), p=[1] * 4, resolution=(32, 16))
    >>> block_entropy(events)
    1.0
    """
    from evcrisp.kernels.auto.hot_pixels import count_pixels

    counts: NDArray[np.int64] | None = None
    for chunk in chunks_of(events):
        if counts is None:
            counts = np.zeros(chunk.image_shape, np.int64)
        chunk = checked(chunk, (counts.shape[1], counts.shape[0]))
        count_pixels(chunk.x, chunk.y, counts)
    return math.nan if counts is None else entropy_of_counts(counts, block_px=block_px)


def entropy_of_counts(counts: NDArray[np.int64], *, block_px: int = BLOCK_PX) -> float:
    """Return :func:`block_entropy` of an image of counts, shape (h, w)."""
    if block_px < 1:
        raise ConfigError(f"`block_px` must be 1 or more; got {block_px}.")
    for axis in (0, 1):
        starts = np.arange(0, counts.shape[axis], block_px)
        counts = np.add.reduceat(counts, starts, axis=axis)
    filled = counts[counts > 0]
    if filled.size == 0:
        return math.nan
    share = filled / filled.sum()
    return max(0.0, -float(np.sum(share * np.log2(share))))


def entropy_reduction(raw: Events, clean: Events, *, block_px: int = BLOCK_PX) -> float:
    """Return by how many bits cleaning lowers :func:`block_entropy`.

    Positive where what is left is more concentrated. Random deletion lowers it by nearly nothing.

    Examples
    --------
    >>> events = Events(x=[0, 1, 30, 31], y=[0] * 4, t=range(4), p=[1] * 4, resolution=(32, 16))
    >>> entropy_reduction(events, events[:2])
    1.0
    """
    before, after = (block_entropy(events, block_px=block_px) for events in (raw, clean))
    return before - after
