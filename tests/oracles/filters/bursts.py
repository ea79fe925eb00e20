"""Slow versions of the kernels of stc and trail."""

from collections import defaultdict

import numpy as np
from tests.oracles.filters.event_rows import event_rows


def second_of_burst(events, tau_us, cut_trail):
    """Keep events with a recent previous event of the same pixel and polarity."""
    signal = np.zeros(len(events), bool)
    bursts = defaultdict(list)  # times of the current burst of a pixel, and its polarity
    passed = defaultdict(bool)  # whether an event of that burst was kept
    for k, (x, y, t, p) in enumerate(event_rows(events)):
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
    """Keep events without a recent previous event of the same pixel and polarity."""
    signal = np.ones(len(events), bool)
    last = {}
    for k, (x, y, t, p) in enumerate(event_rows(events)):
        if (x, y) in last:
            before, polarity = last[x, y]
            signal[k] = polarity != p or t - before >= tau_us
        last[x, y] = t, p
    return signal
