"""Support of an event by its neighborhood: how long ago the k-th newest of the pixels around fired.

Times are kept as float64, since processors have the larger of two floats as one instruction; they
are counted from the first event, which keeps them exact. Where polarity matters each pixel has two
places, one per polarity, and an event empties the other one: the last event of a pixel counts.
"""

from typing import NamedTuple

import numpy as np

from evcrisp.kernels.compile import comparing

#: Time of a pixel that never fired; far from overflow when subtracted.
NEVER = -(2**62)
NEVER_FLOAT = float(NEVER)


class Rule(NamedTuple):
    """What makes an event signal, and how the state is laid out."""

    k: int  # how many pixels have to support
    tau_us: int  # longest age of a supporting event
    origin_us: int  # times are counted from here
    stride: int  # places per row
    center: int  # from the first place of the square around a pixel to its own
    planes: int  # 2 = a place per polarity
    same_polarity: int  # 1 = only events of the same polarity support
    looks_at_own: bool  # whether one of the following tests applies
    drops_first: bool  # the first event of a pixel is dropped
    refractory_us: int  # events at most so long after one of their own pixel are dropped; -1 = none
    pair_us: int  # the same, after one of the other polarity only


@comparing
def larger(a, b):
    """Return the larger number."""
    return a if a > b else b


@comparing
def smaller(a, b):
    """Return the smaller number."""
    return a if a < b else b


@comparing
def newest_of_eight(x, y, t, times, rule, signal, score):
    """Label events by the newest event of the eight neighbors, of any polarity.

    x, y : (n,) uint16      t : (n,) int64 us      rule : Rule with one plane
    times : ((h + 2) * (w + 2),) float64, us, of the last events; the border stays NEVER; updated
    signal : (n,) bool, filled      score : (n,) float64, filled; tau / (tau + age), 0 if none fired
    """
    stride = np.uint64(rule.stride)
    one, two = np.uint64(1), np.uint64(2)  # unsigned indices are not checked for being negative
    tau = np.float64(rule.tau_us)
    for i in range(t.size):
        now = np.float64(t[i] - rule.origin_us)
        above = np.uint64(y[i]) * stride + np.uint64(x[i])
        here = above + stride
        below = here + stride
        upper = larger(larger(times[above], times[above + one]), times[above + two])
        lower = larger(larger(times[below], times[below + one]), times[below + two])
        sides = larger(times[here], times[here + two])
        newest = larger(larger(upper, lower), sides)
        value = tau / (tau + (now - newest))
        score[i] = 0.0 if newest == NEVER_FLOAT else value
        signal[i] = score[i] >= 0.5
        times[here + one] = now


@comparing
def newest_of_square(x, y, t, p, times, include_self, rule, signal, score):
    """Label events by the newest or second newest event of the 3x3 pixels around, as `kth_newest`.

    include_self : bool, whether the middle counts
    """
    stride, planes = np.uint64(rule.stride), np.uint64(rule.planes)
    for i in range(t.size):
        corner = np.uint64(y[i]) * stride + np.uint64(x[i]) * planes
        upper = corner + np.uint64(p[i] & rule.same_polarity)
        middle = upper + stride
        lower = middle + stride
        own = times[middle + planes] if include_self else NEVER_FLOAT
        a, b = _pair(times[upper], times[upper + planes])
        c, d = _pair(times[upper + planes + planes], times[middle])
        e, f = _pair(times[lower], times[lower + planes])
        g, h = _pair(times[lower + planes + planes], times[middle + planes + planes])
        if rule.k == 1:
            found = larger(own, larger(larger(a, c), larger(e, g)))
        else:
            a, b = _two_of(a, b, c, d)
            e, f = _two_of(e, f, g, h)
            a, b = _two_of(a, b, e, f)
            found = larger(b, smaller(a, own))
        _conclude(i, t, p, times, corner, found, rule, signal, score)


@comparing
def kth_newest(x, y, t, p, times, around, rule, signal, score):
    """Label events by the k-th newest event of the pixels around, one event per pixel.

    x, y : (n,) uint16      t : (n,) int64 us      p : (n,) uint8
    times : (places,) float64, us, of the last events; the border stays NEVER; updated
    around : (m,) uint64, places of the pixels around, counted from the first of the square
    rule : Rule      signal : (n,) bool, filled      score : (n,) float64, filled
    """
    stride, planes = np.uint64(rule.stride), np.uint64(rule.planes)
    best = np.empty(rule.k)
    for i in range(t.size):
        corner = np.uint64(y[i]) * stride + np.uint64(x[i]) * planes
        looked_at = corner + np.uint64(p[i] & rule.same_polarity)
        if rule.k <= 4:
            found = _four_newest(times, looked_at, around)[rule.k - 1]
        else:
            found = _kth(times, looked_at, around, best)
        _conclude(i, t, p, times, corner, found, rule, signal, score)


@comparing
def _conclude(i, t, p, times, corner, found, rule, signal, score):
    """Label one event, given the time of its support, and remember it."""
    now = np.float64(t[i] - rule.origin_us)
    tau = np.float64(rule.tau_us)
    own = corner + np.uint64(rule.center) + np.uint64(p[i] & (rule.planes - 1))
    other = own ^ np.uint64(rule.planes - 1)  # the same place if there is one plane
    value = tau / (tau + (now - found))
    value = 0.0 if found == NEVER_FLOAT else value
    if rule.looks_at_own and not _passes(now, times[own], times[other], rule):
        value = 0.0
    score[i] = value
    signal[i] = value >= 0.5
    times[other] = NEVER_FLOAT
    times[own] = now


@comparing
def _pair(a, b):
    return larger(a, b), smaller(a, b)


@comparing
def _two_of(a, b, c, d):
    """Return the two largest of a >= b and c >= d."""
    return larger(a, c), larger(smaller(a, c), larger(b, d))


@comparing
def _four_newest(times, corner, around):
    """Return the four newest times, newest first."""
    a = b = c = d = NEVER_FLOAT
    for j in range(around.size):
        time = times[corner + around[j]]
        a, time = _pair(a, time)
        b, time = _pair(b, time)
        c, time = _pair(c, time)
        d = larger(d, time)
    return a, b, c, d


@comparing
def _kth(times, corner, around, best):
    """Return the k-th newest time; `best` has room for k of them, newest first."""
    best[:] = NEVER_FLOAT
    for j in range(around.size):
        time = times[corner + around[j]]
        if time > best[-1]:
            place = best.size - 1
            while place > 0 and best[place - 1] < time:
                best[place] = best[place - 1]
                place -= 1
            best[place] = time
    return best[-1]


@comparing
def _passes(now, same, other, rule):
    """Say whether an event passes the tests that look at the last event of its own pixel."""
    last = larger(same, other)
    if last == NEVER_FLOAT:
        return not rule.drops_first
    return now - last > rule.refractory_us and (rule.planes == 1 or now - other > rule.pair_us)
