"""Whether a motion is told by the events, or might as well be none."""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from evcrisp.contrast import ContrastMap
from evcrisp.estimators.hot_pixels import hot_events
from evcrisp.estimators.joint.problem import event_peak
from evcrisp.estimators.result import Estimate
from evcrisp.search.scaling import Scaling
from evcrisp.search.window_data import WindowData

#: Longer ways than this, px, are not found by chance, unless there are fewer events than that.
_SHORT_PX, _FEW_EVENTS = 6.0, 5_000

#: Standard deviations by which pairs of events that meet must become more. Measured on 63 kinds of
#: simulated windows: mostly below 10 where the motion is off by a tenth of itself or more, above 12 where less.
_CERTAIN = 11.0

#: A few events are mostly enough to be certain; at most so many decide.
_SOME, _MOST = 8_192, 50_000

#: The kernel of the search.
_CONTRAST = ContrastMap(footprint="spline", sigma_px=0.0, scale=2)

STILL = (
    "The events are hardly sharper than without motion: within this window things move too little, "
    "or too few events tell how. Take longer windows."
)


def with_significance_warning(result: Estimate) -> Estimate:
    """Return an estimate, with a warning if its motion cannot be told from none."""
    if not result.status.is_usable or result.warnings:
        return result
    events = result.window.events
    span_s = (int(events.t[-1]) - int(events.t[0])) / 1e6
    way = Scaling.of(result.motion, events.resolution, span_s).scaled(result.theta)
    if len(events) > _FEW_EVENTS and float(way @ way) > _SHORT_PX**2:
        return result
    if _gain(result, result.signal, _SOME) > _CERTAIN:
        return result
    # Hot pixels are sharpest at rest; to look for them takes longer than all of this.
    if _gain(result, result.signal & ~hot_events(events), _MOST) > _CERTAIN:
        return result
    return replace(result, warnings=(STILL,))


def _gain(result: Estimate, kept: NDArray[np.bool_], n_most: int) -> float:
    """Return by how many standard deviations more pairs of events meet than without motion."""
    stride = -(-kept.size // n_most)
    some = replace(result.window, events=result.window.events[::stride])
    warp = WindowData.of(some, result.motion).warp.subset(kept[::stride])
    peak, pairs = event_peak(_CONTRAST), []
    for theta in (result.theta, np.zeros_like(result.theta)):
        x, y = warp.warp(theta)
        iwe = _CONTRAST.build(x, y, np.ones(x.size), some.events.resolution)
        pairs.append(float(_CONTRAST.leave_one_out(iwe, x, y).sum()) / peak)
    return (pairs[0] - pairs[1]) / math.sqrt(max(pairs[1], 1.0))
