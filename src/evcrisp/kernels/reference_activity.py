"""The slow and obvious version of ``activity.py``, for tests."""

import numpy as np


def support_age(x, y, t, p):
    """Age of the most recent earlier event in the eight neighbors, by looking at all of them."""
    age = np.full(t.size, -1, np.int64)
    last = {}
    for k in range(t.size):
        times = [
            last[(int(p[k]), int(x[k]) + dx, int(y[k]) + dy)]
            for dx in (-1, 0, 1)
            for dy in (-1, 0, 1)
            if (dx or dy) and (int(p[k]), int(x[k]) + dx, int(y[k]) + dy) in last
        ]
        if times:
            age[k] = t[k] - max(times)
        last[(int(p[k]), int(x[k]), int(y[k]))] = t[k]
    return age
