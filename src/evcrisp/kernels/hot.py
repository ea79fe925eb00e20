"""Find pixels that fire absurdly often."""

from evcrisp.kernels import njit


@njit
def count_pixels(x, y, counts):
    """Count the events of every pixel.

    x, y : (n,) uint16      counts : (h, w) int64, added to
    """
    for k in range(x.size):
        counts[y[k], x[k]] += 1


@njit
def mark_hot(x, y, counts, least, factor, verdict, out):
    """Mark the events of pixels with more than least + factor * (mean of the pixels around) events.

    Around are the others within two pixels.
    x, y : (n,) uint16      counts : (h, w) int64      verdict : (h, w) uint8, zeros
    out : (n,) bool, filled; True = hot
    """
    height, width = counts.shape
    for k in range(x.size):
        row, column = int(y[k]), int(x[k])
        own = counts[row, column]
        if own > least and verdict[row, column] == 0:
            total = 0
            n_pixels = 0
            for r in range(max(row - 2, 0), min(row + 3, height)):
                for c in range(max(column - 2, 0), min(column + 3, width)):
                    total += counts[r, c]
                    n_pixels += 1
            around = (total - own) / max(n_pixels - 1, 1)
            verdict[row, column] = 2 if own > least + factor * around else 1
        out[k] = verdict[row, column] == 2
