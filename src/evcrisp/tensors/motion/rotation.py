"""Warp by a rotation of the camera; NaN behind the camera. Positions are slopes of rays."""

from collections.abc import Sequence

from evcrisp.tensors.lazy import Tensor, torch

Columns = Sequence[Tensor]


def warp(theta: Columns, x: Tensor, y: Tensor, dt: Tensor, constants: Columns) -> Columns:
    """Turn the ray (x, y, 1) by exp([omega]_x dt) and project; constants are (fx, fy, cx, cy)."""
    fx, fy, cx, cy = constants
    first, second, _ = _factors(theta, dt)
    qx, qy, qz = _turned(theta, x, y, first, second)
    depth = torch.where(qz > 0.0, qz, torch.nan)
    return cx + fx * qx / depth, cy + fy * qy / depth


def unwarp(theta: Columns, x: Tensor, y: Tensor, dt: Tensor, constants: Columns) -> Columns:
    """Return the ideal pixels at a time of ideal pixels given at the reference time."""
    fx, fy, cx, cy = constants
    return warp(theta, (x - cx) / fx, (y - cy) / fy, -dt, constants)


def pull_back(
    theta: Columns, x: Tensor, y: Tensor, dt: Tensor, constants: Columns, gx: Tensor, gy: Tensor
) -> Columns:
    """Pull back by dt Jl^T (q x g) with the turned ray q, g = Jproj^T slopes, the left Jacobian Jl."""
    wx, wy, wz = theta
    first, second, third = _factors(theta, dt)
    qx, qy, qz = _turned(theta, x, y, first, second)
    gx, gy = constants[0] * gx / qz, constants[1] * gy / qz
    gz = -(gx * qx + gy * qy) / qz
    cx, cy, cz = qy * gz - qz * gy, qz * gx - qx * gz, qx * gy - qy * gx
    vx, vy, vz = wy * cz - wz * cy, wz * cx - wx * cz, wx * cy - wy * cx
    return (
        dt * cx - second * vx + third * (wy * vz - wz * vy),
        dt * cy - second * vy + third * (wz * vx - wx * vz),
        dt * cz - second * vz + third * (wx * vy - wy * vx),
    )


def _turned(theta: Columns, x: Tensor, y: Tensor, first: Tensor, second: Tensor) -> Columns:
    """Return the ray (x, y, 1) after the turn."""
    wx, wy, wz = theta
    ux, uy, uz = wy - wz * y, wz * x - wx, wx * y - wy * x
    return (
        x + first * ux + second * (wy * uz - wz * uy),
        y + first * uy + second * (wz * ux - wx * uz),
        1.0 + first * uz + second * (wx * uy - wy * ux),
    )


def _factors(theta: Columns, dt: Tensor) -> Columns:
    """Return the factors of [w]_x and [w]_x^2 in exp([w]_x dt), and of [w]_x^2 in dt times Jl."""
    wx, wy, wz = theta
    s = (wx * wx + wy * wy + wz * wz) * dt * dt
    # Series up to an angle of 1, as differences of small angles cancel.
    first = 1 / 6227020800 - s * (1 / 1307674368000 - s / 355687428096000)
    first = 1 / 5040 - s * (1 / 362880 - s * (1 / 39916800 - s * first))
    first = 1.0 - s * (1 / 6 - s * (1 / 120 - s * first))
    second = 1 / 87178291200 - s * (1 / 20922789888000 - s / 6402373705728000)
    second = 1 / 40320 - s * (1 / 3628800 - s * (1 / 479001600 - s * second))
    second = 0.5 - s * (1 / 24 - s * (1 / 720 - s * second))
    third = 1 / 1307674368000 - s * (1 / 355687428096000 - s / 121645100408832000)
    third = 1 / 362880 - s * (1 / 39916800 - s * (1 / 6227020800 - s * third))
    third = 1 / 6 - s * (1 / 120 - s * (1 / 5040 - s * third))
    large = s > 1.0
    angle = torch.sqrt(torch.where(large, s, 1.0))
    sine = torch.sin(angle)
    first = torch.where(large, sine / angle, first)
    second = torch.where(large, (1.0 - torch.cos(angle)) / (angle * angle), second)
    third = torch.where(large, (angle - sine) / (angle * angle * angle), third)
    return dt * first, dt * dt * second, dt * dt * dt * third
