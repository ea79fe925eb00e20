"""Mean of exp(-age / tau) around an event."""

import numpy as np

from evcrisp.kernels.compile import njit
from evcrisp.kernels.filters.density.density import sum_three

#: Lower bound of the weight of a pixel that has fired; its contribution is negligible.
FAINT = 1e-290


@njit
def time_surface_mean(x, y, t, p, weights, n_fired, start, table, settings, signal, score):
    """Label events by the mean of exp(-age / tau) over the pixels around that have fired.

    weights : (2, h + 2 r, w + 2 r) float64, exp((time of the last event - start) / tau), 0 if the
        pixel has not fired; the border stays 0
    n_fired : the same shape, int32, number of pixels of the square around that have fired
    start : (1,) int64, us      table : decay.DecayTable
    settings : (radius, threshold, never); an event at the time `never` is not stored
    """
    radius, threshold, never = settings
    cells, fired = weights.reshape(weights.size), n_fired.reshape(n_fired.size)
    stride = np.uint64(weights.shape[2])
    plane = np.uint64(weights.shape[1]) * stride
    center = np.uint64(radius) * (stride + np.uint64(1))
    bits, mask = np.uint64(table.bits), np.uint64(table.fine.size - 1)
    for i in range(t.size):
        if t[i] - start[0] >= table.span * table.unit_us:
            _advance_start(cells, start, t[i], table)
        age = np.uint64(t[i] - start[0])
        now = table.coarse[age >> bits] * table.fine[age & mask]
        corner = np.uint64(p[i]) * plane + np.uint64(y[i]) * stride + np.uint64(x[i])
        own = corner + center
        if radius == 1:
            total = _nine(cells, corner, stride)
        else:
            total = _square(cells, corner, stride, 2 * radius + 1)
        # In this order, one event of the same time among n pixels gives exactly 1 / n.
        score[i] = (total / now) / max(fired[own], 1)
        signal[i] = score[i] >= threshold
        is_stored = t[i] != never
        if is_stored != (cells[own] > 0.0):
            _add_to_square(fired, corner, stride, 2 * radius + 1, 1 if is_stored else -1)
        cells[own] = now if is_stored else 0.0


@njit
def _nine(cells, corner, stride):
    middle = corner + stride
    return sum_three(cells, corner) + sum_three(cells, middle) + sum_three(cells, middle + stride)


@njit
def _square(cells, corner, stride, side):
    total = 0.0
    for row in range(side):
        for column in range(side):
            total += cells[corner + np.uint64(row) * stride + np.uint64(column)]
    return total


@njit
def _add_to_square(fired, corner, stride, side, change):
    """Add `change` to all cells of a square."""
    for row in range(side):
        for column in range(side):
            fired[corner + np.uint64(row) * stride + np.uint64(column)] += change


@njit
def _advance_start(cells, start, t, table):
    """Advance the start to keep the weights small."""
    n_spans = (t - start[0]) // (table.span * table.unit_us)
    scale = table.factor ** (-np.float64(table.span) * n_spans)
    for k in range(cells.size):
        if cells[k] > 0.0:
            cells[k] = max(cells[k] * scale, FAINT)
    start[0] += n_spans * table.span * table.unit_us
