"""Log-likelihood of a contrast map whose pixels follow a negative binomial distribution.

    log p(m) = lgamma(m + r) - lgamma(m + 1) - lgamma(r) + r log(beta) - (m + r) log(beta + 1)

The gamma function extends it to fractional counts; pixels below 0 count as 0.
image : (pixels,) float64      r : float, above 0      fall : float, log(beta + 1)
rest : float, terms that do not depend on m
"""

import math

from evcrisp.kernels.compile import njit

#: Shift of the argument, above which the series are accurate to 1e-15.
_STEPS = 10


@njit
def gamma_ratio(m, r):
    """Return lgamma(m + r) - lgamma(m + 1) and its derivative, for m of 0 or more.

    gamma(z) = gamma(z + 10) / (z (z + 1) ... (z + 9)), then Stirling's series. The products and
    their derivatives are accumulated together, without divisions.
    """
    upper = lower = 1.0
    upper_slope = lower_slope = 0.0
    for step in range(_STEPS):
        z = m + 1.0 + step
        upper_slope = upper_slope * z + upper
        upper *= z
        z = m + r + step
        lower_slope = lower_slope * z + lower
        lower *= z
    log_r, slope_r = _stirling(m + r + _STEPS)
    log_1, slope_1 = _stirling(m + 1.0 + _STEPS)
    value = log_r - log_1 + math.log(upper / lower)
    return value, slope_r - slope_1 + upper_slope / upper - lower_slope / lower


@njit
def _stirling(z):
    """Return lgamma(z) - log(2 pi) / 2 and its derivative, for z of 10 or more."""
    log, inverse = math.log(z), 1.0 / z
    s = inverse * inverse
    value = s * (1.0 / 1188.0 - s * (691.0 / 360360.0))
    value = 1.0 / 12.0 - s * (1.0 / 360.0 - s * (1.0 / 1260.0 - s * (1.0 / 1680.0) + s * value))
    slope = s * (1.0 / 132.0 - s * (691.0 / 32760.0))
    slope = 1.0 / 12.0 - s * (1.0 / 120.0 - s * (1.0 / 252.0 - s * (1.0 / 240.0) + s * slope))
    return (z - 0.5) * log - z + value * inverse, log - 0.5 * inverse - s * slope


@njit
def log_likelihood(image, r, fall, rest):
    """Mean of log p(m) over the pixels."""
    total = 0.0
    for k in range(image.size):
        m = max(image[k], 0.0)
        total += gamma_ratio(m, r)[0] - m * fall
    return total / image.size + rest


@njit
def differentiate_log_likelihood(image, r, fall, rest):
    """Replace the map by the gradient, 0 below 0; return the value of `log_likelihood`."""
    total = 0.0
    for k in range(image.size):
        inside = image[k] >= 0.0
        m = max(image[k], 0.0)
        value, slope = gamma_ratio(m, r)
        total += value - m * fall
        image[k] = (slope - fall) / image.size if inside else 0.0
    return total / image.size + rest
