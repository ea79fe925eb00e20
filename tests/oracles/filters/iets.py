"""Slow version of the kernel of iets."""

import math

import numpy as np
from tests.oracles.filters.event_rows import event_rows


def burst_gaps(events, tau_us, radius):
    """Return time surface, gap before and gap after each event; infinite if there is none."""
    n = len(events)
    surface, before, after = np.zeros(n), np.full(n, np.inf), np.full(n, np.inf)
    seen = list(event_rows(events))
    for k, (x, y, t, p) in enumerate(seen):
        last = {}  # by pixel
        for i, (other_x, other_y, other_t, other_p) in enumerate(seen[:k]):
            if other_p == p and abs(other_x - x) <= radius and abs(other_y - y) <= radius:
                last[other_x, other_y] = i, other_t
        if last:
            surface[k] = np.mean([math.exp(-(t - other) / tau_us) for _, other in last.values()])
        if (x, y) in last:
            i, other = last[x, y]
            before[k] = after[i] = t - other
    return surface, before, after
