"""The slow and obvious versions of the filters of cameras and their software, for tests."""

import math
from collections import defaultdict

import numpy as np

from evcrisp.kernels.filters.hashheat import MIX_FIRST, MIX_LAST


def second_of_burst(events, tau_us, cut_trail):
    """Events of which the one before, at the same pixel, has their polarity and is recent."""
    signal = np.zeros(len(events), bool)
    bursts = defaultdict(list)  # times of the current burst of a pixel, and its polarity
    passed = defaultdict(bool)  # whether an event of that burst was kept
    for k, (x, y, t, p) in enumerate(rows(events)):
        polarity, times = bursts[x, y] or (None, [])
        if polarity == p:
            signal[k] = t - times[-1] <= tau_us and not (cut_trail and passed[x, y])
            passed[x, y] = passed[x, y] or signal[k]
            times.append(t)
        else:
            bursts[x, y] = [p, [t]]
            passed[x, y] = False
    return signal


def first_of_burst(events, tau_us):
    """Events without one of their polarity directly before them, at their pixel, within a time."""
    signal = np.ones(len(events), bool)
    last = {}
    for k, (x, y, t, p) in enumerate(rows(events)):
        if (x, y) in last:
            before, polarity = last[x, y]
            signal[k] = polarity != p or t - before >= tau_us
        last[x, y] = t, p
    return signal


def fast_decay(events, cell_px, half_life_us):
    """Sum over the earlier events of the cell of two to the minus age, in double precision."""
    cells = defaultdict(list)
    level = np.empty(len(events))
    for k, (x, y, t, _) in enumerate(rows(events)):
        times = cells[x // cell_px, y // cell_px]
        times.append(t)
        level[k] = sum(2.0 ** (-(t - before) / half_life_us) for before in times)
    return level


def hash_heat(events, planes, n_counters, window, clear, change, cold, warm):
    """Second lowest counter of each event, over the threshold at that time plus one."""
    heat = defaultdict(int)
    signal, score = np.empty(len(events), bool), np.empty(len(events))
    start = None
    for k, (x, y, t, _) in enumerate(rows(events)):
        if start is None or (clear and k % window == 0):
            start = t
        bins = []
        for i, plane in enumerate(planes):
            key = i
            for a, b, c, d in plane:
                piece = math.floor(a * x + b * y + (c * (t - start) + d))
                key = (key * MIX_FIRST + piece) % 2**32
            bins.append((key * MIX_LAST % 2**32 >> 15) % n_counters)
        second = sorted(heat[place] for place in bins)[1]
        threshold = cold if k % window + 1 < change else warm
        signal[k] = second > threshold
        score[k] = second / (second + threshold + 1)
        for place in bins:
            heat[place] += 1 + int(signal[k])
        if k % window == window - 1:
            heat = defaultdict(int, {} if clear else {a: n // 2 for a, n in heat.items()})
    return signal, score


def rows(events):
    """Yield x, y, t, p of each event as plain integers."""
    columns = (events.x, events.y, events.t, events.p)
    yield from zip(*(column.astype(int).tolist() for column in columns), strict=True)
