"""Slow version of the kernel of hashheat."""

import math
from collections import defaultdict

import numpy as np
from tests.oracles.filters.event_rows import event_rows

from evcrisp.kernels.filters.density.hashheat import MIX_FIRST, MIX_LAST


def hash_heat(events, planes, n_counters, window, clear, change, cold, warm):
    """Compare the second lowest counter of each event with the threshold."""
    heat = defaultdict(int)
    signal, score = np.empty(len(events), bool), np.empty(len(events))
    start = None
    for k, (x, y, t, _) in enumerate(event_rows(events)):
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
