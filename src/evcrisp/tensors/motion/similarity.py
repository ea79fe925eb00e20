"""Warp by velocity, rotation and growth about a center."""

from collections.abc import Sequence

from evcrisp.tensors.lazy import Tensor, torch

Columns = Sequence[Tensor]


def _moved(theta: Columns, x: Tensor, y: Tensor, dt: Tensor, constants: Columns) -> Columns:
    """Return positions relative to the center after turn and growth, without the velocity."""
    w, s = theta[2], theta[3]
    shrink, angle = torch.exp(-s * dt), w * dt
    c, n = shrink * torch.cos(angle), shrink * torch.sin(angle)
    dx, dy = x - constants[0], y - constants[1]
    return c * dx + n * dy, c * dy - n * dx


def warp(theta: Columns, x: Tensor, y: Tensor, dt: Tensor, constants: Columns) -> Columns:
    """Move by velocity, turn and growth (vx, vy, w, s) about (cx, cy)."""
    p, q = _moved(theta, x, y, dt, constants)
    return constants[0] + p - theta[0] * dt, constants[1] + q - theta[1] * dt


def unwarp(theta: Columns, x: Tensor, y: Tensor, dt: Tensor, constants: Columns) -> Columns:
    """Return the positions at a time of points given at the reference time."""
    vx, vy, w, s = theta
    p, q = x - constants[0] + vx * dt, y - constants[1] + vy * dt
    grow, angle = torch.exp(s * dt), w * dt
    c, n = grow * torch.cos(angle), grow * torch.sin(angle)
    return constants[0] + c * p - n * q, constants[1] + n * p + c * q


def pull_back(
    theta: Columns, x: Tensor, y: Tensor, dt: Tensor, constants: Columns, gx: Tensor, gy: Tensor
) -> Columns:
    """Pull back by (-dt, 0, dt q, -dt p), (0, -dt, -dt p, -dt q), with (p, q) turned and shrunk."""
    p, q = _moved(theta, x, y, dt, constants)
    gx, gy = dt * gx, dt * gy
    return -gx, -gy, q * gx - p * gy, -(p * gx + q * gy)
