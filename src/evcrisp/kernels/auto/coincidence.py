"""Count pixels around an event that fire at the same moment, and moments at which a pixel fires."""

import numpy as np

from evcrisp.kernels.compile import finite, njit

_NEVER = np.float32(-1e6)


@njit
def _around(last, start, stride, since):
    """Return which of the eight pixels around one have a last event at `since` or later, as bits."""
    bits, bit = 0, 1
    for i in range(3):
        for j in range(3):
            if i != 1 or j != 1:
                bits |= bit if last[start + i * stride + j] >= since else 0
                bit *= 2
    return np.uint8(bits)


@finite
def coincident_pixels(x, y, p, t, marked, readers, left, top, shape, near, last, count):
    """Count around some events the pixels with a marked event of the same polarity, near in time.

    x, y : (n,) uint16      p : (n,) uint8      t : (n,) float32, in windows, increasing
    marked : (n,) bool      readers : (m,) intp, events that read, increasing
    left, top : px, of the pixels of all events      shape : rows and columns of a map of a polarity
    near : float32, in windows      last : (2 * rows * columns,) float32, overwritten
    count : (m,) uint8, filled: 0 to 8
    """
    rows, columns = shape
    last[:] = _NEVER
    n, m = t.size, readers.size
    i = 0
    # Of events of the same time, one pass counts those before in the order, the other those behind.
    for k in range(n):
        start = ((np.int64(p[k]) * rows + np.int64(y[k]) - top) * columns) + np.int64(x[k]) - left
        if i < m and readers[i] == k:
            count[i] = _around(last, start, columns, t[k] - near)
            i += 1
        if marked[k]:
            last[start + columns + 1] = t[k]
    last[:] = _NEVER
    i = m - 1
    for k in range(n - 1, -1, -1):
        start = ((np.int64(p[k]) * rows + np.int64(y[k]) - top) * columns) + np.int64(x[k]) - left
        time = -t[k]
        if i >= 0 and readers[i] == k:
            count[i] = _ones(count[i] | _around(last, start, columns, time - near))
            i -= 1
        if marked[k]:
            last[start + columns + 1] = time


@finite
def count_moments(x, y, p, t, chosen, left, top, shape, near, last, count, out):
    """Count the moments at which the pixel and polarity of each event fires.

    x, y : (n,) uint16      p : (n,) uint8      t : (n,) float32, in windows, increasing
    chosen : (m,) intp, events that count, increasing
    left, top, shape : as in `coincident_pixels`
    near : float32, in windows: events of one moment follow each other within twice this time
    last : (2 * rows * columns,) float32, overwritten
    count : (2 * rows * columns,) int32, overwritten      out : (m,) int32, filled
    """
    rows, columns = shape
    last[:] = _NEVER
    count[:] = 0
    for i in range(chosen.size):
        k = chosen[i]
        at = ((np.int64(p[k]) * rows + np.int64(y[k]) - top) * columns) + np.int64(x[k]) - left
        if t[k] - last[at] > np.float32(2.0) * near:
            count[at] += 1
        last[at] = t[k]
    for i in range(chosen.size):
        k = chosen[i]
        at = ((np.int64(p[k]) * rows + np.int64(y[k]) - top) * columns) + np.int64(x[k]) - left
        out[i] = count[at]


@njit
def _ones(bits):
    """Count the bits of a number of eight bits."""
    n = 0
    for _ in range(8):
        n += bits & 1
        bits >>= 1
    return np.uint8(n)
