"""Warp by an image velocity."""

from evcrisp.kernels.compile import unchecked, unchecked_sum


@unchecked
def warp(theta, x, y, dt, out_x, out_y):
    """Move by (x - vx dt, y - vy dt)."""
    vx, vy = theta[0], theta[1]
    for k in range(x.size):
        out_x[k] = x[k] - vx * dt[k]
        out_y[k] = y[k] - vy * dt[k]


@unchecked_sum
def pull_back(theta, x, y, dt, slope_x, slope_y, out):
    """Pull back by the rows (-dt, 0) and (0, -dt)."""
    vx = vy = 0.0
    for k in range(x.size):
        vx -= slope_x[k] * dt[k]
        vy -= slope_y[k] * dt[k]
    out[0] += vx
    out[1] += vy
