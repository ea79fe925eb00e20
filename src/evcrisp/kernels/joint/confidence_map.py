"""Solve for the best confidence map w of a contrast map m, in a few passes over the pixels.

The unknown is the weighted map y = w m. With excess = m - A / m it is

    y = clip((excess + kappa mu) / (1 + kappa), 0, m),      mu = mean(y),

so that a pass needs neither a division nor w. All arrays are (pixels,) float64.
"""

import math

from evcrisp.kernels.compile import njit, summing

#: Maximum number of Newton steps; three to six are usual.
MAX_STEPS = 100

#: Relative error of a solution; sums over a million pixels have an error of about 1e-14.
TOLERANCE = 1e-12


@summing
def fill_excess(iwe, squared_threshold, origin, out):
    """Fill out with m - A / m; return mean and variance of m, then of y at kappa = 0.

    iwe : (pixels,) float64, 0 or more      squared_threshold : A = alpha / (2 beta), 0 or more
    origin : float, about the mean of iwe; it is subtracted to avoid cancellation
    """
    total = square = total_y = square_y = 0.0
    for k in range(iwe.size):
        m = iwe[k]
        excess = m - squared_threshold / m if m > 0.0 else -math.inf
        out[k] = excess
        y = excess if excess > 0.0 else 0.0
        total += m - origin
        square += (m - origin) * (m - origin)
        total_y += y - origin
        square_y += (y - origin) * (y - origin)
    mean, mean_y = total / iwe.size, total_y / iwe.size
    variance = max(square / iwe.size - mean * mean, 0.0)
    variance_y = max(square_y / iwe.size - mean_y * mean_y, 0.0)
    return origin + mean, variance, origin + mean_y, variance_y


@summing
def weighted_sums(iwe, excess, shift, gain, origin):
    """Sum y - origin and its square over all pixels; count the free ones and sum their y and y^2.

    y = clip((excess + shift) gain, 0, iwe) is free where it is not clipped.
    """
    total = square = free = free_total = free_square = 0.0
    for k in range(iwe.size):
        y = (excess[k] + shift) * gain
        inside = 1.0 if (y > 0.0) & (y < iwe[k]) else 0.0
        y = y if y > 0.0 else 0.0
        y = y if y < iwe[k] else iwe[k]
        total += y - origin
        square += (y - origin) * (y - origin)
        free += inside
        free_total += inside * y
        free_square += inside * y * y
    return total, square, free, free_total, free_square


@njit
def solve_mean(iwe, excess, kappa, start, mean):
    """Solve mu = mean(y) at one kappa by Newton steps on a falling, piecewise linear function.

    start : float, initial mu      mean : float, mean of iwe, an upper bound of mu
    Returns mu, the variance of y, and the derivatives of both with respect to kappa.
    """
    gain = 1.0 / (1.0 + kappa)
    low, high = 0.0, mean
    mu = min(max(start, low), high)
    variance = slope = turn = 0.0
    for _ in range(MAX_STEPS):
        sums = weighted_sums(iwe, excess, kappa * mu, gain, mu)
        offset = sums[0] / iwe.size  # mean(y) - mu
        variance = sums[1] / iwe.size - offset * offset
        share, part, part_square = sums[2] / iwe.size, sums[3] / iwe.size, sums[4] / iwe.size
        # For the free pixels d y / d mu = kappa gain and d y / d kappa = (mu - y) gain.
        fall = 1.0 - share * kappa * gain
        turn = (share * mu - part) * gain / fall
        slope = 2.0 * gain * (part * mu - part_square + part * kappa * turn) - 2.0 * mu * turn
        step = mu + offset / fall
        if abs(offset) <= TOLERANCE * mean:
            mu = step
            break
        if offset > 0.0:
            low = mu
        else:
            high = mu
        mu = step if low < step < high else 0.5 * (low + high)
    return mu, max(variance, 0.0), turn, slope


@njit
def solve_kappa(iwe, excess, max_kappa, target, mean):
    """Find kappa in 0..max_kappa at which the variance of y falls to target.

    Returns kappa and mu; max_kappa if the variance stays above target, as it must at kappa = 0.
    """
    low, high = 0.0, max_kappa
    kappa = 0.0
    mu, variance, turn, slope = solve_mean(iwe, excess, 0.0, 0.5 * mean, mean)
    has_upper_bound = False  # whether a kappa with a variance below target is known
    for _ in range(MAX_STEPS):
        if abs(variance - target) <= TOLERANCE * target:
            break
        step = high
        if target > 0.0 and slope < 0.0:
            # Newton on 1 / sqrt(variance), a straight line in kappa while no pixel is clipped.
            step = kappa - 2.0 * variance * (math.sqrt(variance / target) - 1.0) / slope
        if step >= high and not has_upper_bound:
            step = max_kappa
        elif not low < step < high:
            step = 0.5 * (low + high)
            if not low < step < high:
                break
        guess = mu + turn * (step - kappa)
        kappa = step
        mu, variance, turn, slope = solve_mean(iwe, excess, kappa, guess, mean)
        if variance > target:
            low = kappa
            if kappa == max_kappa:
                break
        else:
            high = kappa
            has_upper_bound = True
    return kappa, mu


@njit
def fill_confidence(iwe, excess, shift, gain, out):
    """Fill out with w = y / m, and with 0 where m = 0."""
    for k in range(iwe.size):
        y = min(max((excess[k] + shift) * gain, 0.0), iwe[k])
        out[k] = y / iwe[k] if iwe[k] > 0.0 else 0.0


@summing
def value_sums(iwe, excess, shift, gain, mu):
    """Return the variance of y around its mean mu, the sum of w, and the sum of (m - y)^2."""
    square = total = misfit = 0.0
    for k in range(iwe.size):
        m = iwe[k]
        y = (excess[k] + shift) * gain
        y = y if y > 0.0 else 0.0
        y = y if y < m else m
        square += (y - mu) * (y - mu)
        total += y / m if m > 0.0 else 0.0
        misfit += (m - y) * (m - y)
    return square / iwe.size, total, misfit


@njit
def fill_slope(iwe, excess, shift, gain, means, lam, beta, out):
    """Fill out with d V / d m, where V is the joint objective at its best w.

    means : (mean of m, mean of y). By the envelope theorem, the derivative of w does not count.
    """
    ea, ed = (1.0 - lam) * 2.0 / iwe.size, lam * 2.0 / iwe.size
    mean, mu = means
    for k in range(iwe.size):
        m = iwe[k]
        y = (excess[k] + shift) * gain
        y = y if y > 0.0 else 0.0
        y = y if y < m else m
        w = y / m if m > 0.0 else 0.0
        out[k] = ed * w * (y - mu) - ea * (m - mean) + 2.0 * beta * (1.0 - w) * (m - y)
