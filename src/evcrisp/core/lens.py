"""How a lens bends rays, and which ray was bent to where; rays are slopes ``(X/Z, Y/Z)``."""

from functools import lru_cache

import numpy as np

from evcrisp.core.types import Floats

#: ``(k1, k2, p1, p2, k3)`` in the order of OpenCV.
Distortion = tuple[float, float, float, float, float]

TOLERANCE = 1e-10  # of a ray's slope; about 1e-8 px
_MAX_ITERATIONS = 60
_TABLE = 1024

#: As long as the radial part grows, its slope is a polynomial of degree 6 that is not negative and is
#: 1 at the center. Gauss' rule of five nodes has there a weight of 0.57 of 2, so that a ray is bent to
#: no less than 0.28 of its radius: the ray of a point is at most 3.6 times as far out.
_REACH = 4.0

#: Tangential distortion moves the edge at which the image folds; rays may lie beyond it by so much.
_BEYOND_FOLD = 1.1
_BEFORE_FOLD = 0.999  # where a search starts instead of on the edge, at which it has no direction


def bend(distortion: Distortion, x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return where the lens puts rays."""
    _, _, p1, p2, _ = distortion
    r2 = x * x + y * y
    radial, cross = _radial(distortion, r2), 2.0 * x * y
    return (
        x * radial + p1 * cross + p2 * (r2 + 2.0 * x * x),
        y * radial + p2 * cross + p1 * (r2 + 2.0 * y * y),
    )


def bend_seen(distortion: Distortion, x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return the same, but NaN beyond the edge at which the image folds: no pixel sees these rays."""
    radius, limit = np.hypot(x, y), _limit(distortion)
    with np.errstate(over="ignore", invalid="ignore"):
        seen = np.where(radius <= limit, 1.0, np.nan)
        return bend(distortion, x * seen, y * seen)


def unbend(distortion: Distortion, x: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the rays that the lens puts to x, y, and what is missing to get there.

    Newton's steps, halved as long as they lead away or across the edge at which the image folds.
    What is missing is above `TOLERANCE` where there is no such ray.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        start_x, start_y, limit = _radial_start(distortion, x, y)
        xn, yn, missing = np.zeros(x.shape), np.zeros(x.shape), np.full(x.shape, np.inf)
        step_x, step_y, share = -start_x, -start_y, np.ones(x.shape)
        for _ in range(_MAX_ITERATIONS):
            xt, yt = xn - share * step_x, yn - share * step_y
            (xb, yb), (xx, xy, yy) = bend(distortion, xt, yt), _derivatives(distortion, xt, yt)
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
    """Return the factor by which the radial part stretches rays."""
    k1, k2, _, _, k3 = distortion
    return 1.0 + r2 * (k1 + r2 * (k2 + r2 * k3))


def _derivatives(distortion: Distortion, x: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
    """Return d xb / dx, d xb / dy (which is d yb / dx) and d yb / dy of what is bent."""
    k1, k2, p1, p2, k3 = distortion
    r2 = x * x + y * y
    radial, slope = _radial(distortion, r2), 2.0 * (k1 + r2 * (2.0 * k2 + r2 * 3.0 * k3))
    return (
        radial + slope * x * x + 2.0 * p1 * y + 6.0 * p2 * x,
        slope * x * y + 2.0 * p1 * x + 2.0 * p2 * y,
        radial + slope * y * y + 6.0 * p1 * y + 2.0 * p2 * x,
    )


def _radial_start(distortion: Distortion, x: Floats, y: Floats) -> tuple[Floats, Floats, float]:
    """Return the rays that the radial part puts to x, y, from a table, and how far out rays may lie."""
    radius = np.hypot(x, y)
    end = _REACH * float(radius.max(initial=0.0, where=np.isfinite(radius)))
    fold = _fold(distortion)
    table = np.linspace(0.0, min(end, _BEFORE_FOLD * fold), _TABLE)
    found = np.interp(radius, table * _radial(distortion, table * table), table)
    scale = np.divide(found, radius, out=np.ones(radius.shape), where=radius > 0.0)
    return x * scale, y * scale, _limit(distortion)


def _limit(distortion: Distortion) -> float:
    """Return how far out rays may lie; infinity if the image does not fold."""
    _, _, p1, p2, _ = distortion
    return _fold(distortion) * (_BEYOND_FOLD if p1 or p2 else 1.0)


@lru_cache(maxsize=64)
def _fold(distortion: Distortion) -> float:
    """Return the radius at which the bent radius ceases to grow: the first root of its derivative."""
    k1, k2, _, _, k3 = distortion
    # A polynomial of the square of the radius; roots of no size that matters spoil the others.
    terms = [c if abs(c) > 1e-12 else 0.0 for c in (7.0 * k3, 5.0 * k2, 3.0 * k1, 1.0)]
    roots = np.roots(terms)
    squares = roots.real[(np.abs(roots.imag) < 1e-9 * np.abs(roots)) & (roots.real > 0.0)]
    return float(np.sqrt(squares.min())) if squares.size else np.inf
