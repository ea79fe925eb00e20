"""Slow and obvious version of `kernels/auto/coincidence.py`."""

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
