"""Map of the kept events of a window at half resolution or less, and its variance."""

import numpy as np

from evcrisp.kernels.compile import fused
from evcrisp.kernels.contrast.spline import accumulate_at, locate

#: Events per block: their positions stay in the cache.
_BLOCK = 1024


@fused
def kept_map(x, y, kept, padding, scale, image):
    """Fill a map with the quadratic splines of the kept events.

    x, y : (n,) numbers, px of the sensor      kept : (n,) bool
    padding : px around the sensor      scale : px per pixel of the map
    image : (h, w) float64, filled; the middle of its first pixel is that of the pixels that it covers
    """
    flat, width = image.reshape(-1), np.uint64(image.shape[1])
    flat[:] = 0.0
    u, v = np.empty(_BLOCK), np.empty(_BLOCK)
    cell, a, b = np.empty(_BLOCK, np.int64), np.empty(_BLOCK), np.empty(_BLOCK)
    shape, shift = np.array(image.shape), padding + 0.5
    first, n = 0, x.size
    while first < n:
        m = 0
        for k in range(first, min(first + _BLOCK, n)):
            # Without a branch, which would be unpredictable.
            u[m], v[m] = (x[k] + shift) / scale - 0.5, (y[k] + shift) / scale - 0.5
            m += kept[k]
        locate(u[:m], v[:m], 1.0, 0.0, 0.0, shape, cell, a, b)
        for q in range(m):
            if cell[q] >= 0:
                accumulate_at(flat, np.uint64(cell[q]), width, a[q], b[q], 1.0)
        first += _BLOCK


@fused
def variance(image):
    """Return the variance of the pixels of a map; image : (h, w) float64."""
    flat = image.reshape(-1)
    mean = _sum(flat, 0.0, False) / flat.size
    return _sum(flat, mean, True) / flat.size


@fused
def _sum(flat, mean, squared):
    """Sum values, or squares of their distances from a mean, in four independent sums."""
    s0 = s1 = s2 = s3 = 0.0
    whole = flat.size - flat.size % 4
    for k in range(0, whole, 4):
        d0, d1, d2, d3 = flat[k] - mean, flat[k + 1] - mean, flat[k + 2] - mean, flat[k + 3] - mean
        s0 += d0 * d0 if squared else d0
        s1 += d1 * d1 if squared else d1
        s2 += d2 * d2 if squared else d2
        s3 += d3 * d3 if squared else d3
    rest = 0.0
    for k in range(whole, flat.size):
        d = flat[k] - mean
        rest += d * d if squared else d
    return (s0 + s1) + (s2 + s3) + rest
