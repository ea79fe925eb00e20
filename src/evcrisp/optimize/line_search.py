"""Line search for the Wolfe conditions."""

import math
from typing import NamedTuple

from evcrisp.core.types import Floats
from evcrisp.optimize.counted_function import CountedFunction

_MIN_GAIN = 1e-4  # least gain of a step, per predicted gain (Armijo condition)
_MAX_SLOPE = 0.9  # largest slope after a step, per slope before it (curvature condition)
_MAX_TRIALS = 20


class Found(NamedTuple):
    """Accepted step length, with value and gradient."""

    t: float
    value: float
    gradient: Floats


def line_search(
    fun: CountedFunction, theta: Floats, value: float, slope: float, step: Floats, t_max: float
) -> Found | None:
    """Return a step length that satisfies the Wolfe conditions, or the best gain.

    ``value`` and ``slope``, which is positive, are those at ``theta`` along ``step``. The first
    trial is t = 1, the largest ``t_max`` (at least 1). None if no trial gains enough.
    """
    low, low_slope, high = 0.0, slope, math.inf
    best: Found | None = None
    t, t_max = 1.0, max(1.0, t_max)
    for _ in range(_MAX_TRIALS):
        new, gradient = fun.value_and_gradient(theta + t * step)
        new_slope = float(gradient @ step) if new > -math.inf else math.nan
        if new >= value + _MIN_GAIN * t * slope:
            if best is None or new >= best.value:
                best = Found(t, new, gradient)
            if abs(new_slope) <= _MAX_SLOPE * slope or (new_slope > 0.0 and t >= t_max):
                return best
            if new_slope > 0.0:
                low, low_slope = t, new_slope
            else:
                high = t
        else:
            high = t
        if high == math.inf:
            t = min(t_max, 2.0 * t)
        elif high - low > 1e-12 * high:
            t = _inside(low, high, low_slope, new_slope if high == t else math.nan)
        else:
            break
    return best


def _inside(low: float, high: float, slope_low: float, slope_high: float) -> float:
    """Return the zero of a linear slope, kept away from the ends of the bracket."""
    width = high - low
    if slope_high < slope_low:  # false for NaN
        share = slope_low / (slope_low - slope_high)
        return low + width * min(max(share, 0.1), 0.9)
    return low + 0.5 * width
