"""Slow and obvious versions of the video kernels."""

import numpy as np


def count_rounded(x, y, kind, keep, shape):
    """Return the number of kept events of both kinds at the nearest pixels, shape (2, h, w), at most 255."""
    counts = np.zeros((2, *shape), np.int64)
    for column, row, is_first, is_kept in zip(x, y, kind, keep, strict=True):
        if not (is_kept and np.isfinite(column) and np.isfinite(row)):
            continue
        c, r = int(np.floor(column + 0.5)), int(np.floor(row + 0.5))
        if 0 <= r < shape[0] and 0 <= c < shape[1]:
            counts[0 if is_first else 1, r, c] += 1
    return np.minimum(counts, 255).astype(np.uint8)


def paint_counts(first, second, levels, n_levels, base):
    """Return the palette indices of counts."""
    return (base + levels[first].astype(int) * n_levels + levels[second]).astype(np.uint8)


def fill_yuv(canvas, table):
    """Return luma, and both chroma averaged over squares of 2 by 2 pixels."""
    height, width = canvas.shape
    luma, u, v = (table[canvas, k].astype(int) for k in range(3))
    squares = (height // 2, 2, width // 2, 2)
    halves = [(plane.reshape(squares).sum(axis=(1, 3)) + 2) // 4 for plane in (u, v)]
    return luma.astype(np.uint8), *(half.astype(np.uint8) for half in halves)
