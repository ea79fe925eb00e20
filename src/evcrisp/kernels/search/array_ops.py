"""Operations on columns of numbers: conversion, limits, counts, order."""

import math

import numpy as np

from evcrisp.kernels.compile import fused, njit


@fused
def to_floats(x, y, t, t_ref, out_x, out_y, out_dt):
    """Convert pixels to floats, and time to seconds since t_ref, subtracted as integers.

    x, y : (n,) uint16      t : (n,) int64, us      t_ref : int64, us
    out_x, out_y, out_dt : (n,) float64, filled
    """
    for k in range(t.size):
        out_x[k] = x[k]
        out_y[k] = y[k]
        out_dt[k] = (t[k] - t_ref) / 1e6


@fused
def in_windows(dt, duration, out):
    """Convert seconds to multiples of the window duration.

    dt : (n,) float64, s      duration : float64, s, above 0      out : (n,) floats, filled
    """
    for k in range(dt.size):
        out[k] = dt[k] / duration


@fused
def limits_of(values):
    """Return the limits of values, shape (n,); NaN if one is not finite."""
    low, high, total = math.inf, -math.inf, 0.0
    for k in range(values.size):
        low, high = min(low, values[k]), max(high, values[k])
        total += values[k]
    return (low, high) if math.isfinite(total) else (math.nan, math.nan)


@fused
def count_at_ends(values, low, high):
    """Count values below low, and values of at least high; values : (n,) float64."""
    first = last = 0
    for k in range(values.size):
        first += values[k] < low
        last += values[k] >= high
    return first, last


@njit
def stable_order(keys, n_keys, order):
    """Fill order with the stable sort order of small integers, by a counting sort.

    keys : (n,) integers, 0 to n_keys - 1      n_keys : int64      order : (n,) integers
    """
    start = np.zeros(n_keys + 1, np.int64)
    for k in range(keys.size):
        start[keys[k] + 1] += 1
    for key in range(n_keys):
        start[key + 1] += start[key]
    for k in range(keys.size):
        order[start[keys[k]]] = k
        start[keys[k]] += 1
