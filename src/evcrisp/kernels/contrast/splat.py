"""Put warped events onto a contrast map, and read a map back at the events.

Every kernel exists with three footprints; a fourth is in `gaussian_splat`. Positions are in pixels
of the map, whose pixel centers lie at integers; events whose footprint is not wholly inside are
skipped (and read as 0).

    nearest    1 x 1, the pixel that the event falls on
    bilinear   2 x 2, a tent of width 2
    spline     3 x 3, a quadratic B-spline (sigma 0.5 px) with a continuous gradient
"""

import numpy as np

from evcrisp.kernels.compile import fused, njit
from evcrisp.kernels.contrast.spline import accumulate_at, locate, sample_at, slopes

#: Events whose pixels are found together: that loop takes several at a time, and its result stays in
#: the cache.
_BLOCK = 1024


@njit
def accumulate_nearest(x, y, weight, out):
    """Add weight[k] to the pixel nearest to (x[k], y[k]).

    x, y, weight : (n,) float64      out : (h, w) float64, updated in place
    """
    height, width = out.shape
    for k in range(x.size):
        # The comparison is false for NaN too, so nothing that is not a number becomes an index.
        if not (-0.5 <= x[k] < width - 0.5 and -0.5 <= y[k] < height - 0.5):
            continue
        out[int(np.floor(y[k] + 0.5)), int(np.floor(x[k] + 0.5))] += weight[k]


@njit
def _corner(position, size):
    """Return the first of two neighbors along an axis; the last pixel is the second of its pair."""
    return min(int(position), size - 2)


@njit
def accumulate_bilinear(x, y, weight, out):
    """Share weight[k] among the four pixels around (x[k], y[k]).

    x, y, weight : (n,) float64      out : (h, w) float64, updated in place
    """
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
    """Find the pixels of a block of events on a map; return how many events these are."""
    stop = min(first + _BLOCK, x.size)
    locate(x[first:stop], y[first:stop], 1.0, 0.0, 0.0, np.array(shape), cell, a, b)
    return stop - first


@fused
def accumulate_spline(x, y, weight, out):
    """Share weight[k] among the nine pixels around (x[k], y[k]) by a quadratic B-spline.

    x, y, weight : (n,) float64      out : (h, w) float64, updated in place
    """
    flat, width = out.reshape(-1), np.uint64(out.shape[1])
    cell, a, b = np.empty(_BLOCK, np.int64), np.empty(_BLOCK), np.empty(_BLOCK)
    for k in range(0, x.size, _BLOCK):
        for q in range(_located(x, y, k, out.shape, cell, a, b)):
            if cell[q] >= 0:
                accumulate_at(flat, np.uint64(cell[q]), width, a[q], b[q], weight[k + q])


@njit
def sample_nearest(image, x, y, out):
    """Read the pixel nearest to (x[k], y[k]); 0 outside.

    image : (h, w) float64      x, y, out : (n,) float64
    """
    height, width = image.shape
    for k in range(x.size):
        out[k] = 0.0
        if -0.5 <= x[k] < width - 0.5 and -0.5 <= y[k] < height - 0.5:
            out[k] = image[int(np.floor(y[k] + 0.5)), int(np.floor(x[k] + 0.5))]


@njit
def sample_bilinear(image, x, y, out):
    """Interpolate between the four pixels around (x[k], y[k]); 0 outside.

    image : (h, w) float64      x, y, out : (n,) float64
    """
    height, width = image.shape
    for k in range(x.size):
        out[k] = 0.0
        if not (0.0 <= x[k] <= width - 1 and 0.0 <= y[k] <= height - 1):
            continue
        i, j = _corner(x[k], width), _corner(y[k], height)
        a, b = x[k] - i, y[k] - j
        upper = image[j, i] * (1.0 - a) + image[j, i + 1] * a
        lower = image[j + 1, i] * (1.0 - a) + image[j + 1, i + 1] * a
        out[k] = upper * (1.0 - b) + lower * b


@fused
def sample_spline(image, x, y, out):
    """Weigh the nine pixels around (x[k], y[k]) by a quadratic B-spline; 0 outside.

    image : (h, w) float64      x, y, out : (n,) float64
    """
    flat, width = image.reshape(-1), np.uint64(image.shape[1])
    cell, a, b = np.empty(_BLOCK, np.int64), np.empty(_BLOCK), np.empty(_BLOCK)
    for k in range(0, x.size, _BLOCK):
        for q in range(_located(x, y, k, image.shape, cell, a, b)):
            out[k + q] = 0.0
            if cell[q] >= 0:
                out[k + q] = sample_at(flat, np.uint64(cell[q]), width, a[q], b[q])


@njit
def slope_bilinear(image, x, y, slope_x, slope_y):
    """Fill in the derivatives of `sample_bilinear` by x[k] and y[k]; 0 outside.

    image : (h, w) float64      x, y, slope_x, slope_y : (n,) float64, the last two filled
    """
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
    """Fill in the derivatives of `sample_spline` by x[k] and y[k]; 0 outside.

    image : (h, w) float64      x, y, slope_x, slope_y : (n,) float64, the last two filled
    """
    cell, a, b = np.empty(_BLOCK, np.int64), np.empty(_BLOCK), np.empty(_BLOCK)
    for k in range(0, x.size, _BLOCK):
        n = _located(x, y, k, image.shape, cell, a, b)
        slopes(cell[:n], a[:n], b[:n], image, slope_x[k : k + n], slope_y[k : k + n])


# What an event of weight 1 reads of itself: along each axis the square of its footprint's weights
# in the metric of the blur, whose middle taps are t0, t1, t2.


@njit
def self_value_nearest(x, y, height, width, taps, value):
    """Fill value with what `sample_nearest` reads of a blurred map with this event alone.

    x, y, value : (n,) float64      taps : (3,) float64, the middle first
    """
    for k in range(x.size):
        value[k] = 0.0
        if -0.5 <= x[k] < width - 0.5 and -0.5 <= y[k] < height - 0.5:
            value[k] = taps[0] * taps[0]


@njit
def self_value_bilinear(x, y, height, width, taps, value):
    """Fill value with what `sample_bilinear` reads of a blurred map with this event alone.

    x, y, value : (n,) float64      taps : (3,) float64, the middle first
    """
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
    """Fill value with what `sample_spline` reads of a blurred map with this event alone.

    x, y, value : (n,) float64      taps : (3,) float64, the middle first
    """
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
