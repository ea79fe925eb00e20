"""The slow and obvious version of ``adam_joint.py``, for tests."""

import numpy as np


def joint_slopes(iwe, w, alpha, beta, lam):
    """Return d J / d m and d J / d w, with lam = 1 where denoising has the larger regret."""
    y = w * iwe
    ea = -2.0 / iwe.size * (iwe - iwe.mean())
    ed = 2.0 / iwe.size * (y - y.mean())
    slope_m = (1.0 - lam) * ea + lam * w * ed + 2.0 * beta * (w - 1.0) ** 2 * iwe
    slope_w = lam * iwe * ed + alpha + 2.0 * beta * iwe * (y - iwe)
    return slope_m, slope_w


def adam_steps(gradient, w, n_steps, rate, decays=(0.9, 0.999), floor=1e-16):
    """Return w after steps of Adam as its paper states it, clamped to 0..1 after each."""
    first, second = np.zeros(w.shape), np.zeros(w.shape)
    for t in range(1, n_steps + 1):
        slope = gradient(w)
        first = decays[0] * first + (1.0 - decays[0]) * slope
        second = decays[1] * second + (1.0 - decays[1]) * slope**2
        step = (first / (1.0 - decays[0] ** t)) / (np.sqrt(second / (1.0 - decays[1] ** t)) + floor)
        w = np.clip(w - rate * step, 0.0, 1.0)
    return w
