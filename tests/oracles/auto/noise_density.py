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
