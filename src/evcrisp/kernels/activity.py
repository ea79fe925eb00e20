"""Background activity: how long ago a neighboring pixel fired."""

import numpy as np

from evcrisp.kernels import njit

#: Last time of a pixel that never fired; far from overflow when subtracted.
NEVER = -(2**62)


@njit
def support_age(x, y, t, p, last, age):
    """Age of the most recent event among the eight neighbors of each event; -1 if there is none.

    x, y : (n,) uint16      t : (n,) int64 us      p : (n,) uint8, plane of `last` to look at
    last : (planes, h + 2, w + 2) int64, time of the last event per pixel or NEVER, with a border
        of one pixel that stays NEVER; updated in place, so a stream can be cut anywhere
    age : (n,) int64 us, filled
    """
    for k in range(t.size):
        c = np.int64(x[k])
        r = np.int64(y[k])
        plane = last[p[k]]
        upper = max(plane[r, c], plane[r, c + 1], plane[r, c + 2])
        sides = max(plane[r + 1, c], plane[r + 1, c + 2])
        lower = max(plane[r + 2, c], plane[r + 2, c + 1], plane[r + 2, c + 2])
        recent = max(upper, sides, lower)
        age[k] = -1 if recent == NEVER else t[k] - recent
        plane[r + 1, c + 1] = t[k]
