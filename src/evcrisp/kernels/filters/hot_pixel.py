"""Fading count of every pixel against that of the pixels around."""

import numpy as np

from evcrisp.kernels.compile import njit


@njit
def fading_excess(x, y, t, counts, start, growth, limits, signal, score):
    """Label events of pixels with more than least + factor * (mean of the pixels around) as noise.

    x, y : (n,) uint16      t : (n,) int64 us
    counts : (h + 4, w + 4) float64, in units of an event at `start`; the border stays 0; updated
    start : (1,) int64, us; updated      growth : fading.Growth      limits : (least, factor)
    signal : (n,) bool, filled      score : (n,) float64, filled; limit / (limit + own count)
    """
    least, factor = limits
    height, width = counts.shape[0] - 4, counts.shape[1] - 4
    cells = counts.reshape(counts.size)
    stride = np.uint64(counts.shape[1])
    bits, mask = np.uint64(growth.bits), np.uint64(growth.fine.size - 1)
    for i in range(t.size):
        if t[i] - start[0] >= growth.span * growth.unit_us:
            _restart(counts, start, t[i], growth)
        age = np.uint64(t[i] - start[0])
        weight = growth.coarse[age >> bits] * growth.fine[age & mask]
        column, row = np.int64(x[i]), np.int64(y[i])
        corner = np.uint64(y[i]) * stride + np.uint64(x[i])
        center = corner + stride + stride + np.uint64(2)
        n_columns = min(column + 3, width) - max(column - 2, 0)
        n_rows = min(row + 3, height) - max(row - 2, 0)
        others = max(_five_rows(cells, corner, stride) - cells[center], 0.0)
        limit = least * weight + factor * others / max(n_columns * n_rows - 1, 1)
        own = cells[center] + weight
        score[i] = limit / (limit + own)
        signal[i] = score[i] >= 0.5
        cells[center] = own


@njit
def _five_rows(cells, corner, stride):
    """Sum 5x5 cells, the rows side by side, so that no addition waits for the one before."""
    two = stride + stride
    upper = _five(cells, corner) + _five(cells, corner + stride)
    lower = _five(cells, corner + two + stride) + _five(cells, corner + two + two)
    return upper + lower + _five(cells, corner + two)


@njit
def _five(cells, first):
    left = cells[first] + cells[first + np.uint64(1)]
    right = cells[first + np.uint64(3)] + cells[first + np.uint64(4)]
    return left + right + cells[first + np.uint64(2)]


@njit
def _restart(counts, start, t, growth):
    """Count from a later time, so that the weights stay small; powers of two are exact."""
    n_spans = (t - start[0]) // (growth.span * growth.unit_us)
    counts *= growth.factor ** (-np.float64(growth.span) * n_spans)
    start[0] += n_spans * growth.span * growth.unit_us
