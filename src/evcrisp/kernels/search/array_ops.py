"""Operations on columns of numbers: conversion, limits, counts, order, thinning, selection."""

import math

import numpy as np

from evcrisp.kernels.compile import fused, njit, unchecked


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
def count_at_ends(values, dt, middle, low, high):
    """Count values below low, and values above high, each before a time and not before it.

    values, dt : (n,) float64
    """
    first_early = first_late = last_early = last_late = 0
    for k in range(values.size):
        is_first, is_last, is_early = values[k] < low, values[k] > high, dt[k] < middle
        first_early += is_first & is_early
        first_late += is_first & (not is_early)
        last_early += is_last & is_early
        last_late += is_last & (not is_early)
    return (first_early, first_late), (last_early, last_late)


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
def _product(value, factor):
    """Multiply modulo 2^32. In 64 bits, so that plain NumPy has no overflow to warn of."""
    return np.uint32((np.uint64(value) * np.uint64(factor)) & np.uint64(0xFFFFFFFF))


@njit
def _mixed(value):
    """Scramble the bits of a 32-bit number."""
    value = _product(value ^ (value >> np.uint32(16)), 0x7FEB352D)
    value = _product(value ^ (value >> np.uint32(15)), 0x846CA68B)
    return np.uint32(value ^ (value >> np.uint32(16)))


@njit
def _spread(value):
    """Scramble a small whole number, so that sums of two are mostly different."""
    value = _product(value, 0x9E3779B1)
    return np.uint32(value ^ (value >> np.uint32(15)))


@unchecked
def thin(x, y, dt, center, unit, salt, limit, keep):
    """Mark a share of the events, selected by their distances from a center in space and time.

    Neither the order of the events nor their direction from the center matters, nor which axis is x.

    x, y, dt : (n,) float64      center : (3,) float64, x, y and dt      salt : int64, below 2^32
    unit : (3,) float64, whole numbers per unit of x, y and dt
    limit : int64, share of the events times 2^32      keep : (n,) bool, filled
    """
    start = np.uint32(salt)
    for k in range(keep.size):
        keep[k] = _rank(x[k], y[k], dt[k], center, unit, start) < limit


@njit
def _rank(x, y, dt, center, unit, start):
    """Return a number of 32 bits that looks random, from distances to a center."""
    across = np.uint32(np.int32(abs(x - center[0]) * unit[0] + 0.5))
    down = np.uint32(np.int32(abs(y - center[1]) * unit[1] + 0.5))
    when = np.uint32(np.int64(abs(dt - center[2]) * unit[2] + 0.5))
    places = np.uint64(_spread(across ^ start)) + np.uint64(_spread(down ^ start))
    where = np.uint32(places & np.uint64(0xFFFFFFFF))
    return _mixed(where ^ _product(when, 0x85EBCA6B))


@unchecked
def rank_by_place(x, y, dt, center, unit, salt, rank):
    """Give events numbers that look random, by their distances from a center; see `thin`.

    x, y : (n,) numbers      rank : (n,) uint32, filled; the k-th part of the numbers are below 2^32 / k
    """
    start = np.uint32(salt)
    for k in range(rank.size):
        rank[k] = _rank(np.float64(x[k]), np.float64(y[k]), dt[k], center, unit, start)


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
