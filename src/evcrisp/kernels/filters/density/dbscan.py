"""Number of neighbors of each event in space and time, and the maximum among its neighbors."""

import numpy as np

from evcrisp.kernels.compile import njit


@njit
def count_neighbors(x, y, t, start, first, head, older, offsets, reach, count):
    """Count neighbors of the events from `start` on, and add these events to their neighbors.

    x, y : (n,) uint16      t : (n,) int64 us; held and new events, the first has the index `first`
    head : (rows, columns) int64, index of the last event of a pixel or -1, with a border; updated
    older : (n,) int64, filled; index of the previous event of the pixel
    offsets : (m, 2) int64, row and column of the pixels around, from the corner of the border
    reach : (m,) int64 us, maximum age at that pixel; the first pixel is the event's own, negative
        if it does not count
    count : (n,) int64, updated
    """
    for k in range(start, t.size):
        r, c = np.int64(y[k]), np.int64(x[k])
        for i in range(reach.size):
            other = head[r + offsets[i, 0], c + offsets[i, 1]] - first
            while other >= 0 and t[k] - t[other] <= reach[i]:
                count[k] += 1
                count[other] += 1
                other = older[other] - first
        older[k] = head[r + offsets[0, 0], c + offsets[0, 1]]
        head[r + offsets[0, 0], c + offsets[0, 1]] = first + k


@njit
def max_neighbor_count(x, y, t, start, stop, first, head, older, offsets, reach, count, highest):
    """Find the maximum count among each event and its neighbors.

    Arguments as in `count_neighbors`; counts of events before `stop` are final.
    highest : (n,) int64, updated for events before `stop`
    """
    for k in range(start, stop):
        r, c = np.int64(y[k]), np.int64(x[k])
        own = count[k]
        best = max(highest[k], own)
        for i in range(reach.size):
            other = head[r + offsets[i, 0], c + offsets[i, 1]] - first
            while other >= 0 and t[k] - t[other] <= reach[i]:
                best = max(best, count[other])
                highest[other] = max(highest[other], own)
                other = older[other] - first
        highest[k] = best
        head[r + offsets[0, 0], c + offsets[0, 1]] = first + k
