"""Operations on columns of numbers: conversion, limits, counts, order, subsample, selection."""

import math

import numpy as np

from evcrisp.kernels.compile import fused, njit

#: Golden ratio: the fractions of its multiples are evenly distributed (Weyl sequence).
WEYL = 0.6180339887498949


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
    """Convert dt : (n,) float64, s, to multiples of the window duration, s; fill out : (n,)."""
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


@njit
def subsample(x, y, dt, interval, out_x, out_y, out_dt):
    """Copy one event of every interval of events, at varying positions within it.

    x, y, dt : (n,) float64      out_x, out_y, out_dt : (n // interval,) float64, overwritten
    """
    for i in range(out_x.size):
        phase = i * WEYL
        k = i * interval + int((phase - int(phase)) * interval)
        out_x[i] = x[k]
        out_y[i] = y[k]
        out_dt[i] = dt[k]


@njit
def select(x, y, dt, keep, out_x, out_y, out_dt):
    """Copy the events to keep, without a branch, which would be unpredictable.

    x, y, dt : (n,) float64      keep : (n,) bool
    out_x, out_y, out_dt : (m + 1,) float64, m = sum of keep, filled; the last entry is arbitrary
    """
    n_kept = 0
    for k in range(x.size):
        out_x[n_kept] = x[k]
        out_y[n_kept] = y[k]
        out_dt[n_kept] = dt[k]
        n_kept += keep[k]
