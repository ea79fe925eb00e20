"""Event counters that are addressed by hashes of random projections."""

import numpy as np

from evcrisp.kernels.compile import njit

#: Odd multipliers that distribute keys over the counters.
MIX_FIRST, MIX_LAST = 0x9E3779B1, 0x85EBCA6B

_BLOCK = 256
_HALF = 2.0**31


@njit
def _find_counters(x, y, t, start, planes, mask, since, place):
    """Write the counter of each hash and event to `place`, (hashes, >= n) uint32, vectorized."""
    for k in range(t.size):
        since[k] = np.float64(t[k] - start)
    for i in range(planes.shape[0]):
        row = place[i]
        for k in range(t.size):
            row[k] = i
        for j in range(planes.shape[1]):
            a, b, c, d = planes[i, j, 0], planes[i, j, 1], planes[i, j, 2], planes[i, j, 3]
            for k in range(t.size):
                piece = np.floor(a * np.int32(x[k]) + b * np.int32(y[k]) + (c * since[k] + d))
                piece -= np.floor(piece * (0.5 / _HALF) + 0.5) * (2.0 * _HALF)  # fits 32 bits
                row[k] = np.uint32(row[k] * np.uint32(MIX_FIRST)) + np.uint32(np.int32(piece))
        for k in range(t.size):
            row[k] = (np.uint32(row[k] * np.uint32(MIX_LAST)) >> np.uint32(15)) & mask


@njit
def _count(place, heat, threshold, signal, score):
    """Label events by their counters, and increment these."""
    hashes = place.shape[0]
    for k in range(signal.size):
        lowest = second = np.int64(2**31)
        for i in range(hashes):
            count = np.int64(heat[place[i, k]])
            higher = lowest if lowest > count else count
            second = second if second < higher else higher
            lowest = lowest if lowest < count else count
        kept = second > threshold
        signal[k] = kept
        score[k] = second / (second + threshold + 1.0)
        step = np.int32(1) + np.int32(kept)
        for i in range(hashes):
            heat[place[i, k]] += step


@njit
def _halve(heat):
    for i in range(heat.size):
        heat[i] = np.uint32(heat[i]) >> np.uint32(1)  # an unsigned shift vectorizes


@njit
def hash_heat(x, y, t, planes, heat, state, window, clear, change, cold, warm, signal, score):
    """Keep events with at most one counter up to a threshold; kept events count twice.

    planes : (hashes, m, 4) float64, factors of x, y, time since the start and 1
    heat : (2**k,) int32, counters
    state : (3,) int64, events in the window so far, time of the start, and 1 if it is set
    clear : reset counters and start every `window` events; otherwise halve the counters
    cold, warm : int64, thresholds before and from the event number `change` of a window
    score : at least 0.5 for kept events
    """
    place = np.empty((planes.shape[0], _BLOCK), np.uint32)
    since = np.empty(_BLOCK)
    k = 0
    while k < t.size:
        if state[2] == 0:
            state[1], state[2] = t[k], 1
        seen = state[0]
        is_cold = seen + 1 < change
        stop = min(k + _BLOCK, t.size, k + (min(change - 1, window) if is_cold else window) - seen)
        mask = np.uint32(heat.size - 1)
        _find_counters(x[k:stop], y[k:stop], t[k:stop], state[1], planes, mask, since, place)
        _count(place, heat, cold if is_cold else warm, signal[k:stop], score[k:stop])
        state[0] += stop - k
        k = stop
        if state[0] >= window:
            state[0] = 0
            if clear:
                state[2] = 0
                heat[:] = 0
            else:
                _halve(heat)
