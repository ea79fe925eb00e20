"""Slow and obvious version of the support of events under several motions."""

import numpy as np
from tests.oracles.layers.cells import add_log_support, blur_cells

#: Smaller overlaps of events of one source, and smaller support, count as zero.
LEAST_SHARE, LEAST_SUPPORT = 1e-3, 5e-3


def weights(position, size):
    """Return the weights of an event at a position on pixels 0 to size - 1: a quadratic B-spline."""
    distance = np.abs(np.arange(size) - position)
    near, far = 0.75 - distance**2, 0.5 * np.maximum(1.5 - distance, 0.0) ** 2
    return np.where(distance <= 0.5, near, far)


def support_of(judged, others, supporting, motion, size, padding):
    """Return the support of judged events; events are rows of x, y, tau, p; supporting is bool."""
    width, height = (side + 2 * padding for side in size)

    def footprint(x, y, tau, p):
        a, b = x - motion[6], y - motion[7]
        u = x - tau * (motion[0] + motion[2] * a + motion[3] * b) + padding
        v = y - tau * (motion[1] + motion[4] * a + motion[5] * b) + padding
        return np.outer(weights(v, height), weights(u, width))

    voters = [footprint(*event) for event in others]
    out = []
    for event in judged:
        own = footprint(*event)
        total = sum(
            (own * vote).sum()
            for vote, other, is_in in zip(voters, others, supporting, strict=True)
            if is_in and other[3] == event[3]
        )
        # Those of its own pixel and polarity add nothing, whether or not they support others.
        for other in judged:
            if (other[0], other[1], other[3]) == (event[0], event[1], event[3]):
                share = (own * footprint(*other)).sum()
                total -= share if share >= LEAST_SHARE else 0.0
        out.append(total if total > LEAST_SUPPORT else 0.0)
    return np.array(out)


def gains_of_motions(judged, others, supporting, motions, size, padding, scale, cell, cells_shape):
    """Return the support under every motion, (k, n), and the gain of every cell."""
    support = [support_of(judged, others, supporting, motion, size, padding) for motion in motions]
    n_cells = int(np.prod(cells_shape))
    gain = [
        blur_cells(add_log_support(row, scale, cell, n_cells).reshape(cells_shape))
        for row in support
    ]
    return np.array(support), np.array(gain)
