"""Warp by velocity, rotation and growth about a center."""

import math

from evcrisp.kernels.compile import unchecked, unchecked_sum
from evcrisp.kernels.motion.series import largest_magnitude, sine_factors, small_exp


@unchecked
def _small_spiral(w, s, dt):
    """Return exp(-s dt) (cos(w dt), sin(w dt)) where both products are at most 1."""
    angle = w * dt
    shrink = small_exp(-s * dt)
    first, second = sine_factors(angle * angle)
    return shrink * (1.0 - angle * angle * second), shrink * angle * first


@unchecked
def _spiral(w, s, dt):
    shrink = math.exp(-s * dt)
    return shrink * math.cos(w * dt), shrink * math.sin(w * dt)


@unchecked
def warp(theta, x, y, dt, center, out_x, out_y):
    """Move by velocity, turn and growth (vx, vy, w, s) about center = (cx, cy)."""
    vx, vy, w, s = theta[0], theta[1], theta[2], theta[3]
    cx, cy = center[0], center[1]
    if max(abs(w), abs(s)) * largest_magnitude(dt) <= 1.0:
        for k in range(x.size):
            c, n = _small_spiral(w, s, dt[k])
            dx, dy = x[k] - cx, y[k] - cy
            out_x[k] = cx + c * dx + n * dy - vx * dt[k]
            out_y[k] = cy - n * dx + c * dy - vy * dt[k]
    else:
        for k in range(x.size):
            c, n = _spiral(w, s, dt[k])
            dx, dy = x[k] - cx, y[k] - cy
            out_x[k] = cx + c * dx + n * dy - vx * dt[k]
            out_y[k] = cy - n * dx + c * dy - vy * dt[k]


@unchecked_sum
def pull_back(theta, x, y, dt, center, slope_x, slope_y, out):
    """Pull back by (-dt, 0, dt q, -dt p), (0, -dt, -dt p, -dt q), (p, q) turned and shrunk."""
    w, s = theta[2], theta[3]
    cx, cy = center[0], center[1]
    small = max(abs(w), abs(s)) * largest_magnitude(dt) <= 1.0
    to_vx = to_vy = to_w = to_s = 0.0
    if small:
        for k in range(x.size):
            c, n = _small_spiral(w, s, dt[k])
            dx, dy = x[k] - cx, y[k] - cy
            p, q = c * dx + n * dy, c * dy - n * dx
            gx, gy = dt[k] * slope_x[k], dt[k] * slope_y[k]
            to_vx -= gx
            to_vy -= gy
            to_w += q * gx - p * gy
            to_s -= p * gx + q * gy
    else:
        for k in range(x.size):
            c, n = _spiral(w, s, dt[k])
            dx, dy = x[k] - cx, y[k] - cy
            p, q = c * dx + n * dy, c * dy - n * dx
            gx, gy = dt[k] * slope_x[k], dt[k] * slope_y[k]
            to_vx -= gx
            to_vy -= gy
            to_w += q * gx - p * gy
            to_s -= p * gx + q * gy
    out[0] += to_vx
    out[1] += to_vy
    out[2] += to_w
    out[3] += to_s
