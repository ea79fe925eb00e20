"""Find pixels that fire absurdly often."""

from evcrisp.kernels import njit


@njit
def count_pixels(x, y, counts):
    """Count the events of every pixel.

    x, y : (n,) uint16      counts : (h, w) int64 or float64, added to
    """
    for k in range(x.size):
        counts[y[k], x[k]] += 1


@njit
def mark_hot(x, y, counts, least, factor, verdict, out):
    """Mark the events of pixels with more than least + factor * (mean of the pixels around) events.

    Around are the others within two pixels.
    x, y : (n,) uint16      counts : (h, w) int64 or float64      verdict : (h, w) uint8, zeros
    out : (n,) bool, filled; True = hot
    """
    for k in range(x.size):
        row, column = int(y[k]), int(x[k])
        if counts[row, column] > least and verdict[row, column] == 0:
            is_hot = _stands_out(counts, row, column, least, factor)
            verdict[row, column] = 2 if is_hot else 1
        out[k] = verdict[row, column] == 2


@njit
def _stands_out(counts, row, column, least, factor):
    """Tell whether a pixel counts more than least + factor * (mean of the others within 2 pixels)."""
    height, width = counts.shape
    own = counts[row, column]
    # The mean is over 24 pixels at most, so four of them bound it from below: mostly that decides.
    nearest = 0.0
    if row > 0:
        nearest += counts[row - 1, column]
    if row < height - 1:
        nearest += counts[row + 1, column]
    if column > 0:
        nearest += counts[row, column - 1]
    if column < width - 1:
        nearest += counts[row, column + 1]
    if own <= least + factor * nearest / 24.0:
        return False
    total = 0.0
    n_pixels = 0
    for r in range(max(row - 2, 0), min(row + 3, height)):
        for c in range(max(column - 2, 0), min(column + 3, width)):
            total += counts[r, c]
            n_pixels += 1
    return own > least + factor * (total - own) / max(n_pixels - 1, 1)
