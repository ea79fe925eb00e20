"""Contrast of the aligned events of a window over that of the unaligned ones."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.contrast import ContrastMap
from evcrisp.core.types import Bools
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
    events = window.events.contiguous()
    x: NDArray[Any] = events.x
    y: NDArray[Any] = events.y
    if result.motion.uses_rays:
        dt = seconds_since(events.t, window.t_ref)
        x, y = result.motion.warp(np.zeros_like(result.theta), x, y, dt)
    before = _variance(contrast, x, y, kept, events.resolution)
    if not before:
        return math.nan
    return _variance(contrast, result.aligned_x, result.aligned_y, kept, events.resolution) / before


def _variance(
    contrast: ContrastMap, x: NDArray[Any], y: NDArray[Any], kept: Bools, size: tuple[int, int]
) -> float:
    """Return the variance of the map of kept events."""
    from evcrisp.kernels.contrast.kept_map import kept_map, kept_map_of_pixels, variance

    if contrast is not _SEARCH_MAP:
        x, y = x[kept].astype(np.float64), y[kept].astype(np.float64)
        return float(contrast.build(x, y, np.ones(x.size), size).var())
    image = np.empty(contrast.shape(size))
    if x.dtype == np.uint16:
        kept_map_of_pixels(x, y, kept, contrast.padding_px, image)
    else:
        kept_map(x, y, kept, contrast.padding_px, contrast.scale, image)
    return float(variance(image))
