"""Statistics of a contrast map that are sums over its pixels, each with its gradient.

image : (pixels,) float64. `differentiate_*` replaces the map by the gradient and returns the value:
with two arrays, which could overlap, the compiler would not vectorize.
"""

import math

from evcrisp.kernels.compile import njit, summing


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
def differentiate_mean_square(image, center):
    """Gradient 2 (m - center) / pixels, also if center is the mean."""
    total = 0.0
    factor = 2.0 / image.size
    for k in range(image.size):
        difference = image[k] - center
        total += difference * difference
        image[k] = factor * difference
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
    """Sum of q log q, q = m / sum(m); uniform q if the map is empty."""
    total, logs = _log_sums(image, floor)
    if total == 0.0:
        return -math.log(image.size)
    return logs / total - math.log(total)


@njit
def differentiate_negative_entropy(image, floor):
    """Gradient (log(m + floor) + m / (m + floor) - 1 - mean log) / sum(m); 0 below 0."""
    total, logs = _log_sums(image, floor)
    if total == 0.0:
        image[:] = 0.0
        return -math.log(image.size)
    for k in range(image.size):
        m = image[k]
        if m < 0.0:
            image[k] = 0.0
        else:
            image[k] = (math.log(m + floor) - floor / (m + floor) - logs / total) / total
    return logs / total - math.log(total)


@njit
def mean_exponential(image, limit):
    """Mean of exp(m), continued by its tangent where m is above limit."""
    total = 0.0
    for k in range(image.size):
        total += math.exp(min(image[k], limit)) * (1.0 + max(image[k] - limit, 0.0))
    return total / image.size


@njit
def differentiate_mean_exponential(image, limit):
    """Gradient exp(min(m, limit)) / pixels."""
    total = 0.0
    for k in range(image.size):
        power = math.exp(min(image[k], limit))
        total += power * (1.0 + max(image[k] - limit, 0.0))
        image[k] = power / image.size
    return total / image.size
