"""Find pixels that fire absurdly often."""

import numpy as np

from evcrisp.kernels import njit


@njit
def count_pixels(x, y, counts):
    """Count the events of every pixel.

    x, y : (n,) uint16      counts : (h, w) integers or float64, added to
    """
    for k in range(x.size):
        counts[y[k], x[k]] += 1


@njit
def find_hot(counts, least, factor, hot):
    """Find the pixels with more than least + factor * (mean of the pixels around) events.

    Around are the others within two pixels.
    counts : (h, w) int32 or float64      hot : (h, w) bool, False; True where a pixel is hot
    Returns whether there is any.
    """
    found = False
    none = np.zeros(counts.shape[1], counts.dtype)
    for row in range(counts.shape[0]):
        above = counts[row - 1] if row > 0 else none
        below = counts[row + 1] if row + 1 < counts.shape[0] else none
        for column in range(counts.shape[1]):
            # The mean is over 24 pixels at most, so two of them bound it from below: mostly that decides.
            bound = least + factor / 24.0 * (above[column] + below[column])
            if counts[row, column] > bound and _stands_out(counts, row, column, least, factor):
                hot[row, column] = True
                found = True
    return found


@njit
def mark(x, y, hot, out):
    """Mark the events of hot pixels.

    x, y : (n,) uint16      hot : (h, w) bool      out : (n,) bool, filled
    """
    for k in range(x.size):
        out[k] = hot[y[k], x[k]]


@njit
def _stands_out(counts, row, column, least, factor):
    """Tell whether a pixel counts more than least + factor * (mean of the others within 2 pixels)."""
    height, width = counts.shape
    own = counts[row, column]
    sides = 0.0
    if column > 0:
        sides += counts[row, column - 1]
    if column < width - 1:
        sides += counts[row, column + 1]
    if own <= least + factor * sides / 24.0:
        return False
    total = 0.0
    n_pixels = 0
    for r in range(max(row - 2, 0), min(row + 3, height)):
        for c in range(max(column - 2, 0), min(column + 3, width)):
            total += counts[r, c]
            n_pixels += 1
    return own > least + factor * (total - own) / max(n_pixels - 1, 1)
