"""Accumulate warped events on a contrast map, and sample a map at events.

Every kernel has three footprints; a fourth is in `gaussian_splat`. Positions are in pixels of the
map, with pixel centers at integers. Events not fully inside are skipped; their samples are 0.

    nearest    1 x 1, the nearest pixel
    bilinear   2 x 2, a tent of width 2
    spline     3 x 3, a quadratic B-spline (sigma 0.5 px) with a continuous gradient

x, y, weight, value, slope_x, slope_y : (n,) float64      image, out : (h, w) float64
taps : (3,) float64, the center first
"""

import numpy as np

from evcrisp.kernels.compile import fused, njit
from evcrisp.kernels.contrast.spline import accumulate_at, locate, sample_at, slopes

#: Number of events located together: that loop is vectorized, and its result stays in the cache.
_BLOCK = 1024


@njit
def accumulate_nearest(x, y, weight, out):
    """Add weight[k] to the pixel nearest to (x[k], y[k])."""
    height, width = out.shape
    for k in range(x.size):
        # The comparison is false for NaN, which must not become an index.
        if not (-0.5 <= x[k] < width - 0.5 and -0.5 <= y[k] < height - 0.5):
            continue
        out[int(np.floor(y[k] + 0.5)), int(np.floor(x[k] + 0.5))] += weight[k]


@njit
def _corner(position, size):
    """Return the first of the two neighbors along an axis; at most size - 2."""
    return min(int(position), size - 2)


@njit
def accumulate_bilinear(x, y, weight, out):
    """Distribute weight[k] over the four pixels around (x[k], y[k])."""
    height, width = out.shape
    for k in range(x.size):
        if not (0.0 <= x[k] <= width - 1 and 0.0 <= y[k] <= height - 1):
            continue
        i, j = _corner(x[k], width), _corner(y[k], height)
        a, b = x[k] - i, y[k] - j
        upper, lower = weight[k] * (1.0 - b), weight[k] * b
        out[j, i] += upper * (1.0 - a)
        out[j, i + 1] += upper * a
        out[j + 1, i] += lower * (1.0 - a)
        out[j + 1, i + 1] += lower * a


@fused
def _located(x, y, first, shape, cell, a, b):
    """Locate a block of events on a map; return their number."""
    stop = min(first + _BLOCK, x.size)
    locate(x[first:stop], y[first:stop], 1.0, 0.0, 0.0, np.array(shape), cell, a, b)
    return stop - first


@fused
def accumulate_spline(x, y, weight, out):
    """Distribute weight[k] over the nine pixels around (x[k], y[k]) by a quadratic B-spline."""
    flat, width = out.reshape(-1), np.uint64(out.shape[1])
    cell, a, b = np.empty(_BLOCK, np.int64), np.empty(_BLOCK), np.empty(_BLOCK)
    for k in range(0, x.size, _BLOCK):
        for q in range(_located(x, y, k, out.shape, cell, a, b)):
            if cell[q] >= 0:
                accumulate_at(flat, np.uint64(cell[q]), width, a[q], b[q], weight[k + q])


@njit
def sample_nearest(image, x, y, value):
    """Fill value with the pixel nearest to (x[k], y[k]); 0 outside."""
    height, width = image.shape
    for k in range(x.size):
        value[k] = 0.0
        if -0.5 <= x[k] < width - 0.5 and -0.5 <= y[k] < height - 0.5:
            value[k] = image[int(np.floor(y[k] + 0.5)), int(np.floor(x[k] + 0.5))]


@njit
def sample_bilinear(image, x, y, value):
    """Fill value with the bilinear interpolation at (x[k], y[k]); 0 outside."""
    height, width = image.shape
    for k in range(x.size):
        value[k] = 0.0
        if not (0.0 <= x[k] <= width - 1 and 0.0 <= y[k] <= height - 1):
            continue
        i, j = _corner(x[k], width), _corner(y[k], height)
        a, b = x[k] - i, y[k] - j
        upper = image[j, i] * (1.0 - a) + image[j, i + 1] * a
        lower = image[j + 1, i] * (1.0 - a) + image[j + 1, i + 1] * a
        value[k] = upper * (1.0 - b) + lower * b


