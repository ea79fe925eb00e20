"""Agreement of events with the latest event around them, to tell structure from noise."""

import numpy as np

from evcrisp.kernels.compile import njit


@njit
def count_agreement(x, y, p, chosen, width, height, counts):
    """Compare the polarity of chosen events with that of the latest event at the 8 pixels around.

    x, y : (n,) uint16, sorted by time      p : (n,) uint8      chosen : (n,) bool
    counts : (4,) int64, filled: chosen events with an event around, of these those of equal polarity,
        those that are ON, and those whose latest neighbor is ON
    """
    latest = np.full((height + 2, width + 2), -1, np.int32)
    counts[:] = 0
    for k in range(x.size):
        row, column = np.int64(y[k]) + 1, np.int64(x[k]) + 1
        if chosen[k]:
            best = np.int32(-1)
            for i in range(row - 1, row + 2):
                for j in range(column - 1, column + 2):
                    if (i != row or j != column) and latest[i, j] > best:
                        best = latest[i, j]
            if best >= 0:
                counts[0] += 1
                counts[1] += p[best] == p[k]
                counts[2] += p[k]
                counts[3] += p[best]
        latest[row, column] = k
