"""Mean of the decayed times around an event."""

import numpy as np

from evcrisp.kernels.compile import njit

#: Weight of a pixel that fired so long ago that it does not matter how long.
FAINT = 1e-290


@njit
def mean_decay(x, y, t, p, weights, n_fired, start, growth, settings, signal, score):
    """Label events by the mean of exp(-age / tau) over the pixels around that have fired.

    x, y : (n,) uint16      t : (n,) int64 us      p : (n,) uint8, plane of `weights`
    weights : (2, h + 2 r, w + 2 r) float64, exp((time of the last event - start) / tau), 0 if the
        pixel never fired; the border stays 0; updated
    n_fired : the same shape, int32, how many pixels of the square around have fired; updated
    start : (1,) int64, us; updated      growth : fading.Growth
    settings : (radius, threshold, never); an event at the time `never` leaves no trace
    signal : (n,) bool, filled      score : (n,) float64, filled; 0 if none has fired
    """
    radius, threshold, never = settings
    cells, fired = weights.reshape(weights.size), n_fired.reshape(n_fired.size)
    stride = np.uint64(weights.shape[2])
    plane = np.uint64(weights.shape[1]) * stride
    center = np.uint64(radius) * (stride + np.uint64(1))
    bits, mask = np.uint64(growth.bits), np.uint64(growth.fine.size - 1)
    for i in range(t.size):
        if t[i] - start[0] >= growth.span * growth.unit_us:
            _restart(cells, start, t[i], growth)
        age = np.uint64(t[i] - start[0])
        now = growth.coarse[age >> bits] * growth.fine[age & mask]
        corner = np.uint64(p[i]) * plane + np.uint64(y[i]) * stride + np.uint64(x[i])
        own = corner + center
        if radius == 1:
            total = _nine(cells, corner, stride)
        else:
            total = _square(cells, corner, stride, 2 * radius + 1)
        # In this order one event of this very time among n pixels gives exactly 1 / n.
        score[i] = (total / now) / max(fired[own], 1)
        signal[i] = score[i] >= threshold
        leaves_trace = t[i] != never
        if leaves_trace != (cells[own] > 0.0):
            _tell(fired, corner, stride, 2 * radius + 1, 1 if leaves_trace else -1)
        cells[own] = now if leaves_trace else 0.0


@njit
def _nine(cells, corner, stride):
    middle = corner + stride
    return _three(cells, corner) + _three(cells, middle) + _three(cells, middle + stride)


@njit
def _three(cells, first):
    return cells[first] + cells[first + np.uint64(1)] + cells[first + np.uint64(2)]


@njit
def _square(cells, corner, stride, side):
    total = 0.0
    for row in range(side):
        for column in range(side):
            total += cells[corner + np.uint64(row) * stride + np.uint64(column)]
    return total


@njit
def _tell(fired, corner, stride, side, change):
    """Tell the pixels around that one more, or one less, has fired."""
    for row in range(side):
        for column in range(side):
            fired[corner + np.uint64(row) * stride + np.uint64(column)] += change


@njit
def _restart(cells, start, t, growth):
    """Count from a later time, so that the weights stay small."""
    n_spans = (t - start[0]) // (growth.span * growth.unit_us)
    scale = growth.factor ** (-np.float64(growth.span) * n_spans)
    for k in range(cells.size):
        if cells[k] > 0.0:
            cells[k] = max(cells[k] * scale, FAINT)
    start[0] += n_spans * growth.span * growth.unit_us
