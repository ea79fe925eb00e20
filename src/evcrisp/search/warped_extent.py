"""Extent of the warped view: limits of the sensor border under a motion."""

from functools import lru_cache

import numpy as np

from evcrisp.core.types import Floats
from evcrisp.motion import MotionModel, PreparedWarp, prepare

Limits = tuple[float, float]

_PER_SIDE, _TIMES = 3, 3  # sample points of each side and of the window


def border_limits(
    model: MotionModel, resolution: tuple[int, int], theta: Floats, first_s: float, last_s: float
) -> tuple[Limits, Limits]:
    """Return the limits of x and of y of the warped sensor border, px.

    Points of the border are warped from the first, the middle and the last time. If one of them has
    no finite position, the limits are NaN.

    Examples
    --------
    >>> from evcrisp.motion import Translation
    >>> border_limits(Translation(), (346, 260), np.array([100.0, 0.0]), -0.1, 0.1)
    ((-10.0, 355.0), (0.0, 259.0))
    """
    from evcrisp.kernels.search.array_ops import limits_of

    border = _border(model, resolution)
    dt = first_s + (last_s - first_s) * border.dt
    x, y = border.of(border.x, border.y, dt).warp(theta)
    return limits_of(x), limits_of(y)


@lru_cache(maxsize=64)
def _border(model: MotionModel, resolution: tuple[int, int]) -> PreparedWarp:
    """Return the prepared warp of points on the border, at times from 0 to 1."""
    right, bottom = resolution[0] - 1.0, resolution[1] - 1.0
    across, down = np.linspace(0.0, right, _PER_SIDE), np.linspace(0.0, bottom, _PER_SIDE)
    low, high = np.zeros(_PER_SIDE), np.ones(_PER_SIDE)
    x = np.concatenate((across, across, low, right * high))
    y = np.concatenate((low, bottom * high, down, down))
    times = np.repeat(np.linspace(0.0, 1.0, _TIMES), x.size)
    return prepare(model, np.tile(x, _TIMES), np.tile(y, _TIMES), times)
