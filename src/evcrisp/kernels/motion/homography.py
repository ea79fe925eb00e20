"""Warp by the generator of a homography; NaN behind the camera."""

import math

from evcrisp.kernels.compile import unchecked, unchecked_sum


@unchecked
def _projected(theta, a, b, dt):
    """Return a', b' and 1 / d of the homography's generator."""
    inverse = 1.0 / (1.0 - dt * (theta[6] * a + theta[7] * b))
    to_a = (a - dt * (theta[0] * a + theta[1] * b + theta[2])) * inverse
    to_b = (b - dt * (theta[3] * a + theta[4] * b + theta[5])) * inverse
    return to_a, to_b, inverse


@unchecked
def warp(theta, x, y, dt, frame, out_x, out_y):
    """Move by the generator g1..g8 on a = X / L, b = Y / L; frame is (cx, cy, L)."""
    g = (theta[0], theta[1], theta[2], theta[3], theta[4], theta[5], theta[6], theta[7])
    cx, cy, length = frame[0], frame[1], frame[2]
    for k in range(x.size):
        a, b, inverse = _projected(g, (x[k] - cx) / length, (y[k] - cy) / length, dt[k])
        out_x[k] = cx + length * a if inverse > 0.0 else math.nan
        out_y[k] = cy + length * b if inverse > 0.0 else math.nan


@unchecked_sum
def pull_back(theta, x, y, dt, frame, slope_x, slope_y, out):
    """Pull back by r (a, b, 1, 0, 0, 0, -a a', -b a'), r (0, 0, 0, a, b, 1, -a b', -b b'), r = -dt L / d."""
    g = (theta[0], theta[1], theta[2], theta[3], theta[4], theta[5], theta[6], theta[7])
    cx, cy, length = frame[0], frame[1], frame[2]
    to_1 = to_2 = to_3 = to_4 = to_5 = to_6 = to_7 = to_8 = 0.0
    for k in range(x.size):
        a, b = (x[k] - cx) / length, (y[k] - cy) / length
        to_a, to_b, inverse = _projected(g, a, b, dt[k])
        r = -dt[k] * length * inverse
        gx, gy = r * slope_x[k], r * slope_y[k]
        both = gx * to_a + gy * to_b
        to_1 += gx * a
        to_2 += gx * b
        to_3 += gx
        to_4 += gy * a
        to_5 += gy * b
        to_6 += gy
        to_7 -= both * a
        to_8 -= both * b
    out[0] += to_1
    out[1] += to_2
    out[2] += to_3
    out[3] += to_4
    out[4] += to_5
    out[5] += to_6
    out[6] += to_7
    out[7] += to_8
