"""Slow versions of the kernels of red."""

import numpy as np
from tests.oracles.filters.event_rows import event_rows


def filter_row(row, inputs, outputs, *, forward):
    """Filter one row recursively with factors of inputs and of outputs."""
    row = row if forward else row[::-1]
    lag = 0 if forward else 1
    out = np.zeros(row.size)
    for i in range(row.size):
        for j in range(4):
            if i - j - lag >= 0:
                out[i] += inputs[j] * row[i - j - lag]
            if i - j - 1 >= 0:
                out[i] -= outputs[j] * out[i - j - 1]
    return out if forward else out[::-1]


def blur(image, down, up, recursion):
    """Blur rows, then columns."""

    def both(row):
        downward = filter_row(row, down, recursion, forward=True)
        return downward + filter_row(row, up, recursion, forward=False)

    return np.apply_along_axis(both, 0, np.apply_along_axis(both, 1, image.astype(np.float64)))


def red_labels(events, period_us, transition, entry, output, blurred):
    """Return the density at each event as a weighted sum over all previous periods."""
    width, height = events.resolution
    start = int(events.t[0])
    periods = [(t - start) // period_us for t in events.t.tolist()]
    counts = {}
    score = np.empty(len(events))
    for k, (x, y, _, _) in enumerate(event_rows(events)):
        now = periods[k]
        counts.setdefault(now, np.zeros((height, width)))[y, x] += 1
        past = np.zeros((height, width))
        for period, count in counts.items():
            if period < now:
                bump = np.linalg.matrix_power(transition, now - period - 1) @ entry
                past += (output @ bump) * count
        score[k] = blurred(past)[y, x] + counts[now][y, x]
    return score
