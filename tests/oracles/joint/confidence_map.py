"""The slow and obvious version of ``confidence.py``, for tests: bisection, pixel by pixel formulas."""

import numpy as np

_HALVINGS = 60


def confidence_at(iwe, area, kappa, mu):
    """Return w = clip((1 + kappa mu / m - A / m^2) / (1 + kappa), 0, 1); 0 where m = 0."""
    w = np.zeros(iwe.shape)
    m = iwe[iwe > 0.0]
    w[iwe > 0.0] = np.clip((1.0 + kappa * mu / m - area / m**2) / (1.0 + kappa), 0.0, 1.0)
    return w


def fixed_point(iwe, area, kappa):
    """Return the w whose weighted mean is the mu that it is made of, by halving an interval."""
    low, high = 0.0, float(iwe.mean())
    for _ in range(_HALVINGS):
        mu = 0.5 * (low + high)
        if np.mean(confidence_at(iwe, area, kappa, mu) * iwe) > mu:
            low = mu
        else:
            high = mu
    return confidence_at(iwe, area, kappa, 0.5 * (low + high))


def best_confidence(iwe, alpha, beta, baseline_ea, baseline_ed):
    """Return the best w and the multiplier lam, by halving the interval of lam."""

    def solved(lam):
        w = fixed_point(iwe, alpha / (2.0 * beta), lam / (beta * iwe.size))
        return w, np.var(w * iwe) - baseline_ed - (baseline_ea - np.var(iwe))

    for lam, sign in ((0.0, -1.0), (1.0, 1.0)):
        w, excess = solved(lam)
        if sign * excess >= 0.0:
            return w, lam
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        lam = 0.5 * (low + high)
        w, excess = solved(lam)
        low, high = (lam, high) if excess > 0.0 else (low, lam)
    return w, lam


def joint_value(iwe, w, alpha, beta, baseline_ea, baseline_ed):
    """Return the joint objective as the paper writes it."""
    worst = max(baseline_ea - np.var(iwe), np.var(w * iwe) - baseline_ed)
    return worst + alpha * np.sum(np.abs(w)) + beta * np.sum((w * iwe - iwe) ** 2)
