"""Statistics of a contrast map that are sums over its pixels, each with its gradient.

image, out : (pixels,) float64. `fill_*` fills out with the gradient and returns the value; out may
be image. The two are never kept apart: what `fill_*` returns is what the plain function returns.
"""

import math

import numba

from evcrisp.kernels import njit

#: Sums may be added in any order, so that several pixels are taken at a time (six times faster);
#: infinity and NaN keep their meaning.
summing = numba.njit(cache=True, nogil=True, fastmath={"reassoc"})


@summing
def mean(image):
    """Mean of all pixels."""
    total = 0.0
    for k in range(image.size):
        total += image[k]
    return total / image.size


@summing
def mean_square(image, center):
    """Mean of (m - center)^2."""
    total = 0.0
    for k in range(image.size):
        total += (image[k] - center) * (image[k] - center)
    return total / image.size


@summing
def fill_mean_square(image, center, out):
    """Mean of (m - center)^2; its gradient is 2 (m - center) / pixels, for any center and the mean."""
    total = 0.0
    factor = 2.0 / image.size
    for k in range(image.size):
        difference = image[k] - center
        total += difference * difference
        out[k] = factor * difference
    return total / image.size


@njit
def _log_sums(image, floor):
    """Sum of m and sum of m log(m + floor) over the pixels above 0."""
    total = logs = 0.0
    for k in range(image.size):
        if image[k] > 0.0:
            total += image[k]
            logs += image[k] * math.log(image[k] + floor)
    return total, logs


@njit
def negative_entropy(image, floor):
    """Sum of q log q with q = m / sum(m); that of a uniform map if nothing is above 0."""
    total, logs = _log_sums(image, floor)
    if total == 0.0:
        return -math.log(image.size)
    return logs / total - math.log(total)


@njit
def fill_negative_entropy(image, floor, out):
    """Gradient (log(m + floor) + m / (m + floor) - 1 - mean log) / sum(m); 0 below 0."""
    total, logs = _log_sums(image, floor)
    if total == 0.0:
        out[:] = 0.0
        return -math.log(image.size)
    for k in range(image.size):
        m = image[k]
        if m < 0.0:
            out[k] = 0.0
            continue
        out[k] = (math.log(m + floor) - floor / (m + floor) - logs / total) / total
    return logs / total - math.log(total)


@njit
def mean_exponential(image, limit):
    """Mean of exp(m), continued by its tangent where m is above limit."""
    total = 0.0
    for k in range(image.size):
        total += math.exp(min(image[k], limit)) * (1.0 + max(image[k] - limit, 0.0))
    return total / image.size


@njit
def fill_mean_exponential(image, limit, out):
    """Gradient exp(min(m, limit)) / pixels."""
    total = 0.0
    for k in range(image.size):
        power = math.exp(min(image[k], limit))
        total += power * (1.0 + max(image[k] - limit, 0.0))
        out[k] = power / image.size
    return total / image.size
