"""Map of the kept events of a window at half resolution or less, and its variance."""

import numpy as np

from evcrisp.kernels.compile import fused, njit
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


@njit
def kept_map_of_pixels(x, y, kept, padding, image):
    """Fill a map of two px per pixel with the splines of the kept events, which lie on whole pixels.

    The same as `kept_map`, to the last bit: all sums are whole numbers of 1/1024. Each pixel of the sensor is left
    or right of the middle of its pixel on the map, and above or below it: the four kinds are counted apart.

    x, y : (n,) uint16, px      kept : (n,) bool      padding : px around the sensor, even, 4 or more
    image : (h, w) float64, filled
    """
    high, wide = image.shape
    counts = np.zeros((2, 2, high, wide), np.int32)
    flat, one, border = counts.reshape(-1), np.uint64(1), np.uint64(padding)
    rows, columns = np.uint64(high), np.uint64(wide)
    for k in range(x.size):
        i, j = np.uint64(x[k]) + border, np.uint64(y[k]) + border
        at = ((j & one) * np.uint64(2) + (i & one)) * rows + (j >> one)
        flat[at * columns + (i >> one)] += kept[k]
    lines = np.zeros((2, high, wide), np.int32)  # of upper and of lower pixels, blurred along x
    for lower in range(2):
        for r in range(high):
            _blur(
                counts[lower, 0, r, :-2], counts[lower, 0, r, 1:-1], counts[lower, 0, r, 2:],
                counts[lower, 1, r, :-2], counts[lower, 1, r, 1:-1], counts[lower, 1, r, 2:],
                lines[lower, r, 1:-1],
            )  # fmt: skip
    sums = np.empty(wide, np.int32)
    image[0] = image[high - 1] = 0.0
    for r in range(1, high - 1):
        _blur(
            lines[0, r - 1], lines[0, r], lines[0, r + 1], lines[1, r - 1], lines[1, r], lines[1, r + 1], sums
        )  # fmt: skip
        for c in range(wide):
            image[r, c] = sums[c] / 1024.0


@njit
def _blur(first, here, last, first_2, here_2, last_2, out):
    """Sum the splines of two kinds of pixels, a quarter before the middle and behind it, in 1/32."""
    for c in range(out.size):
        before = first[c] + 22 * here[c] + 9 * last[c]
        out[c] = before + 9 * first_2[c] + 22 * here_2[c] + last_2[c]


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
