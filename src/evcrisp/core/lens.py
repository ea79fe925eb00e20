"""Lens distortion of rays, and its inverse; a ray is a pair of slopes ``(X/Z, Y/Z)``."""

from functools import lru_cache

import numpy as np

from evcrisp.core.types import Floats

#: ``(k1, k2, p1, p2, k3)`` in the order of OpenCV.
Distortion = tuple[float, ...]

TOLERANCE = 1e-10  # error of a slope; about 1e-8 px
_MAX_ITERATIONS = 60
_TABLE_SIZE = 1024

#: Bound on the radius of a ray over its distorted radius. Where the radial part grows, its derivative
#: is a polynomial of degree 6, not negative, and 1 at the center. Gauss quadrature with five nodes has
#: weight 0.57 of 2 there, so that the distorted radius is at least 0.28 of the radius: a ratio of 3.6.
_MAX_RADIUS_RATIO = 4.0

#: Limit of rays over the fold radius: tangential distortion moves the fold.
_BEYOND_FOLD = 1.1
#: Largest start of the search over the fold radius, where the derivative is zero.
_BEFORE_FOLD = 0.999


def distort_rays(distortion: Distortion, x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return the distorted rays."""
    _, _, p1, p2, _ = distortion
    r2 = x * x + y * y
    radial, cross = _radial(distortion, r2), 2.0 * x * y
    return (
        x * radial + p1 * cross + p2 * (r2 + 2.0 * x * x),
        y * radial + p2 * cross + p1 * (r2 + 2.0 * y * y),
    )


def distort_visible_rays(distortion: Distortion, x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return the distorted rays, NaN beyond the fold radius, outside of the image."""
    radius, limit = np.hypot(x, y), ray_limit(distortion)
    with np.errstate(over="ignore", invalid="ignore"):
        visible = np.where(radius <= limit, 1.0, np.nan)
        return distort_rays(distortion, x * visible, y * visible)


def undistort_rays(distortion: Distortion, x: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the rays whose distortion is x, y, and the remaining error.

    Damped Newton: a step is halved while it increases the error or crosses the fold of the image.
    The error is above `TOLERANCE` where no such ray exists.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        start_x, start_y, limit = _radial_start(distortion, x, y)
        xn, yn, missing = np.zeros(x.shape), np.zeros(x.shape), np.full(x.shape, np.inf)
        step_x, step_y, share = -start_x, -start_y, np.ones(x.shape)
        for _ in range(_MAX_ITERATIONS):
            xt, yt = xn - share * step_x, yn - share * step_y
            xb, yb = distort_rays(distortion, xt, yt)
            xx, xy, yy = _derivatives(distortion, xt, yt)
            area = xx * yy - xy * xy
            ex, ey = xb - x, yb - y
            left = np.maximum(np.abs(ex), np.abs(ey))
            good = (left < missing) & (area > 0.0) & (xt * xt + yt * yt <= limit * limit)
            xn, yn = np.where(good, xt, xn), np.where(good, yt, yn)
            missing = np.where(good, left, missing)
            if not np.any(missing > TOLERANCE):
                break
            step_x = np.where(good, (yy * ex - xy * ey) / area, step_x)
            step_y = np.where(good, (xx * ey - xy * ex) / area, step_y)
            share = np.where(good, 1.0, 0.5 * share)
    return xn, yn, missing


def _radial(distortion: Distortion, r2: Floats) -> Floats:
    """Return the radial factor at a squared radius."""
    k1, k2, _, _, k3 = distortion
    return 1.0 + r2 * (k1 + r2 * (k2 + r2 * k3))


def _derivatives(distortion: Distortion, x: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the derivatives d xb / dx, d xb / dy = d yb / dx, and d yb / dy."""
    k1, k2, p1, p2, k3 = distortion
    r2 = x * x + y * y
    radial, slope = _radial(distortion, r2), 2.0 * (k1 + r2 * (2.0 * k2 + r2 * 3.0 * k3))
    return (
        radial + slope * x * x + 2.0 * p1 * y + 6.0 * p2 * x,
        slope * x * y + 2.0 * p1 * x + 2.0 * p2 * y,
        radial + slope * y * y + 6.0 * p1 * y + 2.0 * p2 * x,
    )


def _radial_start(distortion: Distortion, x: Floats, y: Floats) -> tuple[Floats, Floats, float]:
    """Return rays that invert the radial part, from a table, and the limit of their radius."""
    radius = np.hypot(x, y)
    end = _MAX_RADIUS_RATIO * float(radius.max(initial=0.0, where=np.isfinite(radius)))
    fold = _fold_radius(distortion)
    table = np.linspace(0.0, min(end, _BEFORE_FOLD * fold), _TABLE_SIZE)
    found = np.interp(radius, table * _radial(distortion, table * table), table)
    scale = np.divide(found, radius, out=np.ones(radius.shape), where=radius > 0.0)
    return x * scale, y * scale, ray_limit(distortion)


def ray_limit(distortion: Distortion) -> float:
    """Return the limit of the radius of rays; infinite if the image does not fold."""
    _, _, p1, p2, _ = distortion
    return _fold_radius(distortion) * (_BEYOND_FOLD if p1 or p2 else 1.0)


@lru_cache(maxsize=64)
def _fold_radius(distortion: Distortion) -> float:
    """Return the radius at which the distorted radius stops growing."""
    k1, k2, _, _, k3 = distortion
    # First root of the derivative, in the squared radius. Tiny coefficients make `roots` inaccurate.
    terms = [c if abs(c) > 1e-12 else 0.0 for c in (7.0 * k3, 5.0 * k2, 3.0 * k1, 1.0)]
    roots = np.roots(terms)
    squares = roots.real[(np.abs(roots.imag) < 1e-9 * np.abs(roots)) & (roots.real > 0.0)]
    return float(np.sqrt(squares.min())) if squares.size else np.inf
