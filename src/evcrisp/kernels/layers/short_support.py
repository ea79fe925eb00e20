"""Support of an event by its neighbors shortly before and after it, without any motion."""

import numpy as np

from evcrisp.kernels.compile import finite

#: Neighborhood: pixels up to this distance along each axis.
RADIUS = 2

_SIDE = 2 * RADIUS + 1
_ZERO, _ONE = np.float32(0.0), np.float32(1.0)
_LONG_AGO = np.float32(-1e6)


@finite
def _at(last, start, stride, time, rate):
    """Sum over the neighbors of a pixel the freshness of their last event, itself excluded.

    start, stride : uint64: unsigned indices need no check for negative ones
    """
    total = _ZERO
    for i in range(_SIDE):
        row = start + np.uint64(i) * stride
        for j in range(_SIDE):
            total += max(_ONE - (time - last[row + np.uint64(j)]) * rate, _ZERO)
    middle = start + np.uint64(RADIUS) * stride + np.uint64(RADIUS)
    return total - max(_ONE - (time - last[middle]) * rate, _ZERO)


@finite
def short_support(
    x, y, t, p, sample_x, sample_y, sample_t, sample_p, order, shape, reach, out, sample_out
):
    """Sum over the neighbors the freshness of their nearest event before, and of that after.

    Freshness falls from 1 to 0 over `reach` windows. Only events of the same polarity count, and not
    those of the own pixel. Noise samples read the same sums and add nothing.

    x, y : (n,) uint16      t : (n,) float32, in windows, increasing      p : (n,) uint8
    sample_x, sample_y, sample_t, sample_p : (m,)      order : (m,) integers, samples in order of time
    shape : (height, width)      reach : in windows
    out : (n,) float32, filled      sample_out : (m,) float32, filled
    """
    height, width = shape
    stride = np.uint64(width + 2 * RADIUS)
    n, m = out.size, sample_out.size
    rate = np.float32(1.0 / reach)
    last = np.empty((2, (height + 2 * RADIUS) * (width + 2 * RADIUS)), np.float32)
    middle = np.uint64(RADIUS) * stride + np.uint64(RADIUS)
    out[:] = _ZERO
    sample_out[:] = _ZERO
    for direction in range(2):
        sign = _ONE if direction == 0 else -_ONE
        last[:] = _LONG_AGO
        q = 0
        for i in range(n):
            k = i if direction == 0 else n - 1 - i
            time = sign * t[k]
            while q < m:
                s = order[q] if direction == 0 else order[m - 1 - q]
                if sign * sample_t[s] > time:
                    break
                start = np.uint64(sample_y[s]) * stride + np.uint64(sample_x[s])
                sample_out[s] += _at(last[sample_p[s]], start, stride, sign * sample_t[s], rate)
                q += 1
            start = np.uint64(y[k]) * stride + np.uint64(x[k])
            own = last[p[k]]
            out[k] += _at(own, start, stride, time, rate)
            own[start + middle] = time
        while q < m:
            s = order[q] if direction == 0 else order[m - 1 - q]
            start = np.uint64(sample_y[s]) * stride + np.uint64(sample_x[s])
            sample_out[s] += _at(last[sample_p[s]], start, stride, sign * sample_t[s], rate)
            q += 1
