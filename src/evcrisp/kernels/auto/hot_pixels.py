"""Find hot pixels: far more events than their neighbors."""

import numpy as np

from evcrisp.kernels.compile import njit, summing


@njit
def count_pixels(x, y, counts):
    """Add the events x, y : (n,) uint16 of every pixel to counts : (h, w) integers or floats."""
    for k in range(x.size):
        counts[y[k], x[k]] += 1


@summing
def find_hot(counts, least, factor, hot):
    """Find pixels with more than least + factor * (mean of others within two pixels) events.

    counts : (h, w) float32      hot : (h, w) bool, filled. Returns whether there is any.
    """
    height, width = counts.shape
    # Two more columns on either side, of zeros.
    column_sums, empty = np.zeros(width + 4, np.float32), np.zeros(width, np.float32)
    n_around = np.empty(width, np.float32)
    n_hot = n_rows = 0
    for row in range(height):
        first, stop = max(row - 2, 0), min(row + 3, height)
        if stop - first != n_rows:
            n_rows = stop - first
            for column in range(width):
                n_columns = min(column + 3, width) - max(column - 2, 0)
                n_around[column] = max(n_columns * n_rows - 1, 1)
        _add_rows(
            counts[row - 2] if row > 1 else empty,
            counts[row - 1] if row > 0 else empty,
            counts[row],
            counts[row + 1] if row < height - 1 else empty,
            counts[row + 2] if row < height - 2 else empty,
            column_sums[2 : width + 2],
        )
        n_hot += _find_in_row(counts[row], column_sums, n_around, least, factor, hot[row])
    return n_hot > 0


@summing
def _add_rows(a, b, c, d, e, out):
    """Add five rows; a loop that vectorizes."""
    for column in range(out.size):
        out[column] = (a[column] + b[column]) + (c[column] + d[column]) + e[column]


@summing
def _find_in_row(counts, column_sums, n_around, least, factor, hot):
    """Find and count the hot pixels of a row; a loop that vectorizes."""
    n_hot = 0
    for column in range(counts.size):
        total = column_sums[column] + column_sums[column + 1] + column_sums[column + 2]
        total += column_sums[column + 3] + column_sums[column + 4]
        own = counts[column]
        is_hot = (own - np.float32(least)) * n_around[column] > np.float32(factor) * (total - own)
        hot[column] = is_hot
        n_hot += is_hot
    return n_hot


@njit
def mark_events(x, y, hot, out):
    """Mark the events x, y : (n,) uint16 at pixels hot : (h, w) bool; fill out : (n,) bool."""
    for k in range(x.size):
        out[k] = hot[y[k], x[k]]
