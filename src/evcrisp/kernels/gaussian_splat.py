"""Put warped events onto a contrast map as Gaussians, and read a map back at them.

An event at (x, y) weighs pixel (i, j) by g(i - x) g(j - y) with the normal density g of standard
deviation sigma, on a square of 2 radius + 1 pixels around the pixel nearest to the event. Pixels
outside the map get nothing; an event whose nearest pixel is outside is skipped (and reads as 0).

x, y, weight, value, slope_x, slope_y : (n,) float64      image, out : (h, w) float64
along_x, along_y : (2 radius + 1,) float64, scratch for the weights along each axis
"""

import math

from evcrisp.kernels import njit


@njit
def _fill_axis(position, sigma, along):
    """Fill along with the density at the pixels around position; return the nearest pixel.

    Neighboring densities have a ratio that itself changes by a constant factor per pixel, so that
    three exponentials do for any number of pixels.
    """
    nearest = int(math.floor(position + 0.5))
    radius = along.size // 2
    a = position - nearest
    inverse = 1.0 / (sigma * sigma)
    middle = math.exp(-0.5 * a * a * inverse) / (sigma * math.sqrt(2.0 * math.pi))
    step = math.exp(-inverse)
    up = math.exp((a - 0.5) * inverse)
    down = math.exp((-a - 0.5) * inverse)
    along[radius] = middle
    left = right = middle
    for d in range(1, radius + 1):
        right *= up
        left *= down
        along[radius + d] = right
        along[radius - d] = left
        up *= step
        down *= step
    return nearest


@njit
def accumulate_gaussian(x, y, weight, sigma, along_x, along_y, out):
    """Add weight[k] times the Gaussian around (x[k], y[k])."""
    height, width = out.shape
    radius = along_x.size // 2
    for k in range(x.size):
        if not (-0.5 <= x[k] < width - 0.5 and -0.5 <= y[k] < height - 0.5):
            continue
        i = _fill_axis(x[k], sigma, along_x) - radius
        j = _fill_axis(y[k], sigma, along_y) - radius
        for r in range(max(j, 0), min(j + 2 * radius + 1, height)):
            share = weight[k] * along_y[r - j]
            for c in range(max(i, 0), min(i + 2 * radius + 1, width)):
                out[r, c] += share * along_x[c - i]


@njit
def sample_gaussian(image, x, y, sigma, along_x, along_y, value):
    """Weigh the pixels around (x[k], y[k]) by the Gaussian; 0 outside."""
    height, width = image.shape
    radius = along_x.size // 2
    for k in range(x.size):
        value[k] = 0.0
        if not (-0.5 <= x[k] < width - 0.5 and -0.5 <= y[k] < height - 0.5):
            continue
        i = _fill_axis(x[k], sigma, along_x) - radius
        j = _fill_axis(y[k], sigma, along_y) - radius
        for r in range(max(j, 0), min(j + 2 * radius + 1, height)):
            total = 0.0
            for c in range(max(i, 0), min(i + 2 * radius + 1, width)):
                total += along_x[c - i] * image[r, c]
            value[k] += along_y[r - j] * total


@njit
def slope_gaussian(image, x, y, sigma, along_x, along_y, slope_x, slope_y):
    """Derivative of `sample_gaussian` with respect to x[k] and y[k]; 0 outside."""
    height, width = image.shape
    radius = along_x.size // 2
    inverse = 1.0 / (sigma * sigma)
    for k in range(x.size):
        slope_x[k] = 0.0
        slope_y[k] = 0.0
        if not (-0.5 <= x[k] < width - 0.5 and -0.5 <= y[k] < height - 0.5):
            continue
        i = _fill_axis(x[k], sigma, along_x) - radius
        j = _fill_axis(y[k], sigma, along_y) - radius
        for r in range(max(j, 0), min(j + 2 * radius + 1, height)):
            total = turned = 0.0
            for c in range(max(i, 0), min(i + 2 * radius + 1, width)):
                part = along_x[c - i] * image[r, c]
                total += part
                turned += (c - x[k]) * part
            slope_x[k] += along_y[r - j] * turned * inverse
            slope_y[k] += along_y[r - j] * total * (r - y[k]) * inverse


@njit
def own_gaussian(x, y, height, width, sigma, along_x, along_y, value):
    """What `sample_gaussian` reads of a map with this event alone; 0 outside."""
    radius = along_x.size // 2
    for k in range(x.size):
        value[k] = 0.0
        if not (-0.5 <= x[k] < width - 0.5 and -0.5 <= y[k] < height - 0.5):
            continue
        i = _fill_axis(x[k], sigma, along_x) - radius
        j = _fill_axis(y[k], sigma, along_y) - radius
        columns = rows = 0.0
        for c in range(max(i, 0), min(i + 2 * radius + 1, width)):
            columns += along_x[c - i] * along_x[c - i]
        for r in range(max(j, 0), min(j + 2 * radius + 1, height)):
            rows += along_y[r - j] * along_y[r - j]
        value[k] = columns * rows
