"""Changes of polarity in slices of time: one pass to count, one to label.

Maps have a border of one pixel that never fires; n is the number of pixels with it.
same : (2 n,) float64, us, times of the last OFF events, then of the last ON events, or NEVER
polarity : (n,) uint8, last polarity in the slice, or UNSEEN
changes : (n,) int64, number of changes of polarity in the slice
"""

import numpy as np

from evcrisp.kernels.compile import comparing
from evcrisp.kernels.filters.neighborhood.pfd import UNSEEN, age_score, kth_of_eight, neighbors_of
from evcrisp.kernels.filters.neighborhood.recent_neighbors import NEVER_FLOAT, smaller


@comparing
def count_changes(x, y, t, p, same, polarity, changes, rule, by_same):
    """Count changes, and score events by the age of their neighbors of the same polarity.

    rule : (k, tau_us, origin_us, stride, skips_origin); the last: events at the origin never count
        as neighbors
    by_same : (n,) float64, filled; at least 0.5 if k neighbors fired within tau
    """
    k, tau_us, origin_us, width, skips_origin = rule
    stride, plane = np.uint64(width), np.uint64(polarity.size)
    for i in range(t.size):
        now = np.float64(t[i] - origin_us)
        corner = np.uint64(y[i]) * stride + np.uint64(x[i])
        own = corner + stride + np.uint64(1)
        side = np.uint64(p[i]) * plane
        found = kth_of_eight(neighbors_of(same, side + corner, stride), k)
        by_same[i] = age_score(now, found, np.float64(tau_us))
        if polarity[own] != UNSEEN and polarity[own] != p[i]:
            changes[own] += 1
        polarity[own] = p[i]
        same[side + own] = NEVER_FLOAT if skips_origin and now == 0.0 else now


@comparing
def label_slice(x, y, by_same, polarity, changes, rule, signal, score):
    """Label the events of a slice, and clear its counts.

    rule : (min_active, max_changes, flicker, stride)
    score : as of `polarity_changes` in `pfd`, with the number of active neighbors
    """
    min_active, max_changes, flicker, width = rule
    stride = np.uint64(width)
    for i in range(x.size):
        corner = np.uint64(y[i]) * stride + np.uint64(x[i])
        n_active, n_changes = 0, 0
        for last in neighbors_of(polarity, corner, stride):
            n_active += last != UNSEEN
        for n in neighbors_of(changes, corner, stride):
            n_changes += n
        excess = n_changes / max(n_active, 1)
        if not flicker:
            excess = abs(changes[corner + stride + np.uint64(1)] - excess)
        by_active = n_active / (n_active + min_active)
        by_changes = max_changes / (max_changes + excess)
        signal[i] = smaller(smaller(by_same[i], by_active), by_changes) >= 0.5
        score[i] = (by_same[i] + by_active + by_changes) / 6.0 + (0.5 if signal[i] else 0.0)
    for i in range(x.size):
        own = (np.uint64(y[i]) + np.uint64(1)) * stride + np.uint64(x[i]) + np.uint64(1)
        polarity[own] = UNSEEN
        changes[own] = 0
