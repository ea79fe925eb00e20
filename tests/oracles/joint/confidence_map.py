"""Oracle of the confidence map kernels: bisection, and formulas in w instead of y = w m."""

import numpy as np

_HALVINGS = 60


def fill_excess(iwe, squared_threshold):
    """Return m - A / m (minus infinity for m = 0), and mean and variance of m and of y at kappa = 0."""
    excess = np.full(iwe.shape, -np.inf)
    excess[iwe > 0.0] = iwe[iwe > 0.0] - squared_threshold / iwe[iwe > 0.0]
    y = np.maximum(excess, 0.0)
    return excess, (iwe.mean(), iwe.var(), y.mean(), y.var())


def weighted_sums(iwe, excess, shift, gain, origin):
    """Return sums of y - origin and its square, and number, sum and square sum of the free y."""
    unclipped = (excess + shift) * gain
    y = np.clip(unclipped, 0.0, iwe)
    free = y[(unclipped > 0.0) & (unclipped < iwe)]
    return (y - origin).sum(), ((y - origin) ** 2).sum(), free.size, free.sum(), (free**2).sum()


def value_sums(iwe, w):
    """Return the variance of w m, the sum of w, and the sum of (m - w m)^2."""
    return np.var(w * iwe), w.sum(), ((iwe - w * iwe) ** 2).sum()


def fill_confidence(iwe, squared_threshold, kappa, mu):
    """Return w = clip((1 + kappa mu / m - A / m^2) / (1 + kappa), 0, 1); 0 where m = 0."""
    w = np.zeros(iwe.shape)
    m = iwe[iwe > 0.0]
    unclipped = (1.0 + kappa * mu / m - squared_threshold / m**2) / (1.0 + kappa)
    w[iwe > 0.0] = np.clip(unclipped, 0.0, 1.0)
    return w


def fill_slope(iwe, w, lam, beta):
    """Return d J / d m at a fixed w and lam; eq. (29)."""
    y = w * iwe
    ea = -2.0 / iwe.size * (iwe - iwe.mean())
    ed = 2.0 / iwe.size * w * (y - y.mean())
    return (1.0 - lam) * ea + lam * ed + 2.0 * beta * (1.0 - w) ** 2 * iwe


def solve_mean(iwe, squared_threshold, kappa):
    """Return mu = mean(w m) by bisection."""
    low, high = 0.0, float(iwe.mean())
    for _ in range(_HALVINGS):
        mu = 0.5 * (low + high)
        if np.mean(fill_confidence(iwe, squared_threshold, kappa, mu) * iwe) > mu:
            low = mu
        else:
            high = mu
    return 0.5 * (low + high)


def solve_kappa(iwe, squared_threshold, max_kappa, target):
    """Return kappa in 0..max_kappa at which the variance of w m falls to target, by bisection."""

    def variance(kappa):
        mu = solve_mean(iwe, squared_threshold, kappa)
        return np.var(fill_confidence(iwe, squared_threshold, kappa, mu) * iwe)

    if variance(0.0) <= target:
        return 0.0
    if variance(max_kappa) >= target:
        return max_kappa
    low, high = 0.0, max_kappa
    for _ in range(_HALVINGS):
        kappa = 0.5 * (low + high)
        low, high = (kappa, high) if variance(kappa) > target else (low, kappa)
    return kappa


def solve_confidence(iwe, alpha, beta, baseline_ea, baseline_ed):
    """Return the best w and the multiplier lam."""
    squared_threshold, max_kappa = alpha / (2.0 * beta), 1.0 / (beta * iwe.size)
    target = baseline_ed + baseline_ea - np.var(iwe)
    kappa = solve_kappa(iwe, squared_threshold, max_kappa, target)
    mu = solve_mean(iwe, squared_threshold, kappa)
    return fill_confidence(iwe, squared_threshold, kappa, mu), kappa / max_kappa


def joint_value(iwe, w, alpha, beta, baseline_ea, baseline_ed):
    """Return the joint objective as defined in the paper."""
    regret = max(baseline_ea - np.var(iwe), np.var(w * iwe) - baseline_ed)
    return regret + alpha * np.sum(np.abs(w)) + beta * np.sum((w * iwe - iwe) ** 2)
