"""How many events are close to an event in space and time, and how crowded these are."""

import numpy as np

from evcrisp.kernels.compile import njit


@njit
def count_close(x, y, t, start, first, head, older, offsets, reach, count):
    """Count for each event from `start` on, and for those close to it, the events close by.

    x, y : (n,) uint16      t : (n,) int64 us; held events and new ones, the first of which has the
        number `first`
    head : (rows, columns) int64, number of the last event of a pixel or -1, with a border; updated
    older : (n,) int64, number of the event before at the same pixel, filled
    offsets : (m, 2) int64, rows and columns to pixels around, from the corner of the border
    reach : (m,) int64 us, how far from the event others may be there; the first is the pixel itself,
        negative if it does not count
    count : (n,) int64, added to
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
def spread_counts(x, y, t, start, stop, first, head, older, offsets, reach, count, highest):
    """Find for each event the highest count of itself and the events close to it.

    Arguments as in `count_close`; counts of events before `stop` are final.
    highest : (n,) int64, raised for events before `stop`
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
