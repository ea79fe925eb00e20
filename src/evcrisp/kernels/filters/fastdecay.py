"""Leaky event counters of square cells, in single precision as dv-processing has them."""

import numpy as np

from evcrisp.kernels.compile import njit


@njit
def fast_decay(x, y, t, last, level, cell_of, half_life_us, threshold, signal, score):
    """Count events per cell with a count that halves in `half_life_us`; keep those above a threshold.

    x, y : (n,) uint16      t : (n,) int64 us
    last : (rows, columns) int64 us      level : (rows, columns) float32; both updated in place,
        level starts at 0, which makes the time of a cell that never fired irrelevant
    cell_of : (max(w, h),) int64, coordinate // side of a cell, which a division would take longer for
    half_life_us, threshold : float32
    signal : (n,) bool, filled      score : (n,) float64, the count
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
