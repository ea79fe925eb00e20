"""Accumulate warped events on a contrast map as Gaussians, and sample a map at events.

An event at (x, y) has weight g(i - x) g(j - y) on pixel (i, j), with the normal density g of
standard deviation sigma, on a square of 2 radius + 1 pixels around its nearest pixel. An event
whose nearest pixel is outside the map is skipped; its sample is 0.

x, y, weight, value, slope_x, slope_y : (n,) float64      image, out : (h, w) float64
along_x, along_y : (2 radius + 1,) float64, buffers for the weights along each axis
"""

import math

from evcrisp.kernels.compile import njit


@njit
def _fill_axis(position, sigma, step, along):
    """Fill along with the density at the pixels around position; return the first of them.

    The ratio of neighboring densities changes by the factor step = exp(-1 / sigma^2) per pixel, so
    two exponentials suffice for any number of pixels.
    """
    nearest = math.floor(position + 0.5)
    radius = along.size // 2
    a = position - nearest
    up = math.exp((a - 0.5) / (sigma * sigma))
    down = step / up
    left = right = math.exp(-0.5 * (a / sigma) ** 2) / (sigma * math.sqrt(2.0 * math.pi))
    along[radius] = left
    for d in range(1, radius + 1):
        right *= up
        left *= down
        along[radius + d] = right
        along[radius - d] = left
        up *= step
        down *= step
    return nearest - radius


@njit
def accumulate_gaussian(x, y, weight, sigma, along_x, along_y, out):
    """Add weight[k] times the Gaussian around (x[k], y[k])."""
    height, width = out.shape
    size, step = along_x.size, math.exp(-1.0 / (sigma * sigma))
    for k in range(x.size):
        if not (-0.5 <= x[k] < width - 0.5 and -0.5 <= y[k] < height - 0.5):
            continue
        i = _fill_axis(x[k], sigma, step, along_x)
        j = _fill_axis(y[k], sigma, step, along_y)
        left, right = max(i, 0), min(i + size, width)
        columns = along_x[left - i : right - i]
        for r in range(max(j, 0), min(j + size, height)):
            _add_scaled(columns, weight[k] * along_y[r - j], out[r, left:right])


@njit
def _add_scaled(row, factor, out):
    for c in range(out.size):
        out[c] += factor * row[c]


@njit
def sample_gaussian(image, x, y, sigma, along_x, along_y, value):
    """Fill value with the Gaussian-weighted sum of pixels around (x[k], y[k]); 0 outside."""
    height, width = image.shape
    size, step = along_x.size, math.exp(-1.0 / (sigma * sigma))
    for k in range(x.size):
        value[k] = 0.0
        if not (-0.5 <= x[k] < width - 0.5 and -0.5 <= y[k] < height - 0.5):
            continue
        i = _fill_axis(x[k], sigma, step, along_x)
        j = _fill_axis(y[k], sigma, step, along_y)
        for r in range(max(j, 0), min(j + size, height)):
            total = 0.0
            for c in range(max(i, 0), min(i + size, width)):
                total += along_x[c - i] * image[r, c]
            value[k] += along_y[r - j] * total


@njit
def slope_gaussian(image, x, y, sigma, along_x, along_y, slope_x, slope_y):
    """Fill the slopes with the derivatives of `sample_gaussian`; 0 outside."""
    height, width = image.shape
    size, step = along_x.size, math.exp(-1.0 / (sigma * sigma))
    for k in range(x.size):
        slope_x[k] = 0.0
        slope_y[k] = 0.0
        if not (-0.5 <= x[k] < width - 0.5 and -0.5 <= y[k] < height - 0.5):
            continue
        i = _fill_axis(x[k], sigma, step, along_x)
        j = _fill_axis(y[k], sigma, step, along_y)
        for r in range(max(j, 0), min(j + size, height)):
            total = moment = 0.0
            for c in range(max(i, 0), min(i + size, width)):
                part = along_x[c - i] * image[r, c]
                total += part
                moment += (c - x[k]) * part
            slope_x[k] += along_y[r - j] * moment / (sigma * sigma)
            slope_y[k] += along_y[r - j] * total * (r - y[k]) / (sigma * sigma)


@njit
def self_value_gaussian(x, y, height, width, sigma, along_x, along_y, value):
    """Fill value with the `sample_gaussian` of a map of this event alone; 0 outside."""
    size, step = along_x.size, math.exp(-1.0 / (sigma * sigma))
    for k in range(x.size):
        value[k] = 0.0
        if not (-0.5 <= x[k] < width - 0.5 and -0.5 <= y[k] < height - 0.5):
            continue
        i = _fill_axis(x[k], sigma, step, along_x)
        j = _fill_axis(y[k], sigma, step, along_y)
        columns = rows = 0.0
        for c in range(max(i, 0), min(i + size, width)):
            columns += along_x[c - i] * along_x[c - i]
        for r in range(max(j, 0), min(j + size, height)):
            rows += along_y[r - j] * along_y[r - j]
        value[k] = columns * rows
