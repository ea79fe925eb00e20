"""Turns and growth about the point at rest: a field of velocities that does not change with time.

A `Similarity` or `Rigid` motion with a velocity turns the velocity too, about its center. A camera that
turns, and an object on an axis, have a constant field instead, which is the same motion about the point
where that field is zero. On the scale of a pixel both are as sharp, but the velocities at the ends of a
window differ by half of the angle.
"""

from dataclasses import replace
from typing import cast

import numpy as np

from evcrisp.core.types import Floats
from evcrisp.estimators.contrast_gain import contrast_gain
from evcrisp.estimators.result import Estimate
from evcrisp.motion import Rigid, Similarity
from evcrisp.search.window_data import WindowData

#: Models of a turn about a center.
Turning = Rigid | Similarity

#: Turn or growth within a window below which both are the same.
_LEAST_TURN = 0.01

#: Contrast that a constant field may lose.
_AS_SHARP = 0.99


def about_point_at_rest(result: Estimate) -> Estimate:
    """Return an estimate with a turn about the point at rest, unless that is less sharp."""
    if result.motion.name not in ("rigid", "similarity"):
        return result
    length_s = (result.window.t_end - result.window.t_start) / 1e6
    if float(np.hypot(*_turn_and_growth(result.theta))) * length_s < _LEAST_TURN:
        return result
    model, theta = point_at_rest(cast(Turning, result.motion), result.theta)
    x, y = WindowData.of(result.window, model).warp.warp(theta)
    other = replace(result, motion=model, theta=theta, aligned_x=x, aligned_y=y)
    is_as_sharp = contrast_gain(other) >= _AS_SHARP * contrast_gain(result)
    return other if is_as_sharp else result


def point_at_rest(model: Turning, theta: Floats) -> tuple[Turning, Floats]:
    """Return the same field at the reference time about the point that rests.

    >>> from evcrisp.motion import Rigid
    >>> model, theta = point_at_rest(Rigid(center=(10.0, 0.0)), np.array([0.0, 20.0, 2.0]))
    >>> model.center, theta.tolist()
    ((0.0, 0.0), [0.0, 0.0, 2.0])
    """
    w, s = _turn_and_growth(theta)
    offset = -complex(theta[0], theta[1]) / complex(s, w)
    x, y = model.center
    moved = replace(model, center=(x + offset.real, y + offset.imag))
    return moved, np.array([0.0, 0.0, *theta[2:]])


def _turn_and_growth(theta: Floats) -> tuple[float, float]:
    return float(theta[2]), float(theta[3]) if theta.size > 3 else 0.0
