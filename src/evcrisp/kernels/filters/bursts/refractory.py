"""Time since the last event of the same pixel."""

import numpy as np

from evcrisp.kernels.compile import njit
from evcrisp.kernels.filters.neighborhood.recent_neighbors import NEVER


@njit
def time_since_last(x, y, t, last, period_us, since_kept, signal, score):
    """Label events by the time since the last event, or kept event, of their own pixel.

    last : (h, w) int64, us, time or NEVER
    score : age / (age + period + 1), 1 if the pixel has not fired
    """
    times = last.reshape(last.size)
    stride = np.uint64(last.shape[1])
    limit = np.float64(period_us + 1)
    for i in range(t.size):
        here = np.uint64(y[i]) * stride + np.uint64(x[i])
        age = np.float64(t[i] - times[here])
        score[i] = 1.0 if times[here] == NEVER else age / (age + limit)
        signal[i] = score[i] >= 0.5
        times[here] = t[i] if signal[i] or not since_kept else times[here]
