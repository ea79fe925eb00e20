"""Slow version of the kernel of evflow; numba can compile it."""

import numpy as np

from evcrisp.kernels.filters.neighborhood.evflow import found_emlb_speed, found_speed, speed_score


def flow_labels(x, y, t, tau_us, radius, least, limit, emlb, signal, score):
    """Label events with a scan of all events of the last ``tau_us`` for each."""
    found = np.empty((t.size, 4), np.int64)
    a, b = np.empty((t.size, 3)), np.empty(t.size)
    order, solution = np.empty(3, np.int64), np.empty(3)
    front = 0
    for k in range(t.size):
        if not emlb:
            while t[k] - t[front] >= tau_us:
                front += 1
        column, row = np.int64(x[k]), np.int64(y[k])
        n = 0
        for j in range(front, k):
            dx, dy = np.int64(x[j]) - column, np.int64(y[j]) - row
            if abs(dx) <= radius and abs(dy) <= radius:
                found[n, 0], found[n, 1], found[n, 2], found[n, 3] = j, dx, dy, t[j] - t[k]
                n += 1
        speed = np.inf
        if n >= least and emlb:
            speed = found_emlb_speed(found, n, column, row, a, b, order, solution)
        elif n >= least:
            speed = found_speed(found, n)
        signal[k] = speed <= limit
        score[k] = speed_score(speed, limit)
        if emlb:
            while front < k and t[k] - t[front] >= tau_us:
                front += 1
