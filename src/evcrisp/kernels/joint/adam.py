"""Steps of Adam on the confidence map of the joint problem, as the paper solves it."""

import math

from evcrisp.kernels.compile import njit, summing


@summing
def joint_sums(iwe, w, origin):
    """Return mean and variance of m, mean and variance of w m, sum of w, and sum of (w m - m)^2.

    iwe, w : (pixels,) float64      origin : float, about the mean of iwe
    """
    total = square = total_y = square_y = total_w = misfit = 0.0
    for k in range(iwe.size):
        m = iwe[k]
        y = w[k] * m
        total += m - origin
        square += (m - origin) * (m - origin)
        total_y += y - origin
        square_y += (y - origin) * (y - origin)
        total_w += w[k]
        misfit += (y - m) * (y - m)
    mean, mean_y = total / iwe.size, total_y / iwe.size
    variance = max(square / iwe.size - mean * mean, 0.0)
    variance_y = max(square_y / iwe.size - mean_y * mean_y, 0.0)
    return origin + mean, variance, origin + mean_y, variance_y, total_w, misfit


@njit
def fill_joint_slope(iwe, w, means, lam, beta, out):
    """Fill out with d J / d m at any w.

    means : (mean of m, mean of w m)      lam : 1.0 if denoising has the larger regret, else 0.0
    """
    ea, ed = (1.0 - lam) * 2.0 / iwe.size, lam * 2.0 / iwe.size
    mean, mu = means
    for k in range(iwe.size):
        m = iwe[k]
        lost = 1.0 - w[k]
        out[k] = ed * w[k] * (w[k] * m - mu) - ea * (m - mean) + 2.0 * beta * lost * lost * m


@njit
def adam_step(iwe, w, first, second, gradient, rates):
    """Move w against d J / d w by one step of Adam, and clamp it to 0..1.

    iwe, w, first, second : (pixels,) float64, the last three updated in place
    gradient : (alpha, beta, lam, mean of w m)
    rates : (step / (1 - decay1^t), 1 / sqrt(1 - decay2^t), decay1, decay2, epsilon)
    """
    alpha, beta, lam, mu = gradient
    step, unbias, decay1, decay2, epsilon = rates
    ed = lam * 2.0 / iwe.size
    for k in range(iwe.size):
        m = iwe[k]
        y = w[k] * m
        slope = alpha + ed * m * (y - mu) + 2.0 * beta * m * (y - m)
        first[k] = decay1 * first[k] + (1.0 - decay1) * slope
        second[k] = decay2 * second[k] + (1.0 - decay2) * slope * slope
        moved = w[k] - step * first[k] / (math.sqrt(second[k]) * unbias + epsilon)
        moved = moved if moved > 0.0 else 0.0
        w[k] = moved if moved < 1.0 else 1.0
