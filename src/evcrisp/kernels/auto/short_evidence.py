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

#: Readers of a block, whose sums are computed in loops that vectorize.
_LANES = 64

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
def _look(lane, start, last, stride, seen):
    """Copy the last events of nine pixels to a lane of a block."""
    middle, below = start + stride, start + stride + stride
    seen[lane] = last[start]
    seen[_LANES + lane] = last[start + _1]
    seen[2 * _LANES + lane] = last[start + _2]
    seen[3 * _LANES + lane] = last[middle]
    seen[4 * _LANES + lane] = last[middle + _1]
    seen[5 * _LANES + lane] = last[middle + _2]
    seen[6 * _LANES + lane] = last[below]
    seen[7 * _LANES + lane] = last[below + _1]
    seen[8 * _LANES + lane] = last[below + _2]


@finite
def _add_freshness(seen, time, rate, support):
    """Add the freshness of the eight pixels around each reader of a block; a loop that vectorizes."""
    for k in range(support.size):
        now = time[k]
        total = max(_ONE - (now - seen[k]) * rate, _ZERO)
        total += max(_ONE - (now - seen[_LANES + k]) * rate, _ZERO)
        total += max(_ONE - (now - seen[2 * _LANES + k]) * rate, _ZERO)
        total += max(_ONE - (now - seen[3 * _LANES + k]) * rate, _ZERO)
        own = max(_ONE - (now - seen[4 * _LANES + k]) * rate, _ZERO)
        total += own
        total += max(_ONE - (now - seen[5 * _LANES + k]) * rate, _ZERO)
        total += max(_ONE - (now - seen[6 * _LANES + k]) * rate, _ZERO)
        total += max(_ONE - (now - seen[7 * _LANES + k]) * rate, _ZERO)
        total += max(_ONE - (now - seen[8 * _LANES + k]) * rate, _ZERO)
        support[k] += total - own


@finite
def _add_near(seen, time, near, contrast, number):
    """Add the pixels around each reader of a block with an event at almost the same time."""
    for k in range(number.size):
        since = time[k] - near
        across, beside = _ZERO, _ZERO
        across += _ONE if seen[k] > since else _ZERO
        beside += _ONE if seen[_LANES + k] > since else _ZERO
        across += _ONE if seen[2 * _LANES + k] > since else _ZERO
        beside += _ONE if seen[3 * _LANES + k] > since else _ZERO
        beside += _ONE if seen[5 * _LANES + k] > since else _ZERO
        across += _ONE if seen[6 * _LANES + k] > since else _ZERO
        beside += _ONE if seen[7 * _LANES + k] > since else _ZERO
        across += _ONE if seen[8 * _LANES + k] > since else _ZERO
        contrast[k] += BESIDE * beside + ACROSS * across
        number[k] += beside + across


@finite
def _add_block(first, n, seen, time, rates, near, support, near_support):
    """Add what the readers of a block see."""
    last = first + n
    _add_near(seen, time, near, near_support[0, first:last], near_support[1, first:last])
    for q in range(rates.size):
        _add_freshness(seen, time, rates[q], support[q, first:last])


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
    seen, now = np.empty(9 * _LANES, np.float32), np.empty(_LANES, np.float32)
    sample_seen, sample_now = np.empty(9 * _LANES, np.float32), np.empty(_LANES, np.float32)
    i = j = 0
    for k in range(n + 1):
        time = t[k] if k < n else _END
        while i < m and rt[i] < time:
            lane = i % _LANES
            now[lane] = rt[i]
            _look(lane, _corner(rx[i], ry[i], rp[i], area), last, stride, seen)
            i += 1
            if lane == _LANES - 1 or i == m:
                block = i - lane - 1, lane + 1
                _add_block(*block, seen, now, rates, near, support, near_support)
        while j < s and st[j] < time:
            lane = j % _LANES
            sample_now[lane] = st[j]
            _look(lane, _corner(sx[j], sy[j], sp[j], area), last, stride, sample_seen)
            j += 1
            if lane == _LANES - 1 or j == s:
                block = j - lane - 1, lane + 1
                _add_block(
                    *block, sample_seen, sample_now, rates, near, sample_support, sample_near
                )
        if k < n and supporting[k]:
            last[middle[k]] = time
    i, j = m - 1, s - 1
    for k in range(n - 1, -2, -1):
        time = _BACK - t[k] if k >= 0 else _END
        while i >= 0 and _BACK - rt[i] <= time:
            lane = i % _LANES
            now[lane] = _BACK - rt[i]
            _look(lane, _corner(rx[i], ry[i], rp[i], area), last, stride, seen)
            if lane == 0:
                block = i, min(_LANES, m - i)
                _add_block(*block, seen, now, rates, near, support, near_support)
            i -= 1
        while j >= 0 and _BACK - st[j] <= time:
            lane = j % _LANES
            sample_now[lane] = _BACK - st[j]
            _look(lane, _corner(sx[j], sy[j], sp[j], area), last, stride, sample_seen)
            if lane == 0:
                block = j, min(_LANES, s - j)
                _add_block(
                    *block, sample_seen, sample_now, rates, near, sample_support, sample_near
                )
            j -= 1
        if k >= 0 and supporting[k]:
            last[middle[k]] = time
