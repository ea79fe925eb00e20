"""Event flow: the plane through the recent events around each event."""

import numpy as np

from evcrisp.kernels.compile import njit
from evcrisp.kernels.filters.plane_fit import emlb_speed, plane_speed


@njit
def _gather(head, times, older, front, row, column, width, now, found):
    """Write (number, dx, dy, dt) of the remembered events in a window to `found`; return how many."""
    n = 0
    mask = times.size - 1
    for i in range(width):
        for j in range(width):
            number = head[row + i, column + j]
            while number >= front:
                slot = number & mask
                found[n, 0] = number
                found[n, 1] = j - width // 2
                found[n, 2] = i - width // 2
                found[n, 3] = times[slot] - now
                n += 1
                number = older[slot]
    return n


@njit
def _in_order(found, n):
    """Sort the first rows of `found` by number, in place; rounding depends on the order."""
    for k in range(1, n):
        a, b, c, d = found[k, 0], found[k, 1], found[k, 2], found[k, 3]
        i = k
        while i > 0 and found[i - 1, 0] > a:
            for column in range(4):
                found[i, column] = found[i - 1, column]
            i -= 1
        found[i, 0], found[i, 1], found[i, 2], found[i, 3] = a, b, c, d


@njit
def found_speed(found, n):
    """Speed of the plane through the first n rows of `found`."""
    sx = sy = st = sxx = sxy = syy = sxt = syt = 0
    for k in range(n):
        dx, dy, dt = found[k, 1], found[k, 2], found[k, 3]
        sx += dx
        sy += dy
        st += dt
        sxx += dx * dx
        sxy += dx * dy
        syy += dy * dy
        sxt += dx * dt
        syt += dy * dt
    return plane_speed(n, sx, sy, st, sxx, sxy, syy, sxt, syt)


@njit
def found_emlb_speed(found, n, column, row, a, b, order, solution):
    """Speed of E-MLB through the first n rows of `found`, in coordinates of the sensor."""
    for k in range(n):
        a[k, 0] = column + found[k, 1]
        a[k, 1] = row + found[k, 2]
        a[k, 2] = 1.0
        b[k] = found[k, 3] * 1e-3
    return emlb_speed(a, b, n, order, solution)


@njit
def flow_labels(
    start, x, y, t, head, times, older, span, tau_us, radius, least, limit, emlb, signal, score
):
    """Label events from `start` on; return the event at which there was no room, or the number of events.

    x, y : (n,) uint16      t : (n,) int64 us
    head : (h + 2 radius, w + 2 radius) int64, number of the last event of a pixel, or -1
    times, older : (2**k,) int64, by number modulo size: time, and number of the pixel's event before
    span : (2,) int64, numbers of the oldest remembered event and of the next one
    limit : float64 px/ms      emlb : forget late, and fit in coordinates of the sensor
    signal : (n,) bool, filled      score : (n,) float64, filled
    """
    size = times.size
    front, fresh = span[0], span[1]
    width = 2 * radius + 1
    found = np.empty((size, 4), np.int64)
    a, b = np.empty((size, 3)), np.empty(size)
    order, solution = np.empty(3, np.int64), np.empty(3)
    stop = t.size
    for k in range(start, t.size):
        if not emlb:
            while front < fresh and t[k] - times[front & (size - 1)] >= tau_us:
                front += 1
        if fresh - front == size:
            stop = k
            break
        column, row = np.int64(x[k]), np.int64(y[k])
        n = _gather(head, times, older, front, row, column, width, t[k], found)
        speed = np.inf
        if n >= least and emlb:
            _in_order(found, n)
            speed = found_emlb_speed(found, n, column, row, a, b, order, solution)
        elif n >= least:
            speed = found_speed(found, n)
        signal[k] = speed <= limit
        score[k] = rate(speed, limit)
        if emlb:
            while front < fresh and t[k] - times[front & (size - 1)] >= tau_us:
                front += 1
        times[fresh & (size - 1)] = t[k]
        older[fresh & (size - 1)] = head[row + radius, column + radius]
        head[row + radius, column + radius] = fresh
        fresh += 1
    span[0], span[1] = front, fresh
    return stop


@njit
def rate(speed, limit):
    """Score of a speed: at least 0.5 if it keeps the limit, 0 if there is none."""
    score = 1.0 / (1.0 + speed / limit)
    return score if speed <= limit else min(score, 0.5 - 1e-16)
