"""Slow and obvious version of the connected regions of cells."""

import numpy as np


def connected_regions(occupied):
    """Return the region of every cell, in order of their first cells; -1 for empty ones."""
    region = np.where(occupied, np.arange(occupied.size).reshape(occupied.shape), -1)
    while True:
        before = region.copy()
        for r, c in np.argwhere(occupied):
            around = region[max(r - 1, 0) : r + 2, max(c - 1, 0) : c + 2]
            region[r, c] = around[around >= 0].min()
        if (before == region).all():
            break
    for number, first in enumerate(np.unique(region[region >= 0])):
        region[region == first] = number
    return region
