"""Recent neighbors of the same polarity, and changes of polarity around.

Maps have a border of one pixel that never fires. Times are float64, relative to the first event.
"""

from typing import NamedTuple

import numpy as np

from evcrisp.kernels.compile import comparing
from evcrisp.kernels.filters.neighborhood.recent_neighbors import NEVER_FLOAT, larger, smaller

#: Polarity of a pixel that has not fired.
UNSEEN = 2


class Maps(NamedTuple):
    """State; n is the number of pixels with the border."""

    same: np.ndarray  # (2 n,) float64, times of the last OFF events, then of the last ON events
    latest: np.ndarray  # (n,) float64, times of the last events
    polarity: np.ndarray  # (n,) uint8, polarity with which events are compared, or UNSEEN
    #: (memory * n,) float64, times of the last changes of polarity: the newest of all pixels, then
    #: the second newest, and so on, or NEVER
    changes: np.ndarray


class Rule(NamedTuple):
    """Conditions for signal, and layout of the state."""

    k: int  # neighbors with a recent event of the same polarity
    tau_us: int  # maximum age of such an event
    min_active: int  # neighbors with any event in the window
    window_us: int  # duration in which events and changes count
    max_changes: float  # maximum of the difference or of the mean
    flicker: bool  # compare the mean, not the difference, of the numbers of changes
    first_polarity: bool  # a change is a difference from the first polarity of a pixel
    zero_start: bool  # an event at time 0 does not count as one of the same polarity
    origin_us: int  # time that is 0 in the state
    stride: int  # pixels per row of the state


@comparing
def polarity_changes(x, y, t, p, maps, rule, signal, score):
    """Label events by their neighbors of the same polarity, and by changes of polarity.

    maps : Maps      rule : Rule
    score : half the mean of three scores, each at least 0.5 if its test is passed; 0.5 more if all
        are passed
    """
    # Attributes of a tuple in the loop would cost reference counts.
    same, latest, polarity, changes = maps
    stride, plane = np.uint64(rule.stride), np.uint64(latest.size)
    tau, window = np.float64(rule.tau_us), np.float64(rule.window_us)
    for i in range(t.size):
        now = np.float64(t[i] - rule.origin_us)
        start = now - window
        corner = np.uint64(y[i]) * stride + np.uint64(x[i])
        own = corner + stride + np.uint64(1)
        side = np.uint64(p[i]) * plane
        before = polarity[own]
        if before != UNSEEN and before != p[i]:
            _store_change(changes, own, plane, now)
        if before == UNSEEN or not rule.first_polarity:
            polarity[own] = p[i]
        around = neighbors_of(latest, corner, stride)
        n_own, n_changes = _count_changes(changes, corner, own, stride, plane, start)
        excess = n_changes / max(_count_since(around, start), 1)
        if not rule.flicker:
            excess = abs(n_own - excess)
        newest_same = kth_of_eight(neighbors_of(same, side + corner, stride), rule.k)
        newest = kth_of_eight(around, rule.min_active)
        by_same, by_any = age_score(now, newest_same, tau), age_score(now, newest, window)
        by_changes = rule.max_changes / (rule.max_changes + excess)
        signal[i] = smaller(smaller(by_same, by_any), by_changes) >= 0.5
        score[i] = (by_same + by_any + by_changes) / 6.0 + (0.5 if signal[i] else 0.0)
        latest[own] = now
        same[side + own] = NEVER_FLOAT if rule.zero_start and t[i] == 0 else now


@comparing
def _store_change(changes, own, plane, now):
    """Store the time of a change before the older ones of its pixel."""
    place = own
    while place < np.uint64(changes.size):  # a range with a step would divide
        changes[place], now = now, changes[place]
        place += plane


@comparing
def _count_changes(changes, corner, own, stride, plane, start):
    """Return the numbers of changes since a time: at a pixel, and at its eight neighbors."""
    n_own, n_around = 0, 0
    offset = np.uint64(0)
    while offset < np.uint64(changes.size):
        n = _count_since(neighbors_of(changes, offset + corner, stride), start)
        is_own = changes[offset + own] >= start
        n_own += is_own
        n_around += n
        if n == 0 and not is_own:  # older changes are too old as well
            break
        offset += plane
    return n_own, n_around


@comparing
def _count_since(times, start):
    """Return how many of eight times are not before the start."""
    count = 0
    for time in times:
        count += time >= start
    return count


@comparing
def neighbors_of(cells, corner, stride):
    """Return the values of the eight neighbors."""
    one, two = np.uint64(1), np.uint64(2)
    middle = corner + stride
    lower = middle + stride
    return (
        cells[corner], cells[corner + one], cells[corner + two], cells[middle],
        cells[middle + two], cells[lower], cells[lower + one], cells[lower + two],
    )  # fmt: skip


@comparing
def kth_of_eight(values, k):
    """Return the k-th largest of eight values."""
    a, b, c, d = _sorted_four(values[0], values[1], values[2], values[3])
    e, f, g, h = _sorted_four(values[4], values[5], values[6], values[7])
    if k == 1:
        return larger(a, e)
    # The four largest and the four smallest, not sorted.
    upper = (larger(a, h), larger(b, g), larger(c, f), larger(d, e))
    if k == 4:
        return smaller(smaller(upper[0], upper[1]), smaller(upper[2], upper[3]))
    lower = (smaller(a, h), smaller(b, g), smaller(c, f), smaller(d, e))
    return (_sorted_four(*upper) + _sorted_four(*lower))[k - 1]


@comparing
def _sorted_four(a, b, c, d):
    """Return four values, largest first."""
    a, b = larger(a, b), smaller(a, b)
    c, d = larger(c, d), smaller(c, d)
    a, c = larger(a, c), smaller(a, c)
    b, d = larger(b, d), smaller(b, d)
    return a, larger(b, c), smaller(b, c), d


@comparing
def age_score(now, then, tau):
    """Return tau / (tau + age), 0 if there is no event."""
    value = tau / (tau + larger(now - then, 0.0))  # with zero_start, `then` can be later
    return 0.0 if then == NEVER_FLOAT else value
