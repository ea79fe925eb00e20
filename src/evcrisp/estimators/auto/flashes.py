"""Events of lamps that flash: structure that no motion explains.

All pixels of a lamp fire at the same moment, mostly again and again. Noise does so in pairs and in
clusters of a few pixels, and rarely at one place twice. Hot pixels fire alone.
"""

import numpy as np

from evcrisp.core.types import Bools, Integers, Singles
from evcrisp.estimators.auto.aligned_maps import IndexedWindow
from evcrisp.estimators.auto.short_evidence import in_time

#: Events of the same moment lie within this time of each other, s.
_MOMENT_S = 0.001

#: Pixels around an event that fire at its moment: a cluster of five events has at most four.
_FLASH = 5

#: Fewer pixels that fire with an event, and other moments at which they do so too.
_FEW, _MOMENTS = 2, 4

#: Score of an event of a flash, and for every pixel around it.
_SCORE, _SCORE_PER_PIXEL = np.float32(1.05), np.float32(0.05)


def with_flashes(
    window: IndexedWindow,
    evidence: Singles,
    threshold: float,
    supporting: Bools,
    order: Integers | None = None,
) -> Singles:
    """Return the evidence of events, raised above the threshold where they belong to a flash.

    ``evidence`` is in the order of time, ``supporting``, shape (n,), in that of the window; events that
    do not support others, of hot pixels, are no flash. ``order`` is that of `short_support`.
    """
    columns = window.pixels.x, window.pixels.y, window.p, window.t[: window.p.size], supporting
    if order is not None:
        columns = tuple(in_time(column, order) for column in columns)
    x, y, p, t, supporting = columns
    others = np.flatnonzero((evidence <= threshold) & supporting)
    near = np.float32(_MOMENT_S / window.data.duration_s)

    def pixels_around(marked: Bools, readers: np.ndarray) -> np.ndarray:
        from evcrisp.kernels.auto.coincidence import coincident_pixels

        extent, count = window.extent, np.empty(readers.size, np.uint8)
        shape = extent.height + 2, extent.width + 2
        last = window.buffers.last_times(2 * shape[0] * shape[1])
        coincident_pixels(
            x, y, p, t, marked, readers, extent.left, extent.top, shape, near, last, count
        )
        return count

    together = pixels_around(supporting, others)
    others, together = others[together > 0], together[together > 0]
    source = (p[others].astype(np.int64) << 32) | (y[others].astype(np.int64) << 16) | x[others]
    is_flash = (together >= _FLASH) | _again(source, t[others], together >= _FEW, near)
    if not is_flash.any():
        return evidence
    # The rim of a lamp has fewer pixels around it.
    marked = np.zeros(t.size, np.bool_)
    marked[others[is_flash]] = True
    is_flash |= pixels_around(marked, others) > 0
    raised = evidence.copy()
    score = _SCORE + _SCORE_PER_PIXEL * together[is_flash]
    raised[others[is_flash]] = np.float32(threshold) * score
    return raised


def _again(source: np.ndarray, t: Singles, few: Bools, near: np.float32) -> Bools:
    """Return which events have pixels with them at several moments of their own source."""
    out, chosen = np.zeros(t.size, np.bool_), np.flatnonzero(few)
    chosen = chosen[np.argsort(source[chosen], kind="stable")]
    if chosen.size < _MOMENTS:
        return out
    # One moment begins where another source does, or some time after the last event.
    own, times = source[chosen], t[chosen]
    is_other = np.append(True, own[1:] != own[:-1])
    begins = is_other | np.append(True, np.diff(times) > 2.0 * near)
    number = np.cumsum(is_other) - 1
    out[chosen] = np.bincount(number, weights=begins)[number] >= _MOMENTS
    return out
