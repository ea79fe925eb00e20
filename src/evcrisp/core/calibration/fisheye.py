"""Equidistant (fisheye) lens of rays, and its inverse; a ray is a pair of slopes ``(X/Z, Y/Z)``.

A ray at the angle a from the axis is imaged at the radius ``a (1 + k1 a^2 + k2 a^4 + k3 a^6 + k4 a^8)``,
as in OpenCV, ROS and Kalibr. Rays at 90 degrees and beyond have no slopes.
"""

import math
from functools import lru_cache

import numpy as np

from evcrisp.core.types import Floats

#: ``(k1, k2, k3, k4)``.
Coefficients = tuple[float, ...]

#: Largest angle of a ray, rad: its slope is a million.
_MAX_ANGLE = math.pi / 2 - 1e-6
_TABLE_SIZE = 4096
_NEWTON_STEPS = 12


def distort_fisheye(k: Coefficients, x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return the distorted rays, NaN beyond the angle at which the image folds."""
    slope = np.hypot(x, y)
    angle = np.arctan(slope)
    with np.errstate(invalid="ignore"):
        radius = np.where(angle <= fold_angle(k), _radius(k, angle), np.nan)
        scale = np.divide(radius, slope, out=np.ones_like(slope), where=slope > 0.0)
        return x * scale, y * scale


def undistort_fisheye(k: Coefficients, x: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the rays whose distortion is x, y, and the remaining error; infinite if there is none."""
    radius, end = np.hypot(x, y), fold_angle(k)
    table = np.linspace(0.0, end, _TABLE_SIZE)
    with np.errstate(invalid="ignore", over="ignore"):
        angle = np.interp(radius, _radius(k, table), table)
        for _ in range(_NEWTON_STEPS):
            step = (_radius(k, angle) - radius) / np.maximum(_radius_slope(k, angle), 1e-6)
            angle = np.clip(angle - step, 0.0, end)
        missing = np.abs(_radius(k, angle) - radius)
        missing = np.where(np.isfinite(missing), missing, np.inf)
        scale = np.divide(np.tan(angle), radius, out=np.ones_like(radius), where=radius > 0.0)
        return x * scale, y * scale, missing


def _radius(k: Coefficients, angle: Floats) -> Floats:
    k1, k2, k3, k4 = k
    a2 = angle * angle
    return angle * (1.0 + a2 * (k1 + a2 * (k2 + a2 * (k3 + a2 * k4))))


def _radius_slope(k: Coefficients, angle: Floats) -> Floats:
    k1, k2, k3, k4 = k
    a2 = angle * angle
    return 1.0 + a2 * (3.0 * k1 + a2 * (5.0 * k2 + a2 * (7.0 * k3 + a2 * 9.0 * k4)))


@lru_cache(maxsize=64)
def fold_angle(k: Coefficients) -> float:
    """Return the angle at which the radius stops growing, at most 90 degrees, rad."""
    angles = np.linspace(0.0, _MAX_ANGLE, _TABLE_SIZE)
    falls = np.flatnonzero(_radius_slope(k, angles) <= 0.0)
    return float(angles[falls[0] - 1]) if falls.size else _MAX_ANGLE
