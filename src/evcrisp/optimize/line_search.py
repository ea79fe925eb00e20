"""How far to go along a direction."""

import math
from dataclasses import dataclass

from evcrisp.core.types import Floats
from evcrisp.optimize.counted_function import CountedFunction

_ENOUGH = 1e-4  # share of the promised gain that a step must bring (Armijo)
_TOO_STEEP = 0.9  # share of the slope that may be left after it (Wolfe)
_MAX_TRIALS = 20


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A step that gains."""

    t: float
    value: float
    gradient: Floats


def line_search(
    fun: CountedFunction, theta: Floats, value: float, slope: float, step: Floats, t_max: float
) -> Found | None:
    """Find t such that ``theta + t * step`` gains enough and is no longer steep.

    Parameters
    ----------
    fun : CountedFunction
        What to maximize.
    theta, value : ndarray, float
        Where to start, and the value there.
    slope : float
        Derivative along ``step`` at the start, positive.
    step : ndarray, shape (m,)
        Direction, and length of the first trial.
    t_max : float
        Largest t; at least 1 is tried.

    Returns
    -------
    Found or None
        The best point that gains enough; None if there is none.
    """
    low, low_slope, high = 0.0, slope, math.inf
    best: Found | None = None
    t, t_max = 1.0, max(1.0, t_max)
    for _ in range(_MAX_TRIALS):
        new, gradient = fun.value_and_gradient(theta + t * step)
        new_slope = float(gradient @ step) if new > -math.inf else math.nan
        if new >= value + _ENOUGH * t * slope:
            if best is None or new >= best.value:
                best = Found(t, new, gradient)
            if abs(new_slope) <= _TOO_STEEP * slope or (new_slope > 0.0 and t >= t_max):
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
    """Return where a slope that changes evenly would be zero, well inside the bracket."""
    width = high - low
    if slope_high < slope_low:  # false for NaN
        share = slope_low / (slope_low - slope_high)
        return low + width * min(max(share, 0.1), 0.9)
    return low + 0.5 * width
