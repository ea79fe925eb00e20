"""Number of events around an event in space and time."""

import numpy as np

from evcrisp.kernels.compile import njit

#: The lower half of a count holds all events, the upper half those that passed stage one.
DENSE = 2**32


@njit
def event_density(x, y, t, old_t, old_index, old_increment, counts, rule, increment, signal, score):
    """Label events by the number of events around, and by a dense event at a neighbor.

    old_t, old_index, old_increment : (m,) int64; earlier events that still count: times in us,
        indices into `counts`, and increments of `counts`
    counts : (h + 2 r, w + 2 r) int64, events of each pixel that still count
    rule : (k, tau_us, radius, fine, include_self), int64 each
    increment : (n,) int64, filled; of `counts` by each event: 1, or 1 + DENSE
    score : d / (d + k) with d events around, 0 without a dense neighbor
    Returns the number of earlier events and then of these that have expired.
    """
    k, tau_us, radius, fine, include_self = rule
    stride = np.uint64(counts.shape[1])
    border = np.uint64(radius) * (stride + np.uint64(1))
    cells = counts.reshape(counts.size)
    n_old_expired, n_expired = 0, 0
    for i in range(t.size):
        oldest = t[i] - tau_us
        while n_old_expired < old_t.size and old_t[n_old_expired] < oldest:
            cells[old_index[n_old_expired]] -= old_increment[n_old_expired]
            n_old_expired += 1
        while n_old_expired == old_t.size and t[n_expired] < oldest:
            cells[np.uint64(y[n_expired]) * stride + np.uint64(x[n_expired]) + border] -= increment[
                n_expired
            ]
            n_expired += 1
        center = np.uint64(y[i]) * stride + np.uint64(x[i]) + border
        own = cells[center]
        if radius == 2:
            around, near = _two_squares(cells, center, stride)
        else:
            around, near = _square(cells, center, stride, radius), _square(cells, center, stride, 1)
        n_around = (around & (DENSE - 1)) + include_self
        value = n_around / (n_around + k)
        score[i] = 0.0 if (fine != 0) & (near - own < DENSE) else value
        signal[i] = score[i] >= 0.5
        increment[i] = 1 + DENSE * np.int64(n_around >= k)
        cells[center] = own + increment[i]
    return n_old_expired + n_expired


@njit
def _square(cells, center, stride, radius):
    """Sum the counts of a square."""
    first = center - np.uint64(radius) * (stride + np.uint64(1))
    total = 0
    for row in range(2 * radius + 1):
        for column in range(2 * radius + 1):
            total += cells[first + np.uint64(row) * stride + np.uint64(column)]
    return total


@njit
def _two_squares(cells, center, stride):
    """Sum the counts of 5x5 and of 3x3 pixels."""
    one, two = np.uint64(1), np.uint64(2)
    upper, lower = center - stride, center + stride
    near = (
        sum_three(cells, upper - one)
        + sum_three(cells, center - one)
        + sum_three(cells, lower - one)
    )
    sides = cells[upper - two] + cells[center - two] + cells[lower - two]
    sides += cells[upper + two] + cells[center + two] + cells[lower + two]
    ends = _five(cells, upper - stride - two) + _five(cells, lower + stride - two)
    return near + sides + ends, near


@njit
def sum_three(cells, first):
    """Return the sum of three adjacent cells."""
    return cells[first] + cells[first + np.uint64(1)] + cells[first + np.uint64(2)]


@njit
def _five(cells, first):
    return sum_three(cells, first) + cells[first + np.uint64(3)] + cells[first + np.uint64(4)]
