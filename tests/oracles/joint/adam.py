"""Oracle of the Adam kernels: whole-array formulas."""

import numpy as np


def joint_sums(iwe, w):
    """Return mean and variance of m, mean and variance of w m, sum of w, and sum of (w m - m)^2."""
    y = w * iwe
    return iwe.mean(), iwe.var(), y.mean(), y.var(), w.sum(), ((y - iwe) ** 2).sum()


def fill_joint_slope(iwe, w, lam, beta):
    """Return d J / d m; lam = 1 if denoising has the larger regret."""
    y = w * iwe
    ea = -2.0 / iwe.size * (iwe - iwe.mean())
    ed = 2.0 / iwe.size * (y - y.mean())
    return (1.0 - lam) * ea + lam * w * ed + 2.0 * beta * (w - 1.0) ** 2 * iwe


def joint_slope_w(iwe, w, alpha, beta, lam):
    """Return d J / d w."""
    y = w * iwe
    return lam * iwe * 2.0 / iwe.size * (y - y.mean()) + alpha + 2.0 * beta * iwe * (y - iwe)


def adam_step(w, first, second, slope, t, rate, decays=(0.9, 0.999), epsilon=1e-16):
    """Return w and both moments after step t of Adam, counted from 1, with w clamped to 0..1."""
    first = decays[0] * first + (1.0 - decays[0]) * slope
    second = decays[1] * second + (1.0 - decays[1]) * slope**2
    step = (first / (1.0 - decays[0] ** t)) / (np.sqrt(second / (1.0 - decays[1] ** t)) + epsilon)
    return np.clip(w - rate * step, 0.0, 1.0), first, second
