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
    is_low = evidence <= threshold
    low = np.flatnonzero(is_low & supporting)
    near = np.float32(_MOMENT_S / window.data.duration_s)
    extent, buffers = window.extent, window.buffers
    shape = extent.height + 2, extent.width + 2
    size = 2 * shape[0] * shape[1]
    where = extent.left, extent.top, shape, near, buffers.last_times(size)

    def pixels_around(marked: Bools, readers: np.ndarray) -> np.ndarray:
        from evcrisp.kernels.auto.coincidence import coincident_pixels

        count = np.empty(readers.size, np.uint8)
        coincident_pixels(x, y, p, t, marked, readers, *where, count)
        return count

    def moments_of(chosen: np.ndarray) -> np.ndarray:
        from evcrisp.kernels.auto.coincidence import count_moments

        count = np.empty(chosen.size, np.int32)
        count_moments(x, y, p, t, chosen, *where, buffers.moments(size), count)
        return count

    together = pixels_around(supporting, low)
    # One pixel beside them is too little for anything.
    low, together = low[together >= _FEW], together[together >= _FEW]
    if not low.size:
        return evidence
    # A lamp may be signal already but for its rim, which has fewer pixels around it.
    beside = near_pixels(x[low], y[low], window.data.resolution)
    high = np.flatnonzero(~is_low & supporting & beside[y, x])
    around = pixels_around(supporting, high)
    has_few = np.zeros(t.size, np.bool_)
    has_few[low] = True
    has_few[high[around >= _FEW]] = True
    few = np.flatnonzero(has_few)
    is_flash = np.zeros(t.size, np.bool_)
    is_flash[few] = moments_of(few) >= _MOMENTS
    is_flash[low[together >= _FLASH]] = True
    is_flash[high[around >= _FLASH]] = True
    if not is_flash.any():
        return evidence
    chosen = is_flash[low] | (pixels_around(is_flash, low) > 0)
    raised = evidence.copy()
    score = _SCORE + _SCORE_PER_PIXEL * together[chosen]
    raised[low[chosen]] = np.float32(threshold) * score
    return raised


def near_pixels(x: np.ndarray, y: np.ndarray, resolution: tuple[int, int]) -> Bools:
    """Return the pixels of events and those beside and across them, shape (h, w)."""
    width, height = resolution
    wide = np.zeros((height + 2, width + 2), np.bool_)
    wide[y.astype(np.intp) + 1, x.astype(np.intp) + 1] = True
    wide[1:-1] |= wide[:-2] | wide[2:]
    wide[:, 1:-1] |= wide[:, :-2] | wide[:, 2:]
    return wide[1:-1, 1:-1]
