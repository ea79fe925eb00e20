"""Contrast of the aligned events of a window over that of the unaligned ones."""

import math

import numpy as np

from evcrisp.contrast import ContrastMap
from evcrisp.core.windows import seconds_since
from evcrisp.estimators.result import Estimate

#: The map of the search, for methods that state no other one.
_SEARCH_MAP = ContrastMap(footprint="spline", sigma_px=0.0, scale=2)


def contrast_gain(result: Estimate) -> float:
    """Return the variance of the map of kept events, aligned over unaligned; NaN without a motion.

    The map is that of the method (its parameter ``contrast``), or that of the search. With a camera,
    the unaligned events are undistorted too.

    >>> import evcrisp
    >>> scene = evcrisp.simulate(theta=(300.0, -120.0), duration_us=30_000, seed=1)
    >>> contrast_gain(evcrisp.estimate(scene.events, "cmax")) > 2.0
    True
    """
    kept, window = result.signal, result.window
    if not result.status.has_motion or not kept.any():
        return math.nan
    own = getattr(result.config, "contrast", None)
    contrast = own if isinstance(own, ContrastMap) else _SEARCH_MAP
    events = window.events[kept]
    x, y = events.x.astype(np.float64), events.y.astype(np.float64)
    if result.motion.uses_rays:
        dt = seconds_since(events.t, window.t_ref)
        x, y = result.motion.warp(np.zeros_like(result.theta), x, y, dt)
    weight, size = np.ones(x.size), events.resolution
    before = float(contrast.build(x, y, weight, size).var())
    aligned = result.aligned_x[kept], result.aligned_y[kept]
    return float(contrast.build(*aligned, weight, size).var()) / before if before else math.nan
