"""Time surface at each event, and gaps to the previous and next event of its pixel."""

import numpy as np

from evcrisp.kernels.compile import njit
from evcrisp.kernels.filters.neighborhood.recent_neighbors import NEVER


@njit
def burst_gaps(x, y, t, p, last, newest, first, tau_us, radius, surface, before, after):
    """Compute the time surface at each event, and the gaps within its pixel and polarity.

    last : (2, h + 2 radius, w + 2 radius) int64 us, time of the last event or NEVER
    newest : (2, h, w) int64, index of that event, or -1      first : index of the first held event
    surface : (n,) float64, filled; mean of exp(-age / tau_us) over the pixels around that have fired
    before : (n,) int64 us, filled; gap to the previous event, more than 2**61 if there is none
    after : (m + n,) int64 us; gaps of m held events and of these to the next event, -1 if unknown
    """
    held = after.size - t.size
    for k in range(t.size):
        c, r = np.int64(x[k]), np.int64(y[k])
        times = last[p[k]]
        total = 0.0
        fired = 0
        for i in range(r, r + 2 * radius + 1):
            for j in range(c, c + 2 * radius + 1):
                if times[i, j] != NEVER:
                    total += np.exp(-(t[k] - times[i, j]) / tau_us)
                    fired += 1
        surface[k] = total / fired if fired else 0.0
        before[k] = t[k] - times[r + radius, c + radius]
        previous = newest[p[k], r, c]
        if previous >= first:
            after[previous - first] = before[k]
        newest[p[k], r, c] = first + held + k
        times[r + radius, c + radius] = t[k]
