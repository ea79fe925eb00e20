"""Warp by a rotation of the camera; NaN behind the camera."""

import math

from evcrisp.kernels.compile import unchecked, unchecked_sum
from evcrisp.kernels.motion.series import largest_magnitude, sine_factors, third_factor


@unchecked
def _small_turn(square, dt):
    """Return the factors of `_turn` where speed * dt is at most 1; square = speed^2."""
    s = square * dt * dt
    first, second = sine_factors(s)
    return dt * first, dt * dt * second, dt * dt * dt * third_factor(s)


@unchecked
def _turn(square, dt):
    """Return the factors of [w]_x and [w]_x^2 in exp([w]_x dt), and of [w]_x^2 in dt times Jl."""
    angle = math.sqrt(square) * dt
    if abs(angle) <= 1.0:
        return _small_turn(square, dt)
    sine, cosine = math.sin(angle), math.cos(angle)
    first = dt * sine / angle
    second = dt * dt * (1.0 - cosine) / (angle * angle)
    return first, second, dt * dt * dt * (angle - sine) / (angle * angle * angle)


@unchecked
def _turned(wx, wy, wz, bx, by, first, second):
    """Return the ray (bx, by, 1) after the turn."""
    ux, uy, uz = wy - wz * by, wz * bx - wx, wx * by - wy * bx
    qx = bx + first * ux + second * (wy * uz - wz * uy)
    qy = by + first * uy + second * (wz * ux - wx * uz)
    return qx, qy, 1.0 + first * uz + second * (wx * uy - wy * ux)


@unchecked
def _in_front(depth):
    """Return a depth, or NaN behind the camera, where no point has an image."""
    return depth if depth > 0.0 else math.nan


@unchecked
def warp(theta, bx, by, dt, focal, out_x, out_y):
    """Turn the ray (bx, by, 1) by exp([omega]_x dt) and project; focal is (fx, fy, cx, cy)."""
    wx, wy, wz = theta[0], theta[1], theta[2]
    fx, fy, cx, cy = focal[0], focal[1], focal[2], focal[3]
    square = wx * wx + wy * wy + wz * wz
    if square * largest_magnitude(dt) ** 2 <= 1.0:
        for k in range(bx.size):
            first, second, _ = _small_turn(square, dt[k])
            qx, qy, qz = _turned(wx, wy, wz, bx[k], by[k], first, second)
            depth = _in_front(qz)
            out_x[k] = cx + fx * qx / depth
            out_y[k] = cy + fy * qy / depth
    else:
        for k in range(bx.size):
            first, second, _ = _turn(square, dt[k])
            qx, qy, qz = _turned(wx, wy, wz, bx[k], by[k], first, second)
            depth = _in_front(qz)
            out_x[k] = cx + fx * qx / depth
            out_y[k] = cy + fy * qy / depth


@unchecked
def _pulled(wx, wy, wz, qx, qy, qz, gx, gy, dt, second, third):
    """Return dt Jl^T (q x g) with the turned ray q and the left Jacobian Jl.

    dt Jl = dt I + second [w]_x + third [w]_x^2; its transpose has the sign of [w]_x turned.
    """
    gz = -(gx * qx + gy * qy) / qz
    cx, cy, cz = qy * gz - qz * gy, qz * gx - qx * gz, qx * gy - qy * gx
    vx, vy, vz = wy * cz - wz * cy, wz * cx - wx * cz, wx * cy - wy * cx
    return (
        dt * cx - second * vx + third * (wy * vz - wz * vy),
        dt * cy - second * vy + third * (wz * vx - wx * vz),
        dt * cz - second * vz + third * (wx * vy - wy * vx),
    )


@unchecked_sum
def pull_back(theta, bx, by, dt, focal, slope_x, slope_y, out):
    """Pull back by J^T s = dt Jl^T (q x g) with the turned ray q and g = Jproj^T s."""
    wx, wy, wz = theta[0], theta[1], theta[2]
    fx, fy = focal[0], focal[1]
    square = wx * wx + wy * wy + wz * wz
    to_x = to_y = to_z = 0.0
    if square * largest_magnitude(dt) ** 2 <= 1.0:
        for k in range(bx.size):
            first, second, third = _small_turn(square, dt[k])
            qx, qy, qz = _turned(wx, wy, wz, bx[k], by[k], first, second)
            gx, gy = fx * slope_x[k] / qz, fy * slope_y[k] / qz
            part = _pulled(wx, wy, wz, qx, qy, qz, gx, gy, dt[k], second, third)
            to_x += part[0]
            to_y += part[1]
            to_z += part[2]
    else:
        for k in range(bx.size):
            first, second, third = _turn(square, dt[k])
            qx, qy, qz = _turned(wx, wy, wz, bx[k], by[k], first, second)
            gx, gy = fx * slope_x[k] / qz, fy * slope_y[k] / qz
            part = _pulled(wx, wy, wz, qx, qy, qz, gx, gy, dt[k], second, third)
            to_x += part[0]
            to_y += part[1]
            to_z += part[2]
    out[0] += to_x
    out[1] += to_y
    out[2] += to_z
