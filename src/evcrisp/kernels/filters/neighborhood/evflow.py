"""Event flow: fit a plane t = a x + b y + c to the recent events around each event."""

import numpy as np

from evcrisp.kernels.compile import njit

_EPS = np.finfo(np.float64).eps


@njit
def plane_speed(n, sx, sy, st, sxx, sxy, syy, sxt, syt):
    """Return the speed of the least-squares plane in px/ms; infinity if there is no plane.

    The arguments are sums over n events of offsets in px and us. They are integers, so the result
    does not depend on the order of the events or their position on the sensor, and the test for
    events on one line is exact.
    """
    xx = np.float64(n * sxx - sx * sx)
    xy = np.float64(n * sxy - sx * sy)
    yy = np.float64(n * syy - sy * sy)
    determinant = xx * yy - xy * xy
    if determinant <= 0.0:
        return np.inf
    xt = np.float64(n * sxt - sx * st)
    yt = np.float64(n * syt - sy * st)
    slope = np.hypot(xt * yy - yt * xy, yt * xx - xt * xy)  # us/px, times the determinant
    return 1e3 * determinant / slope if slope > 0.0 else np.inf


@njit
def _reflect(a, b, n, k):
    """Apply the Householder reflection that clears column k of `a` below the diagonal."""
    tail = 0.0
    for i in range(k + 1, n):
        tail += a[i, k] * a[i, k]
    first = a[k, k]
    if tail <= np.finfo(np.float64).tiny:
        return
    beta = np.sqrt(first * first + tail)
    if first >= 0.0:
        beta = -beta
    weight = (beta - first) / beta
    for i in range(k + 1, n):
        a[i, k] /= first - beta
    a[k, k] = beta
    for j in range(k + 1, 3):
        dot = a[k, j]
        for i in range(k + 1, n):
            dot += a[i, k] * a[i, j]
        dot *= weight
        a[k, j] -= dot
        for i in range(k + 1, n):
            a[i, j] -= dot * a[i, k]
    dot = b[k]
    for i in range(k + 1, n):
        dot += a[i, k] * b[i]
    dot *= weight
    b[k] -= dot
    for i in range(k + 1, n):
        b[i] -= dot * a[i, k]


@njit
def pivoted_solution(a, b, n, order, solution):
    """Solve least squares by Householder QR with column pivoting; 0 beyond the rank.

    a : (>= n, 3) float64, overwritten     b : (>= n,) float64, overwritten
    order : (3,) int64, buffer             solution : (3,) float64, filled
    The rank is the number of pivots above 3 eps times the first one, as in Eigen.
    """
    rank = 3
    for k in range(3):
        order[k] = k
    for k in range(3):
        best, largest = k, -1.0
        for j in range(k, 3):
            norm = 0.0
            for i in range(k, n):
                norm += a[i, j] * a[i, j]
            if norm > largest:
                best, largest = j, norm
        if best != k:
            order[k], order[best] = order[best], order[k]
            for i in range(n):
                a[i, k], a[i, best] = a[i, best], a[i, k]
        _reflect(a, b, n, k)
        if abs(a[k, k]) <= 3 * _EPS * abs(a[0, 0]):
            rank = k
            break
    solution[:] = 0.0
    for k in range(rank - 1, -1, -1):
        value = b[k]
        for j in range(k + 1, rank):
            value -= a[k, j] * solution[order[j]]
        solution[order[k]] = value / a[k, k]


@njit
def emlb_speed(a, b, n, order, solution):
    """Return the speed of E-MLB in px/ms, sqrt(1/a^2 + 1/b^2); infinite along an axis."""
    pivoted_solution(a, b, n, order, solution)
    u, v = solution[0], solution[1]
    if u == 0.0 or v == 0.0:
        return np.inf
    return np.sqrt(1.0 / u * (1.0 / u) + 1.0 / v * (1.0 / v))


@njit
def _gather(head, times, older, front, row, column, width, now, found):
    """Write (index, dx, dy, dt) of the stored events in a square to `found`; return their number."""
    n = 0
    mask = times.size - 1
    for i in range(width):
        for j in range(width):
            index = head[row + i, column + j]
            while index >= front:
                slot = index & mask
                found[n, 0], found[n, 3] = index, times[slot] - now
                found[n, 1], found[n, 2] = j - width // 2, i - width // 2
                n += 1
                index = older[slot]
    return n


@njit
def _sort_by_index(found, n):
    """Sort the first n rows of `found` by index, because rounding depends on the order."""
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
    """Return the speed of the plane through the first n rows of `found`."""
    sx = sy = st = sxx = sxy = syy = sxt = syt = 0
    for k in range(n):
        dx, dy, dt = found[k, 1], found[k, 2], found[k, 3]
        sx, sy, st = sx + dx, sy + dy, st + dt
        sxx, sxy, syy = sxx + dx * dx, sxy + dx * dy, syy + dy * dy
        sxt, syt = sxt + dx * dt, syt + dy * dt
    return plane_speed(n, sx, sy, st, sxx, sxy, syy, sxt, syt)


@njit
def found_emlb_speed(found, n, column, row, a, b, order, solution):
    """Return the speed of E-MLB for the first n rows of `found`, in sensor coordinates."""
    for k in range(n):
        a[k, 0], a[k, 1], a[k, 2] = column + found[k, 1], row + found[k, 2], 1.0
        b[k] = found[k, 3] * 1e-3
    return emlb_speed(a, b, n, order, solution)


@njit
def flow_labels(
    start, x, y, t, head, times, older, span, tau_us, radius, least, limit, emlb, signal, score
):
    """Label events from `start` on; return the event at which the ring was full, or n.

    head : (h + 2 radius, w + 2 radius) int64, index of the last event of a pixel, or -1
    times, older : (2**k,) int64, by index modulo size: time, and index of the pixel's previous event
    span : (2,) int64, indices of the oldest stored event and of the next one
    least : minimum number of events      limit : float64 px/ms
    emlb : forget events late, and fit in sensor coordinates
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
            _sort_by_index(found, n)
            speed = found_emlb_speed(found, n, column, row, a, b, order, solution)
        elif n >= least:
            speed = found_speed(found, n)
        signal[k] = speed <= limit
        score[k] = speed_score(speed, limit)
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
def speed_score(speed, limit):
    """Return the score of a speed: at least 0.5 up to the limit, 0 if infinite."""
    score = 1.0 / (1.0 + speed / limit)
    return score if speed <= limit else min(score, 0.5 - 1e-16)
