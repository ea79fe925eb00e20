"""The plane t = a x + b y + c through events, and the speed of the edge that it means."""

import numpy as np

from evcrisp.kernels.compile import njit

_EPS = np.finfo(np.float64).eps


@njit
def plane_speed(n, sx, sy, st, sxx, sxy, syy, sxt, syt):
    """Speed in px/ms at which the plane of least squares sweeps the pixels; infinity if there is none.

    The arguments are sums over n events of offsets in px and us. They are whole numbers, so that
    neither the order of the events nor their place on the sensor changes a bit, and the test for
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
    """Clear column k of `a` below the diagonal; apply the same to later columns and to `b`."""
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
    """Solve least squares by Householder QR with column pivots; columns without a pivot get 0.

    a : (>= n, 3) float64, overwritten     b : (>= n,) float64, overwritten
    order : (3,) int64, scratch            solution : (3,) float64, filled
    A pivot counts if it is larger than 3 eps times the first one, as in Eigen.
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
    """Speed of E-MLB in px/ms, sqrt(1/a^2 + 1/b^2): infinite along either axis of the sensor."""
    pivoted_solution(a, b, n, order, solution)
    u, v = solution[0], solution[1]
    if u == 0.0 or v == 0.0:
        return np.inf
    return np.sqrt(1.0 / u * (1.0 / u) + 1.0 / v * (1.0 / v))
