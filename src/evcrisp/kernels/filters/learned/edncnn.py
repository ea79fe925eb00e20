"""Log ages of the last events around each event: the inputs of EDnCNN."""

import numpy as np

from evcrisp.kernels.compile import njit

RADIUS = 12
SIDE = 2 * RADIUS + 1


@njit
def gather_patches(x, y, t, p, last, missing, floor, patches):
    """Fill the patch of each event, then write the event into the map.

    last : (2, 2, h + 2 RADIUS, w + 2 RADIUS) int64 us, by polarity, the newest and the one before;
        far in the past if there is none, and on the border
    missing : int, maximum age, also of pixels that have not fired, us
    floor : float, subtracted from log(age + 1); negative results are 0
    patches : (n, 4, SIDE, SIDE) float32: own polarity newest and before, then the other polarity
    """
    zero = np.float32(0.0)
    nothing = np.float32(np.log1p(missing) - floor)
    least = np.exp(floor) - 1.0
    for k in range(t.size):
        c, r, own = np.int64(x[k]), np.int64(y[k]), np.int64(p[k])
        for channel in range(4):
            history = last[own if channel < 2 else 1 - own, channel % 2]
            for i in range(SIDE):
                for j in range(SIDE):
                    dt = t[k] - history[r + i, c + j]
                    if dt >= missing:
                        patches[k, channel, i, j] = nothing
                    elif dt <= least:
                        patches[k, channel, i, j] = zero
                    else:
                        patches[k, channel, i, j] = np.log(np.float32(dt + 1)) - np.float32(floor)
        mine = last[own]
        mine[1, r + RADIUS, c + RADIUS] = mine[0, r + RADIUS, c + RADIUS]
        mine[0, r + RADIUS, c + RADIUS] = t[k]