@fused
def sample_spline(image, x, y, value):
    """Fill value with the spline-weighted sum of nine pixels around (x[k], y[k]); 0 outside."""
    flat, width = image.reshape(-1), np.uint64(image.shape[1])
    cell, a, b = np.empty(_BLOCK, np.int64), np.empty(_BLOCK), np.empty(_BLOCK)
    for k in range(0, x.size, _BLOCK):
        for q in range(_located(x, y, k, image.shape, cell, a, b)):
            value[k + q] = 0.0
            if cell[q] >= 0:
                value[k + q] = sample_at(flat, np.uint64(cell[q]), width, a[q], b[q])


@njit
def slope_bilinear(image, x, y, slope_x, slope_y):
    """Fill the slopes with the derivatives of `sample_bilinear`; 0 outside."""
    height, width = image.shape
    for k in range(x.size):
        slope_x[k] = 0.0
        slope_y[k] = 0.0
        if not (0.0 <= x[k] <= width - 1 and 0.0 <= y[k] <= height - 1):
            continue
        i, j = _corner(x[k], width), _corner(y[k], height)
        a, b = x[k] - i, y[k] - j
        p, q = image[j, i], image[j, i + 1]
        r, s = image[j + 1, i], image[j + 1, i + 1]
        slope_x[k] = (q - p) * (1.0 - b) + (s - r) * b
        slope_y[k] = (r - p) * (1.0 - a) + (s - q) * a


@fused
def slope_spline(image, x, y, slope_x, slope_y):
    """Fill the slopes with the derivatives of `sample_spline`; 0 outside."""
    cell, a, b = np.empty(_BLOCK, np.int64), np.empty(_BLOCK), np.empty(_BLOCK)
    for k in range(0, x.size, _BLOCK):
        n = _located(x, y, k, image.shape, cell, a, b)
        slopes(cell[:n], a[:n], b[:n], image, slope_x[k : k + n], slope_y[k : k + n])


# Contribution of an event of weight 1 to its own sample: along each axis w^T B w, with the weights
# w of the footprint and the matrix B of the blur, whose first taps are given.


@njit
def self_value_nearest(x, y, height, width, taps, value):
    """Fill value with the `sample_nearest` of the blurred map of this event alone."""
    for k in range(x.size):
        value[k] = 0.0
        if -0.5 <= x[k] < width - 0.5 and -0.5 <= y[k] < height - 0.5:
            value[k] = taps[0] * taps[0]


@njit
def self_value_bilinear(x, y, height, width, taps, value):
    """Fill value with the `sample_bilinear` of the blurred map of this event alone."""
    for k in range(x.size):
        value[k] = 0.0
        if not (0.0 <= x[k] <= width - 1 and 0.0 <= y[k] <= height - 1):
            continue
        a, b = x[k] - int(x[k]), y[k] - int(y[k])
        # (1 - a)^2 + a^2 = 1 - 2 a (1 - a)
        a, b = 2.0 * a * (1.0 - a), 2.0 * b * (1.0 - b)
        columns = taps[0] * (1.0 - a) + taps[1] * a
        rows = taps[0] * (1.0 - b) + taps[1] * b
        value[k] = columns * rows


@njit
def self_value_spline(x, y, height, width, taps, value):
    """Fill value with the `sample_spline` of the blurred map of this event alone."""
    for k in range(x.size):
        value[k] = 0.0
        if not (0.5 <= x[k] < width - 1.5 and 0.5 <= y[k] < height - 1.5):
            continue
        a, b = x[k] - int(x[k] + 0.5), y[k] - int(y[k] + 0.5)
        value[k] = _self_value_axis(a, taps) * _self_value_axis(b, taps)


@njit
def _self_value_axis(a, taps):
    left, center, right = 0.5 * (0.5 - a) ** 2, 0.75 - a * a, 0.5 * (0.5 + a) ** 2
    square = left * left + center * center + right * right
    return taps[0] * square + 2.0 * taps[1] * center * (left + right) + 2.0 * taps[2] * left * right
