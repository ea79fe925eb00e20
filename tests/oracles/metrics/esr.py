"""Slow versions of the kernels of event structural ratios."""

import numpy as np


def count_padded(x, y, counts):
    """Count the events of every pixel, in an image with a border of one pixel."""
    np.add.at(counts, (y.astype(np.int64) + 1, x.astype(np.int64) + 1), 1)


def sum_counts(counts, reached):
    """Return sum n (n - 1), sum reached[n], and the number of pixels with events."""
    n = counts[1:-1, 1:-1].astype(np.int64)
    spread = reached[np.minimum(n, reached.size - 1)].sum()
    return (n * (n - 1)).sum(), spread, (n > 0).sum()


def sum_medians(counts, reached):
    """Return sum m^2 and sum reached[m] over the 3 x 3 medians m of the counts."""
    m = _medians(counts)
    return (m**2).sum(), reached[np.minimum(m, reached.size - 1).astype(int)].sum()


def structural_ratios(x, y, resolution):
    """Return ESR, its two factors, occupied pixels, and version 2, by their definitions."""
    width, height = resolution
    padded = np.zeros((height + 2, width + 2), np.int64)
    count_padded(x, y, padded)
    counts, n = padded[1:-1, 1:-1], x.size
    kept = (2 * n // 3) / n
    ntss = (counts * (counts - 1)).sum() / (n * (n - 1)) if n > 1 else 0.0
    l_n = counts.size - ((1.0 - kept) ** counts).sum()
    medians = _medians(padded)
    reached = (counts.size - (0.5**medians).sum()) / counts.size
    second = 1000.0 * np.sqrt((medians**2).sum() / n**2 * reached)
    return np.sqrt(ntss * l_n), ntss, l_n, (counts > 0).sum(), second


def _medians(padded):
    height, width = padded.shape
    return np.array(
        [
            [np.median(padded[r : r + 3, c : c + 3]) for c in range(width - 2)]
            for r in range(height - 2)
        ]
    )
