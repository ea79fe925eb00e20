"""Slow and obvious versions of the placement of events by layers."""

import numpy as np

from evcrisp.kernels.auto.exposure import LEAST_EXPOSURE


def place_by_layer(x, y, tau, layer, motions):
    """Return positions, (2, n), and displacements per window, (2, n)."""
    at, moved = np.empty((2, 2, len(x)))
    for k in range(len(x)):
        motion = np.asarray(motions[layer[k]], np.float64)
        point = np.array([x[k], y[k]], np.float64)
        moved[:, k] = motion[:2] + motion[2:6].reshape(2, 2) @ (point - motion[6:])
        at[:, k] = point - tau[k] * moved[:, k]
    return at, moved


def divide_by_own_sweep(value, x, y, moved_x, moved_y, sides, soft, n_moments=20_000):
    """Divide by the share of many moments in which each point is between the sides."""
    left, top, right, bottom = sides
    t = (np.arange(n_moments) + 0.5) / n_moments - 0.5
    out = np.array(value, np.float64)
    for k in range(len(value)):
        # A point at rest sweeps a little, to soften the border.
        along = [m if abs(m) > soft else soft for m in (moved_x[k], moved_y[k])]
        at_x, at_y = x[k] + along[0] * t, y[k] + along[1] * t
        seen = (at_x >= left) & (at_x <= right) & (at_y >= top) & (at_y <= bottom)
        if value[k] > 0:
            out[k] /= max(seen.mean(), LEAST_EXPOSURE)
    return out
