"""Quadratic B-spline footprint in steps: locate events once, then accumulate and sample.

The loop that locates the pixels of events is vectorized; the other steps share its result.
"""

import numpy as np

from evcrisp.kernels.compile import fused, njit

#: Single precision, so that products keep the precision of the offsets.
_HALF, _MIDDLE, _ONE = (np.float32(c) for c in (0.5, 0.75, 1.0))


@njit
def cell_of(u, v, right, bottom, width):
    """Return the upper left of nine pixels, -1 outside, and both offsets from the center, +-0.5."""
    inside = (u >= 0.5) & (u < right) & (v >= 0.5) & (v < bottom)
    # No branch: a valid pixel replaces positions outside, and NaN.
    u = u if inside else 1.0
    v = v if inside else 1.0
    i, j = np.int64(u + 0.5), np.int64(v + 0.5)
    return (j - 1) * width + i - 1 if inside else -1, u - i, v - j


@fused
def locate(x, y, gain, shift_x, shift_y, shape, cell, a, b):
    """Locate the 3 x 3 pixels of every event.

    The position on the map is (x gain + shift_x, y gain + shift_y).
    x, y : (n,) float64      shape : (2,) int64, height and width
    cell : (n,) int64 or int32, index of the upper left pixel in the flat map; -1 outside
    a, b : (n,) floats, offset from the center pixel, -0.5 to 0.5
    """
    height, width = shape[0], shape[1]
    right, bottom = width - 1.5, height - 1.5
    for k in range(x.size):
        u, v = x[k] * gain + shift_x, y[k] * gain + shift_y
        cell[k], a[k], b[k] = cell_of(u, v, right, bottom, width)


@fused
def taps(a):
    """Return the weights of a quadratic B-spline on three pixels."""
    first, middle = _HALF * (_HALF - a) * (_HALF - a), _MIDDLE - a * a
    return first, middle, _ONE - first - middle


@fused
def accumulate_at(flat, cell, width, a, b, weight):
    """Distribute a weight over nine pixels.

    flat : (h * w,) floats, updated      cell, width : uint64      a, b : from `locate`
    """
    # Unsigned indices need no check for negative ones.
    one, two = np.uint64(1), np.uint64(2)
    p, q, r = cell, cell + width, cell + width + width
    a0, a1, a2 = taps(a)
    b0, b1, b2 = taps(b)
    b0, b1, b2 = weight * b0, weight * b1, weight * b2
    flat[p] += b0 * a0
    flat[p + one] += b0 * a1
    flat[p + two] += b0 * a2
    flat[q] += b1 * a0
    flat[q + one] += b1 * a1
    flat[q + two] += b1 * a2
    flat[r] += b2 * a0
    flat[r + one] += b2 * a1
    flat[r + two] += b2 * a2


@fused
def sample_at(flat, cell, width, a, b):
    """Return the weighted sum of nine pixels; arguments as of `accumulate_at`."""
    one, two = np.uint64(1), np.uint64(2)
    p, q, r = cell, cell + width, cell + width + width
    a0, a1, a2 = taps(a)
    b0, b1, b2 = taps(b)
    left = b0 * flat[p] + b1 * flat[q] + b2 * flat[r]
    center = b0 * flat[p + one] + b1 * flat[q + one] + b2 * flat[r + one]
    right = b0 * flat[p + two] + b1 * flat[q + two] + b2 * flat[r + two]
    return a0 * left + a1 * center + a2 * right


@fused
def _row(flat, cell, first, last, left, right):
    """Return value and slope of a row of three pixels, from differences (fewer operations)."""
    middle = flat[cell + np.uint64(1)]
    before, after = middle - flat[cell], flat[cell + np.uint64(2)] - middle
    return middle + last * after - first * before, left * before + right * after


@fused
def slope_at(flat, cell, width, a, b):
    """Return the slopes of an image along both axes; arguments as of `accumulate_at`."""
    _, across, down = value_and_slope_at(flat, cell, width, a, b)
    return across, down


@fused
def value_and_slope_at(flat, cell, width, a, b):
    """Return an image and its slopes along both axes; arguments as of `accumulate_at`."""
    left, right, above, below = _HALF - a, _HALF + a, _HALF - b, _HALF + b
    first, last = _HALF * left * left, _HALF * right * right
    upper, across_upper = _row(flat, cell, first, last, left, right)
    middle, across_middle = _row(flat, cell + width, first, last, left, right)
    lower, across_lower = _row(flat, cell + width + width, first, last, left, right)
    high, low = _HALF * above * above, _HALF * below * below
    across = across_middle + low * (across_lower - across_middle)
    across -= high * (across_middle - across_upper)
    value = middle + low * (lower - middle) - high * (middle - upper)
    return value, across, above * (middle - upper) + below * (lower - middle)


@fused
def accumulate(cell, a, b, out):
    """Fill the map out : (h, w) with all footprints; cell, a, b : (n,), from `locate`."""
    flat, width = out.reshape(-1), np.uint64(out.shape[1])
    flat[:] = 0
    for k in range(cell.size):
        if cell[k] >= 0:
            accumulate_at(flat, np.uint64(cell[k]), width, a[k], b[k], _ONE)


@fused
def slopes(cell, a, b, image, slope_x, slope_y):
    """Fill the slopes of an image at every event; 0 outside.

    cell, a, b : (n,), from `locate`      image : (h, w) floats
    slope_x, slope_y : (n,) floats, overwritten
    """
    flat, width = image.reshape(-1), np.uint64(image.shape[1])
    for k in range(cell.size):
        if cell[k] < 0:
            slope_x[k] = 0.0
            slope_y[k] = 0.0
            continue
        slope_x[k], slope_y[k] = slope_at(flat, np.uint64(cell[k]), width, a[k], b[k])


@fused
def sum_of_squares(image):
    """Return the sum of all squared pixels; image : (h, w) float64."""
    flat = image.reshape(-1)
    # Eight independent sums: one chain of additions would take eight times as long.
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    whole = flat.size - flat.size % 8
    for k in range(0, whole, 8):
        s0 += flat[k] * flat[k]
        s1 += flat[k + 1] * flat[k + 1]
        s2 += flat[k + 2] * flat[k + 2]
        s3 += flat[k + 3] * flat[k + 3]
        s4 += flat[k + 4] * flat[k + 4]
        s5 += flat[k + 5] * flat[k + 5]
        s6 += flat[k + 6] * flat[k + 6]
        s7 += flat[k + 7] * flat[k + 7]
    rest = 0.0
    for k in range(whole, flat.size):
        rest += flat[k] * flat[k]
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7)) + rest


@fused
def overlap_of_pairs(cell, a, b, image):
    """Return the sum over events of a map of all of them, read without the own part.

    cell, a, b : (n,), from `locate`      image : (h, w) floats, from `accumulate`
    """
    own = 0.0
    for k in range(cell.size):
        a0, a1, a2 = taps(a[k])
        b0, b1, b2 = taps(b[k])
        share = (a0 * a0 + a1 * a1 + a2 * a2) * (b0 * b0 + b1 * b1 + b2 * b2)
        own += share if cell[k] >= 0 else 0.0
    return sum_of_squares(image) - own


@fused
def locate_and_accumulate(x, y, gain, shift_x, shift_y, cell, a, b, out):
    """Locate the events and fill the map with them; see `locate` and `accumulate`."""
    locate(x, y, gain, shift_x, shift_y, np.array(out.shape), cell, a, b)
    accumulate(cell, a, b, out)
