"""Whether a motion is told by the events, or might as well be none."""

import math
from dataclasses import replace

import numpy as np

from evcrisp.contrast import ContrastMap
from evcrisp.estimators.alignment import WindowData
from evcrisp.estimators.hot_pixels import hot_events
from evcrisp.estimators.joint import event_peak
from evcrisp.estimators.pyramid import thinned
from evcrisp.estimators.result import Estimate
from evcrisp.estimators.scaling import Scaling
from evcrisp.solvers import Status

#: Chance finds no longer way than this, px, in windows in which hardly anything moves.
_SHORT_PX = 6.0

#: Standard deviations by which pairs of events that meet must become more. Measured on 63 kinds of
#: simulated windows: up to 11 where the motion is off by half of itself, above 15 where by a tenth.
_CERTAIN = 12.0

#: So many events decide at most.
_MOST = 50_000

_CONTRAST = ContrastMap(footprint="spline", sigma_px=0.866)

STILL = (
    "The events are hardly sharper than without motion: things move by about a pixel or less within "
    "this window, and the motion is told no better than that. For slow motions, take longer windows."
)


def doubted(result: Estimate) -> Estimate:
    """Return an estimate, with a warning if its motion cannot be told from none."""
    if result.status not in (Status.CONVERGED, Status.MAX_ITER) or result.warnings:
        return result
    model, events = result.motion, result.window.events
    span = (int(events.t[-1]) - int(events.t[0])) / 1e6
    way = Scaling.of(model, events.resolution, span).scaled(result.theta)
    if float(way @ way) > _SHORT_PX**2 or _gain(result) > _CERTAIN:
        return result
    return replace(result, warnings=(STILL,))


def _gain(result: Estimate) -> float:
    """Return by how many standard deviations more pairs of events meet than without motion."""
    events = result.window.events
    kept = result.signal & ~hot_events(events)
    warp = thinned(WindowData.of(result.window, result.motion).warp.subset(kept), _MOST)
    peak, pairs = event_peak(_CONTRAST), []
    for theta in (result.theta, np.zeros_like(result.theta)):
        x, y = warp.warp(theta)
        iwe = _CONTRAST.build(x, y, np.ones(x.size), events.resolution)
        pairs.append(float(_CONTRAST.leave_one_out(iwe, x, y).sum()) / peak)
    return (pairs[0] - pairs[1]) / math.sqrt(max(pairs[1], 1.0))
