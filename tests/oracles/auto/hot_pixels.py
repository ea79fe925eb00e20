"""Oracle of the detection of hot pixels: every event with its own neighborhood."""

import numpy as np


def mark_events(x, y, shape, least, factor):
    """Return which events lie at pixels far above the mean of their 5 x 5 neighborhood."""
    counts = np.zeros(shape, int)
    np.add.at(counts, (y, x), 1)
    marked = []
    for column, row in zip(x.tolist(), y.tolist(), strict=True):
        patch = counts[max(row - 2, 0) : row + 3, max(column - 2, 0) : column + 3]
        around = (patch.sum() - counts[row, column]) / max(patch.size - 1, 1)
        marked.append(counts[row, column] > least + factor * around)
    return np.array(marked, bool)
