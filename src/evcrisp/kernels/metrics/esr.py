"""Sums over the counts of events per pixel, for event structural ratios."""

from evcrisp.kernels.compile import njit


@njit
def count_padded(x, y, counts):
    """Count the events of every pixel, in an image with a border of one pixel.

    x, y : (n,) uint16      counts : (h + 2, w + 2) int32, added to; the border stays 0
    """
    for k in range(x.size):
        counts[y[k] + 1, x[k] + 1] += 1


@njit
def sum_counts(counts, reached):
    """Return sum n (n - 1), sum reached[n], and the number of pixels with events.

    counts : (h + 2, w + 2) int32      reached : (m,) float64, the last entry holds for all larger counts
    """
    pairs = occupied = 0
    spread = 0.0
    top = reached.size - 1
    for r in range(1, counts.shape[0] - 1):
        row = counts[r]
        for c in range(1, counts.shape[1] - 1):
            n = int(row[c])
            if n > 0:
                pairs += n * (n - 1)
                spread += reached[min(n, top)]
                occupied += 1
    return pairs, spread, occupied


@njit
def sum_medians(counts, reached, lines):
    """Return sum m^2 and sum reached[m] over the 3 x 3 medians m (zeros outside).

    counts : (h + 2, w + 2) int32      reached : (m,) float64, as for `sum_counts`
    lines : (4, w + 2) int32, overwritten
    """
    squares = 0
    spread = 0.0
    top = reached.size - 1
    low, middle, high, median = lines[0], lines[1], lines[2], lines[3]
    for r in range(1, counts.shape[0] - 1):
        _sort_columns(counts[r - 1], counts[r], counts[r + 1], low, middle, high)
        _take_medians(low, middle, high, median)
        for c in range(1, counts.shape[1] - 1):
            m = int(median[c])
            if m > 0:
                squares += m * m
                spread += reached[min(m, top)]
    return squares, spread


# Loops over rows are separate functions, because the compiler vectorizes only those.


@njit
def _sort_columns(above, row, below, low, middle, high):
    for c in range(row.size):
        least = min(above[c], row[c])
        most = max(above[c], row[c])
        low[c] = min(least, below[c])
        high[c] = max(most, below[c])
        middle[c] = max(least, min(most, below[c]))


@njit
def _take_medians(low, middle, high, out):
    """Median of nine: of the largest low, the median middle and the smallest high."""
    for c in range(1, out.size - 1):
        a = max(low[c - 1], low[c], low[c + 1])
        b = min(high[c - 1], high[c], high[c + 1])
        least = min(middle[c - 1], middle[c])
        most = max(middle[c - 1], middle[c])
        m = max(least, min(most, middle[c + 1]))
        out[c] = max(min(a, b), min(max(a, b), m))
