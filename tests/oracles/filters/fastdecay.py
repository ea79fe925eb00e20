"""Slow version of the kernel of fastdecay."""

from collections import defaultdict

import numpy as np
from tests.oracles.filters.event_rows import event_rows


def fast_decay(events, cell_px, half_life_us):
    """Return sums of 2 ** (-age / half-life) over the events of the cell, in double precision."""
    cells = defaultdict(list)
    level = np.empty(len(events))
    for k, (x, y, t, _) in enumerate(event_rows(events)):
        times = cells[x // cell_px, y // cell_px]
        times.append(t)
        level[k] = sum(2.0 ** (-(t - before) / half_life_us) for before in times)
    return level
