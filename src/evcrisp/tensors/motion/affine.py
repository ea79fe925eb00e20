"""Warp by a velocity field that is linear in the position."""

from collections.abc import Sequence

from evcrisp.tensors.lazy import Tensor

Columns = Sequence[Tensor]


def warp(theta: Columns, x: Tensor, y: Tensor, dt: Tensor, constants: Columns) -> Columns:
    """Move by (x - dt (vx + a11 X + a12 Y), y - dt (vy + a21 X + a22 Y)); constants are (cx, cy)."""
    vx, vy, a11, a12, a21, a22 = theta
    dx, dy = x - constants[0], y - constants[1]
    return x - dt * (vx + a11 * dx + a12 * dy), y - dt * (vy + a21 * dx + a22 * dy)


def unwarp(theta: Columns, x: Tensor, y: Tensor, dt: Tensor, constants: Columns) -> Columns:
    """Return the positions at a time of points given at the reference time."""
    vx, vy, a11, a12, a21, a22 = theta
    p, q = x - constants[0] + vx * dt, y - constants[1] + vy * dt
    xx, xy, yx, yy = 1.0 - a11 * dt, -a12 * dt, -a21 * dt, 1.0 - a22 * dt
    area = xx * yy - xy * yx
    return constants[0] + (yy * p - xy * q) / area, constants[1] + (xx * q - yx * p) / area


def pull_back(
    theta: Columns, x: Tensor, y: Tensor, dt: Tensor, constants: Columns, gx: Tensor, gy: Tensor
) -> Columns:
    """Pull back by the rows -dt (1, 0, X, Y, 0, 0) and -dt (0, 1, 0, 0, X, Y)."""
    dx, dy = x - constants[0], y - constants[1]
    gx, gy = -dt * gx, -dt * gy
    return gx, gy, gx * dx, gx * dy, gy * dx, gy * dy
