"""Slow and obvious version of the density of noise between tiles."""

import numpy as np


def density_at(x, y, box, tiles):
    """Interpolate along rows, then along columns, at one position."""
    left, top, width, height = box
    rows, columns = tiles.shape
    middles_x = left - 0.5 + (np.arange(columns) + 0.5) * width / columns
    middles_y = top - 0.5 + (np.arange(rows) + 0.5) * height / rows
    lines = [np.interp(x, middles_x, row) for row in tiles]
    return np.interp(y, middles_y, lines)


def count_quiet_in_tiles(x, y, p, support, chosen, quiet, limit, corner, scale):
    """Find the tile of one point after the other, and count it if it is quiet."""
    rows, columns = limit.shape
    counts = np.zeros(limit.shape)
    for k in chosen:
        column = int(np.clip((x[k] - corner[0]) * scale[0], 0, columns - 1))
        row = int(np.clip((y[k] - corner[1]) * scale[1], 0, rows - 1))
        counts[row, column] += support[k] - quiet[int(p[k])] <= limit[row, column]
    return counts
