"""Find pixels that fire absurdly often."""

import numpy as np

from evcrisp.kernels import njit, summing


@njit
def count_pixels(x, y, counts):
    """Count the events of every pixel.

    x, y : (n,) uint16      counts : (h, w) integers or floats, added to
    """
    for k in range(x.size):
        counts[y[k], x[k]] += 1


@summing
def find_hot(counts, least, factor, hot):
    """Find the pixels with more than least + factor * (mean of the pixels around) events.

    Around are the others within two pixels.
    counts : (h, w) float32      hot : (h, w) bool, filled: whether a pixel is hot
    Returns whether there is any.
    """
    height, width = counts.shape
    # Two more columns on either side, of zeros.
    column_sums = np.zeros(width + 4, np.float32)
    n_columns = np.empty(width, np.float32)
    for column in range(width):
        n_columns[column] = min(column + 3, width) - max(column - 2, 0)
    n_hot = 0
    for row in range(height):
        first, stop = max(row - 2, 0), min(row + 3, height)
        column_sums[:] = np.float32(0.0)
        for r in range(first, stop):
            for column in range(width):
                column_sums[column + 2] += counts[r, column]
        n_hot += _find_in_row(
            counts[row], column_sums, n_columns, stop - first, least, factor, hot[row]
        )
    return n_hot > 0


@summing
def _find_in_row(counts, column_sums, n_columns, n_rows, least, factor, hot):
    """Find the hot pixels of a row, and count them; a loop for many pixels at a time."""
    n_hot = 0
    for column in range(counts.size):
        total = column_sums[column] + column_sums[column + 1] + column_sums[column + 2]
        total += column_sums[column + 3] + column_sums[column + 4]
        own = counts[column]
        others = max(n_columns[column] * np.float32(n_rows) - np.float32(1.0), np.float32(1.0))
        is_hot = (own - np.float32(least)) * others > np.float32(factor) * (total - own)
        hot[column] = is_hot
        n_hot += is_hot
    return n_hot


@njit
def mark(x, y, hot, out):
    """Mark the events of hot pixels.

    x, y : (n,) uint16      hot : (h, w) bool      out : (n,) bool, filled
    """
    for k in range(x.size):
        out[k] = hot[y[k], x[k]]
