"""Distance to the last kept and dropped events."""

import numpy as np

from evcrisp.kernels.compile import njit

#: Distance to, and coordinate of, an entry without an event, px.
FAR = 2**20


@njit
def window_distance(x, y, xs, ys, cursor, rule, signal, score):
    """Label events by the L1 distance to the k-th nearest of the last kept and dropped ones.

    xs, ys : (2 length,) int32, px; kept events, then dropped events, or FAR
    cursor : (3,) int64, index of the next kept and dropped event, and number of events so far
    rule : (k, radius_px, warm_up), int64 each; the first warm_up events are dropped, and as many as
        fit are stored as kept events
    score : radius / (radius + distance)
    """
    k, radius_px, warm_up = rule
    length = xs.size // 2
    radius = np.float64(radius_px)
    best = np.empty(k, np.int32)
    for i in range(x.size):
        column, row = np.int32(x[i]), np.int32(y[i])
        if k == 1:
            distance = _nearest(xs, ys, column, row)
        else:
            distance = _kth_nearest(xs, ys, column, row, best)
        is_first = cursor[2] < warm_up
        score[i] = 0.0 if is_first or distance >= FAR else radius / (radius + distance)
        signal[i] = distance <= radius_px and not is_first
        cursor[2] += 1
        if is_first and cursor[2] > length:
            continue
        side = 0 if signal[i] or is_first else 1
        place = cursor[side]
        xs[side * length + place] = column
        ys[side * length + place] = row
        cursor[side] = 0 if place + 1 == length else place + 1


@njit
def _nearest(xs, ys, column, row):
    best = np.int32(FAR)
    for j in range(xs.size):
        distance = np.int32(abs(np.int32(xs[j] - column)) + abs(np.int32(ys[j] - row)))
        best = min(best, distance)
    return best


@njit
def _kth_nearest(xs, ys, column, row, best):
    """Return the k-th smallest distance; `best` is a buffer for k of them, smallest first."""
    best[:] = FAR
    for j in range(xs.size):
        distance = np.int32(abs(xs[j] - column) + abs(ys[j] - row))
        if distance < best[-1]:
            place = best.size - 1
            while place > 0 and best[place - 1] > distance:
                best[place] = best[place - 1]
                place -= 1
            best[place] = distance
    return best[-1]
