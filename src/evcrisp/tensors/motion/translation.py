"""Warp by an image velocity."""

from collections.abc import Sequence

from evcrisp.tensors.lazy import Tensor

Columns = Sequence[Tensor]


def warp(theta: Columns, x: Tensor, y: Tensor, dt: Tensor, constants: Columns) -> Columns:
    """Move by (x - vx dt, y - vy dt)."""
    return x - theta[0] * dt, y - theta[1] * dt


def unwarp(theta: Columns, x: Tensor, y: Tensor, dt: Tensor, constants: Columns) -> Columns:
    """Return the positions at a time of points given at the reference time."""
    return x + theta[0] * dt, y + theta[1] * dt


def pull_back(
    theta: Columns, x: Tensor, y: Tensor, dt: Tensor, constants: Columns, gx: Tensor, gy: Tensor
) -> Columns:
    """Pull back by the rows (-dt, 0) and (0, -dt)."""
    return -gx * dt, -gy * dt
