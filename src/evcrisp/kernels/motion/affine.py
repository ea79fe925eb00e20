"""Warp by a velocity field that is linear in the position."""

from evcrisp.kernels.compile import unchecked, unchecked_sum


@unchecked
def warp(theta, x, y, dt, center, out_x, out_y):
    """Move by (x - dt (vx + a11 X + a12 Y), y - dt (vy + a21 X + a22 Y))."""
    vx, vy, a11, a12, a21, a22 = theta[0], theta[1], theta[2], theta[3], theta[4], theta[5]
    cx, cy = center[0], center[1]
    for k in range(x.size):
        dx, dy = x[k] - cx, y[k] - cy
        out_x[k] = x[k] - dt[k] * (vx + a11 * dx + a12 * dy)
        out_y[k] = y[k] - dt[k] * (vy + a21 * dx + a22 * dy)


@unchecked_sum
def pull_back(theta, x, y, dt, center, slope_x, slope_y, out):
    """Pull back by the rows -dt (1, 0, X, Y, 0, 0) and -dt (0, 1, 0, 0, X, Y)."""
    cx, cy = center[0], center[1]
    to_vx = to_vy = to_11 = to_12 = to_21 = to_22 = 0.0
    for k in range(x.size):
        dx, dy = x[k] - cx, y[k] - cy
        gx, gy = dt[k] * slope_x[k], dt[k] * slope_y[k]
        to_vx -= gx
        to_vy -= gy
        to_11 -= gx * dx
        to_12 -= gx * dy
        to_21 -= gy * dx
        to_22 -= gy * dy
    out[0] += to_vx
    out[1] += to_vy
    out[2] += to_11
    out[3] += to_12
    out[4] += to_21
    out[5] += to_22
