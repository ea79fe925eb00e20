"""Whether parts of the view may be misaligned, from the sums that the covariance needs anyway.

A quick test before that of `evcrisp.estimators.layers.misfit`, which builds a map of its own.
"""

import numpy as np

from evcrisp.estimators.layers.misfit import Misfit, misfit_of, unexplained_per_signal
from evcrisp.estimators.reliability.motion_terms import MotionTerms
from evcrisp.estimators.result import Estimate

#: Side of a part, in tiles.
_PART_TILES = 3

#: Variance of times spread evenly over the window, in squares of its length.
_VARIANCE = 1.0 / 12.0

#: Curvature that a part counts as having besides its own: where it has hardly any, nothing can be said.
_FLOOR, _LEAST = 0.02, 1e-3

#: Parts off by more than this are misaligned, px per window.
_OFF_PX = 1.0

#: The quick test passes below this share of what is too much: its parts begin elsewhere.
_CLEARLY = 0.5


def misfit_if_large(terms: MotionTerms, result: Estimate, max_misaligned: float) -> Misfit:
    """Return the misfit of an estimate with one motion, given the terms of its signal.

    Where clearly less than ``max_misaligned`` is misaligned, that share is a rough one.
    """
    if not result.status.has_motion or not result.signal.any():
        return Misfit(0.0, 0.0)
    rough = misaligned_parts(terms, _OFF_PX)
    if rough > _CLEARLY * max_misaligned:
        return misfit_of(result)
    return Misfit(unexplained_per_signal(result), rough)


def misaligned_parts(terms: MotionTerms, off_px: float) -> float:
    """Return the share of the events in parts that another displacement would sharpen.

    It differs by ``off_px`` or more, px per window.
    """
    rows, columns = terms.row // _PART_TILES, terms.column // _PART_TILES
    across = int(columns.max()) + 1
    part, n_parts = rows * across + columns, (int(rows.max()) + 1) * across
    values = (*terms.pull.T, *(2.0 * _VARIANCE * terms.steepness.T), terms.count)
    pull_x, pull_y, xx, xy, yy, count = (np.bincount(part, row, n_parts) for row in values)
    floor = _FLOOR * float(xx.mean() + yy.mean()) + _LEAST
    xx, yy = xx + floor, yy + floor
    # The length of the step, with each direction weighted by its curvature: along an edge, which
    # any displacement keeps sharp, a step means nothing.
    gain = yy * pull_x**2 - 2.0 * xy * pull_x * pull_y + xx * pull_y**2
    is_off = gain > off_px**2 * 0.5 * (xx + yy) * (xx * yy - xy * xy)
    return float(count[is_off].sum() / max(count.sum(), 1.0))
