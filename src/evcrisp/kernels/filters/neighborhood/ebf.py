"""Sum of the linear weights of the last events around, of the polarity of the event.

The state has one signed time per pixel: positive after an ON event, negative after an OFF event, 0
if the pixel has not fired. Times start above tau, so that the limit of the ages is positive. One
maximum then drops events that are too old, events of the other polarity, and pixels that have not
fired: they all become the limit, whose weight is 0.
"""

from typing import NamedTuple

import numpy as np

from evcrisp.kernels.compile import comparing
from evcrisp.kernels.filters.neighborhood.recent_neighbors import larger


class Rule(NamedTuple):
    """Conditions for signal, and layout of the state."""

    radius: int  # px
    tau_us: int  # age at which the weight of an event is 0
    threshold: float  # score above which an event is signal
    origin_us: int  # time that is 0 in the state; more than tau before the first event
    stride: int  # pixels per row of the state


@comparing
def sum_five_by_five(x, y, t, p, times, rule, signal, score):
    """Label events as `sum_square` with a radius of 2, which is faster.

    The sums are exact for 11 years after the first event.
    """
    stride, tau = np.uint64(rule.stride), np.float64(rule.tau_us)
    for i in range(t.size):
        now = np.float64(t[i] - rule.origin_us)
        limit = now - tau
        sign = 2.0 * p[i] - 1.0
        first = np.uint64(y[i]) * stride + np.uint64(x[i])
        second = first + stride
        third = second + stride
        fourth = third + stride
        fifth = fourth + stride
        total = _row(times, first, sign, limit) + _row(times, second, sign, limit)
        total += _sides(times, third, sign, limit)
        total += _row(times, fourth, sign, limit) + _row(times, fifth, sign, limit)
        score[i] = (total - 24.0 * limit) / tau  # whole numbers: the score is rounded once
        signal[i] = score[i] > rule.threshold
        times[third + np.uint64(2)] = sign * now


@comparing
def sum_square(x, y, t, p, times, rule, signal, score):
    """Label events by the sum of 1 - age / tau over the pixels around, without their own.

    times : ((h + 2 r) * (w + 2 r),) float64, signed, us; the border stays 0
    rule : Rule      score : from 0 to the number of neighbors
    """
    stride, tau = np.uint64(rule.stride), np.float64(rule.tau_us)
    center = np.uint64(rule.radius) * (stride + np.uint64(1))
    for i in range(t.size):
        now = np.float64(t[i] - rule.origin_us)
        limit = now - tau
        sign = 2.0 * p[i] - 1.0
        row = np.uint64(y[i]) * stride + np.uint64(x[i])
        own = row + center
        total = -larger(sign * times[own] - limit, 0.0)
        for _ in range(2 * rule.radius + 1):
            for column in range(2 * rule.radius + 1):
                total += larger(sign * times[row + np.uint64(column)] - limit, 0.0)
            row += stride
        score[i] = total / tau
        signal[i] = score[i] > rule.threshold
        times[own] = sign * now


@comparing
def _row(times, first, sign, limit):
    """Return the sum of five adjacent times, each at least the limit."""
    return _sides(times, first, sign, limit) + larger(sign * times[first + np.uint64(2)], limit)


@comparing
def _sides(times, first, sign, limit):
    """Return the same without the third."""
    left = larger(sign * times[first], limit) + larger(sign * times[first + np.uint64(1)], limit)
    right = larger(sign * times[first + np.uint64(3)], limit)
    return left + (right + larger(sign * times[first + np.uint64(4)], limit))
