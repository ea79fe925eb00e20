"""Connected regions of cells."""

import numpy as np

from evcrisp.kernels.compile import njit


@njit
def connected_regions(occupied, region):
    """Count and number the regions of occupied cells that touch, also at corners; return their count.

    occupied : (rows, columns) bool      region : (rows, columns) int32, filled; -1 for empty cells
    """
    rows, columns = occupied.shape
    region[:] = -1
    stack = np.empty((rows * columns, 2), np.int64)
    n_regions = 0
    for r in range(rows):
        for c in range(columns):
            if not occupied[r, c] or region[r, c] >= 0:
                continue
            stack[0, 0], stack[0, 1] = r, c
            region[r, c] = n_regions
            n_left = 1
            while n_left > 0:
                n_left -= 1
                y, x = stack[n_left, 0], stack[n_left, 1]
                for j in range(max(y - 1, 0), min(y + 2, rows)):
                    for i in range(max(x - 1, 0), min(x + 2, columns)):
                        if occupied[j, i] and region[j, i] < 0:
                            region[j, i] = n_regions
                            stack[n_left, 0], stack[n_left, 1] = j, i
                            n_left += 1
            n_regions += 1
    return n_regions
