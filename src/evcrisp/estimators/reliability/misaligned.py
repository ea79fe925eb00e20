"""Whether parts of the view may be misaligned, from the sums that the covariance needs anyway.

A quick test before that of `evcrisp.estimators.layers.misfit`, which builds a map of its own.
"""

from dataclasses import dataclass

import numpy as np

from evcrisp.estimators.layers.misfit import (
    MAX_MISALIGNED,
    Misfit,
    misfit_of,
    unexplained_per_signal,
)
from evcrisp.estimators.reliability.motion_terms import MotionTerms, terms_of
from evcrisp.estimators.result import Estimate
from evcrisp.estimators.view_frame import ViewFrame

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

#: Without a given motion, the quick test takes the worst of this many grids of parts along each axis, and needs
#: this many tiles: a single bar, or a spot, falls into few parts. Of 490 windows of 22 real recordings, 13 passed
#: the test with one grid though they had too much, none with nine.
_ALL_GRIDS, _ENOUGH_TILES = _PART_TILES, 100


@dataclass(frozen=True, slots=True)
class MeasuredMisfit(Misfit):
    """A misfit, and the terms of the signal, from which the covariance comes too."""

    terms: MotionTerms | None = None  # on the sensor


def measured_misfit(
    result: Estimate, frame: ViewFrame | None, of_labels: Misfit | None = None
) -> MeasuredMisfit:
    """Return the misfit of an estimate with one motion on the rectangle of its events.

    Where clearly less is misaligned than with several motions, that share is a rough one. ``of_labels``
    is the misfit of its labels, if it is known.
    """
    terms = terms_of(result, result.signal, frame) if result.status.has_motion else None
    rough = None
    if terms is not None and len(terms) >= _ENOUGH_TILES:
        rough = misaligned_parts(terms, _OFF_PX, _ALL_GRIDS)
        rough = rough if rough <= _CLEARLY * MAX_MISALIGNED else None
    fit = misfit_of(result, rough, of_labels)
    return MeasuredMisfit(fit.unexplained, fit.misaligned, fit.spot, terms)


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


def misaligned_parts(terms: MotionTerms, off_px: float, n_grids: int = 1) -> float:
    """Return the share of the events in parts that another displacement would sharpen.

    It differs by ``off_px`` or more, px per window. Of ``n_grids`` along each axis, which begin one tile after the
    other, the largest.
    """
    from evcrisp.kernels.reliability.tile_sums import misaligned_share

    limits = np.array((2.0 * _VARIANCE, _FLOOR, _LEAST, off_px))
    return misaligned_share(
        terms.row,
        terms.column,
        terms.pull,
        terms.steepness,
        terms.count,
        _PART_TILES,
        n_grids,
        limits,
    )
