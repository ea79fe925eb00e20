"""The slow and obvious versions of the filters that look far or ahead, for tests."""

import math

import numpy as np
from tests.oracles.filters.bursts import rows

from evcrisp.kernels.filters.pugm import ALL_AROUND, WEIGHTS


def burst_gaps(events, tau_us, radius):
    """Return surface, gap before and gap after, by looking at all events; infinite gaps if none."""
    n = len(events)
    surface, before, after = np.zeros(n), np.full(n, np.inf), np.full(n, np.inf)
    seen = list(rows(events))
    for k, (x, y, t, p) in enumerate(seen):
        last = {}  # by pixel
        for i, (other_x, other_y, other_t, other_p) in enumerate(seen[:k]):
            if other_p == p and abs(other_x - x) <= radius and abs(other_y - y) <= radius:
                last[other_x, other_y] = i, other_t
        if last:
            surface[k] = np.mean([math.exp(-(t - other) / tau_us) for _, other in last.values()])
        if (x, y) in last:
            i, other = last[x, y]
            before[k] = after[i] = t - other
    return surface, before, after


def icm_gain(events, bin_us, sweeps, data, coupling, same_polarity):
    """Return the gain of each event in the last sweep over a dictionary of cells."""
    start = int(events.t[0])
    cells = [
        (x, y, (t - start) // bin_us, p if same_polarity else 0) for x, y, t, p in rows(events)
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


def crowd(events, radius, tau_us, same_pixel, same_polarity):
    """Return how many events are close to each, and the highest such number among those close."""
    x, y, t = (np.asarray(column, np.int64) for column in (events.x, events.y, events.t))
    dx, dy, dt = (np.subtract.outer(column, column) for column in (x, y, t))
    distance = (dx**2 + dy**2) * tau_us**2 + dt**2 * radius**2
    is_close = distance <= radius**2 * tau_us**2
    if not same_pixel:
        is_close &= (dx != 0) | (dy != 0)
    if same_polarity:
        is_close &= np.equal.outer(events.p, events.p)
    np.fill_diagonal(is_close, False)
    count = is_close.sum(axis=1)
    np.fill_diagonal(is_close, True)
    return count, np.where(is_close, count, 0).max(axis=1)


def recursive(row, fed, kept, *, forward):
    """Filter one row with factors of inputs and of outputs, one number after the other."""
    row = row if forward else row[::-1]
    lag = 0 if forward else 1
    out = np.zeros(row.size)
    for i in range(row.size):
        for j in range(4):
            if i - j - lag >= 0:
                out[i] += fed[j] * row[i - j - lag]
            if i - j - 1 >= 0:
                out[i] -= kept[j] * out[i - j - 1]
    return out if forward else out[::-1]


def blur(image, down, up, recursion):
    """Blur rows, then columns."""

    def both(row):
        there = recursive(row, down, recursion, forward=True)
        return there + recursive(row, up, recursion, forward=False)

    return np.apply_along_axis(both, 0, np.apply_along_axis(both, 1, image.astype(np.float64)))


def density(events, period_us, transition, entry, output, blurred):
    """Return the density at each event from the counts of all periods before, each with its weight."""
    width, height = events.resolution
    start = int(events.t[0])
    periods = [(t - start) // period_us for t in events.t.tolist()]
    counts = {}
    score = np.empty(len(events))
    for k, (x, y, _, _) in enumerate(rows(events)):
        now = periods[k]
        counts.setdefault(now, np.zeros((height, width)))[y, x] += 1
        past = np.zeros((height, width))
        for period, count in counts.items():
            if period < now:
                bump = np.linalg.matrix_power(transition, now - period - 1) @ entry
                past += (output @ bump) * count
        score[k] = blurred(past)[y, x] + counts[now][y, x]
    return score
