"""Iterated conditional modes (ICM) on cells of space and time."""

import numpy as np

from evcrisp.kernels.compile import njit

#: Weights of neighbors, one over distance, by the number of axes along which they differ.
WEIGHTS = (0.0, 1.0, 0.5**0.5, 3.0**-0.5)

#: Sum of the weights of all 26 neighbors.
ALL_AROUND = 6 * WEIGHTS[1] + 12 * WEIGHTS[2] + 8 * WEIGHTS[3]


@njit
def icm_sweep(x, y, earlier, same, later, data, coupling, kept, gain):
    """Keep each event of a time slice if that reduces the energy.

    earlier, same, later : (h + 2, w + 2) uint8, 1 in cells with kept events, of three slices
    kept : (h + 2, w + 2) uint8, of this slice, filled in cells with events
    gain : (n,) float64, filled; half of the energy that dropping the cell adds
    """
    for k in range(x.size):
        c, r = np.int64(x[k]), np.int64(y[k])
        around = 0.0
        for i in range(3):
            for j in range(3):
                axes = (i != 1) + (j != 1)
                around += WEIGHTS[axes] * same[r + i, c + j]
                around += WEIGHTS[axes + 1] * earlier[r + i, c + j]
                around += WEIGHTS[axes + 1] * later[r + i, c + j]
        gain[k] = data + coupling * (2.0 * around - ALL_AROUND)
        kept[r + 1, c + 1] = gain[k] >= 0.0
