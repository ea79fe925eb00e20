"""Decaying count of each pixel compared with its neighbors."""

import numpy as np

from evcrisp.kernels.compile import njit


@njit
def count_excess(x, y, t, counts, start, table, limits, signal, score):
    """Label events of pixels with a count above least + factor * (mean of neighbors) as noise.

    counts : (h + 4, w + 4) float64, in units of an event at `start`; the border stays 0
    start : (1,) int64, us      table : decay.DecayTable      limits : (least, factor)
    score : limit / (limit + own count)
    """
    least, factor = limits
    height, width = counts.shape[0] - 4, counts.shape[1] - 4
    cells = counts.reshape(counts.size)
    stride = np.uint64(counts.shape[1])
    bits, mask = np.uint64(table.bits), np.uint64(table.fine.size - 1)
    for i in range(t.size):
        if t[i] - start[0] >= table.span * table.unit_us:
            _advance_start(counts, start, t[i], table)
        age = np.uint64(t[i] - start[0])
        weight = table.coarse[age >> bits] * table.fine[age & mask]
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
    """Sum 5x5 cells with independent partial sums, which run in parallel."""
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
def _advance_start(counts, start, t, table):
    """Advance the start to keep weights small; scaling by powers of two is exact."""
    n_spans = (t - start[0]) // (table.span * table.unit_us)
    counts *= table.factor ** (-np.float64(table.span) * n_spans)
    start[0] += n_spans * table.span * table.unit_us
