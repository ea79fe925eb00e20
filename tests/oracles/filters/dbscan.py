"""Slow versions of the kernels of dbscan."""

import numpy as np


def are_neighbors(events, radius, tau_us, same_pixel, same_polarity):
    """Return a matrix, (n, n): True for pairs of different events in one ellipsoid."""
    x, y, t = (np.asarray(column, np.int64) for column in (events.x, events.y, events.t))
    dx, dy, dt = (np.subtract.outer(column, column) for column in (x, y, t))
    distance = (dx**2 + dy**2) * tau_us**2 + dt**2 * radius**2
    is_close = distance <= radius**2 * tau_us**2
    if not same_pixel:
        is_close &= (dx != 0) | (dy != 0)
    if same_polarity:
        is_close &= np.equal.outer(events.p, events.p)
    np.fill_diagonal(is_close, False)
    return is_close


def count_neighbors(is_neighbor):
    """Return the number of neighbors of each event."""
    return is_neighbor.sum(axis=1)


def max_neighbor_count(is_neighbor, count):
    """Return the maximum count among each event and its neighbors."""
    return np.where(is_neighbor | np.eye(count.size, dtype=bool), count, 0).max(axis=1)
