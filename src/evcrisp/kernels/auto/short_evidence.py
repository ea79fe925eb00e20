"""Support of an event by its eight neighbors shortly before and after it, without any motion."""

from typing import NamedTuple

import numpy as np

from evcrisp.kernels.compile import finite, njit

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)
_1, _2 = np.uint64(1), np.uint64(2)

#: Contrast that an event gives at a pixel beside it and across it, without motion: overlap of two
#: footprints.
BESIDE, ACROSS = np.float32(66 * 26 / 120**2), np.float32(26 * 26 / 120**2)

#: Time between the forward pass and the backward pass, in windows, so that the second one needs no
#: empty map. No support reaches so far.
_BACK = np.float32(16.0)
_NEVER, _END = np.float32(-1e6), np.float32(1e6)

#: Longest reach, in windows.
MAX_REACH = 8.0


class Area(NamedTuple):
    """Map of the last time of every pixel, with a border of one pixel; that of ON is behind it."""

    left: int  # px, of the sensor
    top: int
    rows: int  # of the map of a polarity
    columns: int


class Readers(NamedTuple):
    """Points that read support, in the order of time; arrays of shape (m,) unless stated."""

    x: np.ndarray  # numbers, px
    y: np.ndarray
    p: np.ndarray  # uint8
    t: np.ndarray  # float32, in windows
    support: np.ndarray  # (r, m) float32, filled: for every reach
    near: np.ndarray  # (2, m) float32, filled: neighbors at almost the same time: contrast, number


@njit
def _corner(x, y, p, area):
    """Return the upper left of the nine pixels around a point, in a map of both polarities."""
    row = np.int64(p) * area.rows + np.int64(y) - area.top
    return np.uint64(row * area.columns + np.int64(x) - area.left)


@finite
def _freshness(a, b, c, d, e, f, g, h, i, rate):
    """Sum the freshness of eight pixels around one, given the times since the last event of all nine."""
    total = max(_ONE - a * rate, _ZERO)
    total += max(_ONE - b * rate, _ZERO)
    total += max(_ONE - c * rate, _ZERO)
    total += max(_ONE - d * rate, _ZERO)
    own = max(_ONE - e * rate, _ZERO)
    total += own
    total += max(_ONE - f * rate, _ZERO)
    total += max(_ONE - g * rate, _ZERO)
    total += max(_ONE - h * rate, _ZERO)
    total += max(_ONE - i * rate, _ZERO)
    return total - own


@finite
def _near(last, start, stride, since):
    """Return how many pixels beside and across one have a last event later than `since`."""
    middle, below = start + stride, start + stride + stride
    across, beside = _ZERO, _ZERO
    across += _ONE if last[start] > since else _ZERO
    across += _ONE if last[start + _2] > since else _ZERO
    across += _ONE if last[below] > since else _ZERO
    across += _ONE if last[below + _2] > since else _ZERO
    beside += _ONE if last[start + _1] > since else _ZERO
    beside += _ONE if last[below + _1] > since else _ZERO
    beside += _ONE if last[middle] > since else _ZERO
    beside += _ONE if last[middle + _2] > since else _ZERO
    return beside, across


@finite
def _read(k, start, time, last, stride, rates, near, support, near_support):
    """Add what reader k sees in the last events."""
    beside, across = _near(last, start, stride, time - near)
    near_support[0, k] += BESIDE * beside + ACROSS * across
    near_support[1, k] += beside + across
    # Once for all rates: the compiler cannot know that sums are not written where times are read.
    middle, below = start + stride, start + stride + stride
    a, b, c = time - last[start], time - last[start + _1], time - last[start + _2]
    d, e, f = time - last[middle], time - last[middle + _1], time - last[middle + _2]
    g, h, i = time - last[below], time - last[below + _1], time - last[below + _2]
    for q in range(rates.size):
        support[q, k] += _freshness(a, b, c, d, e, f, g, h, i, rates[q])


@finite
def short_evidence(x, y, p, t, supporting, readers, samples, area, rates, near, last):
    """Sum over the neighbors the freshness of their nearest event before, and of that after.

    Freshness falls from 1 to 0 over a reach. Only events of the same polarity count, and not those of
    the own pixel. Events of the same time count as events before. Readers are some of the events, or
    all; noise samples read the same sums.

    x, y : (n,) uint16      p : (n,) uint8      t : (n,) float32, in windows, increasing
    supporting : (n,) bool, events that count      readers, samples : Readers      area : Area
    rates : (r,) float32, 1 / reach, at least 1 / MAX_REACH      near : float32, in windows
    last : (2 * rows * columns,) float32, overwritten
    """
    # As names, since an access to a tuple of arrays costs as much as a neighbor.
    rx, ry, rp, rt, support, near_support = readers
    sx, sy, sp, st, sample_support, sample_near = samples
    last[:] = _NEVER
    support[:] = _ZERO
    near_support[:] = _ZERO
    sample_support[:] = _ZERO
    sample_near[:] = _ZERO
    n, m, s = t.size, rt.size, st.size
    stride = np.uint64(area.columns)
    # Once for both directions, in a loop that vectorizes.
    middle = np.empty(n, np.uint32)
    for k in range(n):
        middle[k] = _corner(x[k], y[k], p[k], area) + stride + _1
    i = j = 0
    for k in range(n + 1):
        time = t[k] if k < n else _END
        while i < m and rt[i] < time:
            start = _corner(rx[i], ry[i], rp[i], area)
            _read(i, start, rt[i], last, stride, rates, near, support, near_support)
            i += 1
        while j < s and st[j] < time:
            start = _corner(sx[j], sy[j], sp[j], area)
            _read(j, start, st[j], last, stride, rates, near, sample_support, sample_near)
            j += 1
        if k < n and supporting[k]:
            last[middle[k]] = time
    i, j = m - 1, s - 1
    for k in range(n - 1, -2, -1):
        time = _BACK - t[k] if k >= 0 else _END
        while i >= 0 and _BACK - rt[i] <= time:
            start = _corner(rx[i], ry[i], rp[i], area)
            _read(i, start, _BACK - rt[i], last, stride, rates, near, support, near_support)
            i -= 1
        while j >= 0 and _BACK - st[j] <= time:
            start = _corner(sx[j], sy[j], sp[j], area)
            _read(j, start, _BACK - st[j], last, stride, rates, near, sample_support, sample_near)
            j -= 1
        if k >= 0 and supporting[k]:
            last[middle[k]] = time
