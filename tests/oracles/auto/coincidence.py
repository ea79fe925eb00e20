"""Slow and obvious version of `kernels/auto/coincidence.py`."""

from itertools import pairwise

import numpy as np


def coincident_pixels(x, y, p, t, marked, readers, near):
    """Return around each reader how many pixels have a marked event of its polarity, near in time."""
    counts = []
    for k in readers:
        pixels = set()
        for j in np.flatnonzero(marked):
            distance = max(abs(int(x[j]) - int(x[k])), abs(int(y[j]) - int(y[k])))
            if distance == 1 and p[j] == p[k] and abs(t[j] - t[k]) <= near:
                pixels.add((int(x[j]), int(y[j])))
        counts.append(len(pixels))
    return np.array(counts, np.uint8)


def count_moments(x, y, p, t, chosen, near):
    """Return for each chosen event at how many moments its pixel and polarity fires."""
    moments = {}
    for k in chosen:
        times = moments.setdefault((int(x[k]), int(y[k]), int(p[k])), [])
        times.append(float(t[k]))
    counts = {
        source: 1 + sum(b - a > 2.0 * near for a, b in pairwise(times))
        for source, times in moments.items()
    }
    return np.array([counts[int(x[k]), int(y[k]), int(p[k])] for k in chosen], np.int32)
