"""Columns of events as numbers to compute with."""

import math

import numpy as np

from evcrisp.kernels.compile import fused, njit


@fused
def to_floats(x, y, t, t_ref, out_x, out_y, out_dt):
    """Convert pixels, and time to seconds since t_ref; the difference is taken before any float.

    x, y : (n,) uint16      t : (n,) int64, us      t_ref : int64, us
    out_x, out_y, out_dt : (n,) float64, filled
    """
    for k in range(t.size):
        out_x[k] = x[k]
        out_y[k] = y[k]
        out_dt[k] = (t[k] - t_ref) / 1e6


@fused
def in_windows(dt, duration, out):
    """Convert seconds to lengths of a window.

    dt : (n,) float64, s      duration : float64, s, above 0      out : (n,) floats, filled
    """
    for k in range(dt.size):
        out[k] = dt[k] / duration


@fused
def limits_of(values):
    """Return the lowest and the highest of some numbers, or NaN twice if one of them is none.

    values : (n,) float64
    """
    low, high, total = math.inf, -math.inf, 0.0
    for k in range(values.size):
        low, high = min(low, values[k]), max(high, values[k])
        total += values[k]
    return (low, high) if math.isfinite(total) else (math.nan, math.nan)


@fused
def count_at_ends(values, low, high):
    """Return how many numbers lie below low, and how many are high or more; NaN is neither.

    values : (n,) float64      low, high : float64
    """
    first = last = 0
    for k in range(values.size):
        first += values[k] < low
        last += values[k] >= high
    return first, last


@njit
def stable_order(keys, n_keys, order):
    """Find the order of events by small numbers, equal ones as they come: a counting sort.

    keys : (n,) whole numbers, 0 to n_keys - 1      n_keys : int64
    order : (n,) whole numbers, filled: which event comes next
    """
    place = np.zeros(n_keys + 1, np.int64)
    for k in range(keys.size):
        place[keys[k] + 1] += 1
    for key in range(n_keys):
        place[key + 1] += place[key]
    for k in range(keys.size):
        order[place[keys[k]]] = k
        place[keys[k]] += 1
