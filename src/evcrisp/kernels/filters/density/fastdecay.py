"""Decaying event counts of square cells, in single precision like dv-processing."""

import numpy as np

from evcrisp.kernels.compile import njit


@njit
def fast_decay(x, y, t, last, level, cell_of, half_life_us, threshold, signal, score):
    """Keep events whose cell has a decaying count above a threshold.

    last : (rows, columns) int64 us, ignored where level is 0      level : (rows, columns) float32
    cell_of : (max(w, h),) int64, coordinate // cell size; a table is faster than a division
    half_life_us, threshold : float32      score : the count
    """
    for k in range(t.size):
        c, r = cell_of[x[k]], cell_of[y[k]]
        value = np.float32(1.0)
        if level[r, c] > 0:
            decay = np.exp2(-np.float32(t[k] - last[r, c]) / half_life_us)
            value = level[r, c] * decay + np.float32(1.0)
        level[r, c] = value
        last[r, c] = t[k]
        signal[k] = value > threshold
        score[k] = value
