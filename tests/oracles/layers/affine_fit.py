"""Slow and obvious versions of the fit of an affine motion."""

import numpy as np
from scipy.optimize import minimize
from tests.oracles.auto.event_evidence import spline


def matrix_of(motion, radius):
    """Return the matrix of a motion, (2, 2): growth, turn and two stretches at a radius."""
    turn, grow, stretch, skew = motion[2:]
    parts = (
        turn * np.array([[0.0, -1.0], [1.0, 0.0]]),
        grow * np.eye(2),
        stretch * np.diag([1.0, -1.0]),
        skew * np.array([[0.0, 1.0], [1.0, 0.0]]),
    )
    return sum(parts) / radius


def place(x, y, tau, motion, center, radius):
    """Return positions at the reference time."""
    points = np.stack((x, y)).astype(np.float64)
    moved = motion[:2, None] + matrix_of(motion, radius) @ (points - np.array(center)[:, None])
    return points - tau * moved


def images(x, y, p, scale, shift, shape):
    """Return the maps of OFF and ON events, (2, h, w); pixel `shift` is at (0, 0)."""
    u, v = x / scale + shift[0], y / scale + shift[1]
    out = np.zeros((2, *shape))
    for q in range(2):
        across = spline(np.arange(shape[1])[:, None] - u[p == q])
        down = spline(np.arange(shape[0])[:, None] - v[p == q])
        out[q] = down @ across.T
    return out


def log_contrast(x, y, tau, p, motion, center, radius, scale, shift, shape):
    """Return the log of the mean contrast per event."""
    at = place(x, y, tau, motion, center, radius)
    return np.log((images(*at, p, scale, shift, shape) ** 2).sum() / len(x))


def gradient(n_free, *arguments, step=1e-5):
    """Return the gradient of `log_contrast` by central differences; 0 beyond the free parameters."""
    x, y, tau, p, motion, *others = arguments
    out = np.zeros(6)
    for i in range(n_free):
        ahead, behind = (
            log_contrast(x, y, tau, p, motion + sign * step * np.eye(6)[i], *others)
            for sign in (1, -1)
        )
        out[i] = (ahead - behind) / (2 * step)
    return out


def fit_affine(x, y, tau, p, center, radius, n_free, scale, motion):
    """Return the motion of the highest contrast near a start, and its log contrast."""
    margin = 40.0
    shift = np.array([margin - x.min(), margin - y.min()]) / scale
    shape = tuple(int((np.ptp(side) + 2 * margin) / scale) + 2 for side in (y, x))

    def loss(free):
        whole = np.array([*free, *motion[n_free:]])
        return -log_contrast(x, y, tau, p, whole, center, radius, scale, shift, shape)

    end = minimize(loss, motion[:n_free], method="BFGS", options={"gtol": 1e-6})
    return np.array([*end.x, *motion[n_free:]]), -end.fun
