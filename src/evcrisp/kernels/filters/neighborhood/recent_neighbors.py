"""Age of the k-th newest last event of the neighboring pixels.

Times are float64, because the maximum of two floats is one instruction; they are relative to the
first event, which keeps them exact. If polarity matters, each pixel has two places, one per
polarity. An event clears the other place, so that only the last event of a pixel counts.
"""

from typing import NamedTuple

import numpy as np

from evcrisp.kernels.compile import comparing

#: Time of a pixel that has not fired; differences to it do not overflow.
NEVER = -(2**62)
NEVER_FLOAT = float(NEVER)


class Rule(NamedTuple):
    """Conditions for signal, and layout of the state."""

    k: int  # number of neighbors that must be recent
    tau_us: int  # maximum age of an event of a neighbor
    origin_us: int  # time that is 0 in the state
    stride: int  # places per row
    center: int  # offset from the first place of the square around a pixel to its own
    planes: int  # 2 = a place per polarity
    same_polarity: int  # 1 = only events of the same polarity count
    tests_own_pixel: bool  # whether one of the following tests applies
    drop_first: bool  # drop the first event of a pixel
    refractory_us: int  # drop events up to this long after one of the same pixel; -1 = off
    pair_us: int  # the same, only after an event of the other polarity


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

    times : ((h + 2) * (w + 2),) float64, us, of the last events; the border stays NEVER
    rule : Rule with one plane      score : tau / (tau + age), 0 if none has fired
    """
    stride = np.uint64(rule.stride)
    one, two = np.uint64(1), np.uint64(2)  # unsigned indices need no test for negative values
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
    """Label events by the newest or second newest event of the 3x3 pixels around.

    Arguments as in `kth_newest`.
    include_self : bool, whether the center counts
    """
    stride, planes = np.uint64(rule.stride), np.uint64(rule.planes)
    for i in range(t.size):
        corner = np.uint64(y[i]) * stride + np.uint64(x[i]) * planes
        upper = corner + np.uint64(p[i] & rule.same_polarity)
        middle = upper + stride
        lower = middle + stride
        own = times[middle + planes] if include_self else NEVER_FLOAT
        a, b = _sorted_pair(times[upper], times[upper + planes])
        c, d = _sorted_pair(times[upper + planes + planes], times[middle])
        e, f = _sorted_pair(times[lower], times[lower + planes])
        g, h = _sorted_pair(times[lower + planes + planes], times[middle + planes + planes])
        if rule.k == 1:
            found = larger(own, larger(larger(a, c), larger(e, g)))
        else:
            a, b = _top_two(a, b, c, d)
            e, f = _top_two(e, f, g, h)
            a, b = _top_two(a, b, e, f)
            found = larger(b, smaller(a, own))
        _label_event(i, t, p, times, corner, found, rule, signal, score)


@comparing
def kth_newest(x, y, t, p, times, neighbors, rule, signal, score):
    """Label events by the k-th newest last event of the neighbors.

    times : (places,) float64, us, of the last events; the border stays NEVER
    neighbors : (m,) uint64, places of the neighbors relative to the first of the square
    rule : Rule      score : tau / (tau + age), 0 if fewer have fired
    """
    stride, planes = np.uint64(rule.stride), np.uint64(rule.planes)
    best = np.empty(rule.k)
    for i in range(t.size):
        corner = np.uint64(y[i]) * stride + np.uint64(x[i]) * planes
        first = corner + np.uint64(p[i] & rule.same_polarity)
        if rule.k <= 4:
            found = _four_newest(times, first, neighbors)[rule.k - 1]
        else:
            found = _kth(times, first, neighbors, best)
        _label_event(i, t, p, times, corner, found, rule, signal, score)


@comparing
def _label_event(i, t, p, times, corner, found, rule, signal, score):
    """Label one event, given the time of its k-th newest neighbor, and store it."""
    now = np.float64(t[i] - rule.origin_us)
    tau = np.float64(rule.tau_us)
    own = corner + np.uint64(rule.center) + np.uint64(p[i] & (rule.planes - 1))
    other = own ^ np.uint64(rule.planes - 1)  # the same place if there is one plane
    value = tau / (tau + (now - found))
    value = 0.0 if found == NEVER_FLOAT else value
    if rule.tests_own_pixel and not _passes_own_tests(now, times[own], times[other], rule):
        value = 0.0
    score[i] = value
    signal[i] = value >= 0.5
    times[other] = NEVER_FLOAT
    times[own] = now


@comparing
def _sorted_pair(a, b):
    return larger(a, b), smaller(a, b)


@comparing
def _top_two(a, b, c, d):
    """Return the two largest of a >= b and c >= d."""
    return larger(a, c), larger(smaller(a, c), larger(b, d))


@comparing
def _four_newest(times, corner, neighbors):
    """Return the four newest times, newest first."""
    a = b = c = d = NEVER_FLOAT
    for j in range(neighbors.size):
        time = times[corner + neighbors[j]]
        a, time = _sorted_pair(a, time)
        b, time = _sorted_pair(b, time)
        c, time = _sorted_pair(c, time)
        d = larger(d, time)
    return a, b, c, d


@comparing
def _kth(times, corner, neighbors, best):
    """Return the k-th newest time; `best` is a buffer for k of them, newest first."""
    best[:] = NEVER_FLOAT
    for j in range(neighbors.size):
        time = times[corner + neighbors[j]]
        if time > best[-1]:
            place = best.size - 1
            while place > 0 and best[place - 1] < time:
                best[place] = best[place - 1]
                place -= 1
            best[place] = time
    return best[-1]


@comparing
def _passes_own_tests(now, same, other, rule):
    """Return whether an event passes the tests on the last event of its own pixel."""
    last = larger(same, other)
    if last == NEVER_FLOAT:
        return not rule.drop_first
    return now - last > rule.refractory_us and (rule.planes == 1 or now - other > rule.pair_us)
