"""Where a motion takes the border of the sensor, and so all that it sees."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from evcrisp.motion import MotionModel, PreparedWarp, prepare

Floats = NDArray[np.float64]

_PER_SIDE = 3


def border_places(
    model: MotionModel, resolution: tuple[int, int], theta: Floats, times_s: tuple[float, ...]
) -> tuple[Floats, Floats]:
    """Return where points on the border of the sensor are warped to from some times, px.

    Examples
    --------
    >>> from evcrisp.motion import Translation
    >>> x, y = border_places(Translation(), (346, 260), np.array([100.0, 0.0]), (-0.1, 0.1))
    >>> [float(limit) for limit in (x.min(), x.max(), y.min(), y.max())]
    [-10.0, 355.0, 0.0, 259.0]
    """
    border = _border(model, resolution, len(times_s))
    dt = np.repeat(times_s, len(border) // len(times_s))
    return border.of(border.x, border.y, dt).warp(theta)


@lru_cache(maxsize=64)
def _border(model: MotionModel, resolution: tuple[int, int], n_times: int) -> PreparedWarp:
    """Return the warp of points on the border, for several times."""
    right, bottom = resolution[0] - 1.0, resolution[1] - 1.0
    across, down = np.linspace(0.0, right, _PER_SIDE), np.linspace(0.0, bottom, _PER_SIDE)
    low, high = np.zeros(_PER_SIDE), np.ones(_PER_SIDE)
    x = np.concatenate((across, across, low, right * high))
    y = np.concatenate((low, bottom * high, down, down))
    return prepare(model, np.tile(x, n_times), np.tile(y, n_times), np.zeros(n_times * x.size))
