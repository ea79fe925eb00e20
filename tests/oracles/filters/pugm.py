"""Slow version of the kernel of pugm."""

import numpy as np
from tests.oracles.filters.event_rows import event_rows

from evcrisp.kernels.filters.density.pugm import ALL_AROUND, WEIGHTS


def icm_sweep(events, bin_us, sweeps, data, coupling, same_polarity):
    """Return the gain of each event in the last sweep over a dictionary of cells."""
    start = int(events.t[0])
    cells = [
        (x, y, (t - start) // bin_us, p if same_polarity else 0)
        for x, y, t, p in event_rows(events)
    ]
    kept = set(cells)
    steps = (-1, 0, 1)
    for _ in range(sweeps):
        gain = {}
        for x, y, b, p in set(cells):
            around = sum(
                WEIGHTS[abs(i) + abs(j) + abs(k)]
                for i in steps for j in steps for k in steps
                if (x + i, y + j, b + k, p) in kept
            )  # fmt: skip
            gain[x, y, b, p] = data + coupling * (2 * around - ALL_AROUND)
        kept = {cell for cell, value in gain.items() if value >= 0}
    return np.array([gain[cell] for cell in cells])
