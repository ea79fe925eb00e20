"""Warp events and pull gradients back to the motion parameters; one pair of kernels per model.

All arrays are (n,) float64. `warp_*` fills out_x, out_y with the positions at the reference time. `pull_*`
adds J_k^T (slope_x[k], slope_y[k]) over all events into out, shape (m,): the gradient with respect to theta.
"""

import math

from evcrisp.kernels import njit


@njit
def warp_translation(theta, x, y, dt, out_x, out_y):
    """x' = x - vx dt, y' = y - vy dt."""
    vx, vy = theta[0], theta[1]
    for k in range(x.size):
        out_x[k] = x[k] - vx * dt[k]
        out_y[k] = y[k] - vy * dt[k]


@njit
def pull_translation(theta, x, y, dt, slope_x, slope_y, out):
    """Rows of the Jacobian are (-dt, 0) and (0, -dt)."""
    for k in range(x.size):
        out[0] -= slope_x[k] * dt[k]
        out[1] -= slope_y[k] * dt[k]


@njit
def warp_similarity(theta, x, y, dt, center, out_x, out_y):
    """Velocity, turn and growth (vx, vy, w, s) about center = (cx, cy)."""
    vx, vy, w, s = theta[0], theta[1], theta[2], theta[3]
    for k in range(x.size):
        shrink = math.exp(-s * dt[k])
        c, n = shrink * math.cos(w * dt[k]), shrink * math.sin(w * dt[k])
        dx, dy = x[k] - center[0], y[k] - center[1]
        out_x[k] = center[0] + c * dx + n * dy - vx * dt[k]
        out_y[k] = center[1] - n * dx + c * dy - vy * dt[k]


@njit
def pull_similarity(theta, x, y, dt, center, slope_x, slope_y, out):
    """With (p, q) the turned and shrunk position: rows (-dt, 0, dt q, -dt p), (0, -dt, -dt p, -dt q)."""
    w, s = theta[2], theta[3]
    for k in range(x.size):
        shrink = math.exp(-s * dt[k])
        c, n = shrink * math.cos(w * dt[k]), shrink * math.sin(w * dt[k])
        dx, dy = x[k] - center[0], y[k] - center[1]
        p, q = c * dx + n * dy, c * dy - n * dx
        out[0] -= dt[k] * slope_x[k]
        out[1] -= dt[k] * slope_y[k]
        out[2] += dt[k] * (q * slope_x[k] - p * slope_y[k])
        out[3] -= dt[k] * (p * slope_x[k] + q * slope_y[k])


@njit
def warp_affine(theta, x, y, dt, center, out_x, out_y):
    """x' = x - dt (vx + a11 X + a12 Y), y' = y - dt (vy + a21 X + a22 Y)."""
    for k in range(x.size):
        dx, dy = x[k] - center[0], y[k] - center[1]
        out_x[k] = x[k] - dt[k] * (theta[0] + theta[2] * dx + theta[3] * dy)
        out_y[k] = y[k] - dt[k] * (theta[1] + theta[4] * dx + theta[5] * dy)


@njit
def pull_affine(theta, x, y, dt, center, slope_x, slope_y, out):
    """Rows of the Jacobian: -dt (1, 0, X, Y, 0, 0) and -dt (0, 1, 0, 0, X, Y)."""
    for k in range(x.size):
        dx, dy = x[k] - center[0], y[k] - center[1]
        gx, gy = dt[k] * slope_x[k], dt[k] * slope_y[k]
        out[0] -= gx
        out[1] -= gy
        out[2] -= gx * dx
        out[3] -= gx * dy
        out[4] -= gy * dx
        out[5] -= gy * dy


@njit
def warp_homography(theta, x, y, dt, frame, out_x, out_y):
    """Generator g1..g8 on a = X / L, b = Y / L; frame is (cx, cy, L)."""
    length = frame[2]
    for k in range(x.size):
        a, b = (x[k] - frame[0]) / length, (y[k] - frame[1]) / length
        depth = 1.0 - dt[k] * (theta[6] * a + theta[7] * b)
        out_x[k] = frame[0] + length * (a - dt[k] * (theta[0] * a + theta[1] * b + theta[2])) / depth
        out_y[k] = frame[1] + length * (b - dt[k] * (theta[3] * a + theta[4] * b + theta[5])) / depth


@njit
def pull_homography(theta, x, y, dt, frame, slope_x, slope_y, out):
    """With r = -dt L / d: rows r (a, b, 1, 0, 0, 0, -a a', -b a'), r (0, 0, 0, a, b, 1, -a b', -b b')."""
    length = frame[2]
    for k in range(x.size):
        a, b = (x[k] - frame[0]) / length, (y[k] - frame[1]) / length
        depth = 1.0 - dt[k] * (theta[6] * a + theta[7] * b)
        at = (a - dt[k] * (theta[0] * a + theta[1] * b + theta[2])) / depth
        bt = (b - dt[k] * (theta[3] * a + theta[4] * b + theta[5])) / depth
        r = -dt[k] * length / depth
        gx, gy = r * slope_x[k], r * slope_y[k]
        out[0] += gx * a
        out[1] += gx * b
        out[2] += gx
        out[3] += gy * a
        out[4] += gy * b
        out[5] += gy
        both = gx * at + gy * bt
        out[6] -= both * a
        out[7] -= both * b


@njit
def _turn_factors(angle, dt):
    """Factors of [w]_x and [w]_x^2 in exp([w]_x dt), and those of the left Jacobian times dt."""
    if abs(angle) < 1e-4:
        square = angle * angle
        first = dt * (1.0 - square / 6.0)
        second = dt * dt * (0.5 - square / 24.0)
        third = dt * dt * dt * (1.0 / 6.0 - square / 120.0)
        return first, second, third
    per_dt = angle / dt
    sine, cosine = math.sin(angle), math.cos(angle)
    return (
        sine / per_dt,
        (1.0 - cosine) / (per_dt * per_dt),
        (angle - sine) / (per_dt * per_dt * per_dt),
    )


@njit
def warp_rotation(theta, bx, by, dt, focal, out_x, out_y):
    """Turn the ray (bx, by, 1) by exp([omega]_x dt) and project; focal is (fx, fy, cx, cy)."""
    wx, wy, wz = theta[0], theta[1], theta[2]
    speed = math.sqrt(wx * wx + wy * wy + wz * wz)
    for k in range(bx.size):
        first, second, _ = _turn_factors(speed * dt[k], dt[k])
        ux, uy, uz = wy - wz * by[k], wz * bx[k] - wx, wx * by[k] - wy * bx[k]
        depth = 1.0 + first * uz + second * (wx * uy - wy * ux)
        out_x[k] = focal[2] + focal[0] * (bx[k] + first * ux + second * (wy * uz - wz * uy)) / depth
        out_y[k] = focal[3] + focal[1] * (by[k] + first * uy + second * (wz * ux - wx * uz)) / depth


@njit
def pull_rotation(theta, bx, by, dt, focal, slope_x, slope_y, out):
    """J^T s = Jl^T (X x g) dt with the turned ray X, g = Jproj^T s, and the left Jacobian Jl."""
    wx, wy, wz = theta[0], theta[1], theta[2]
    speed = math.sqrt(wx * wx + wy * wy + wz * wz)
    for k in range(bx.size):
        first, second, third = _turn_factors(speed * dt[k], dt[k])
        ux, uy, uz = wy - wz * by[k], wz * bx[k] - wx, wx * by[k] - wy * bx[k]
        qx = bx[k] + first * ux + second * (wy * uz - wz * uy)
        qy = by[k] + first * uy + second * (wz * ux - wx * uz)
        qz = 1.0 + first * uz + second * (wx * uy - wy * ux)
        gx = focal[0] * slope_x[k] / qz
        gy = focal[1] * slope_y[k] / qz
        gz = -(gx * qx + gy * qy) / qz
        cx, cy, cz = qy * gz - qz * gy, qz * gx - qx * gz, qx * gy - qy * gx
        # Jl dt = dt I + second [w]_x + third [w]_x^2; its transpose has the sign of [w]_x turned.
        vx, vy, vz = wy * cz - wz * cy, wz * cx - wx * cz, wx * cy - wy * cx
        out[0] += dt[k] * cx - second * vx + third * (wy * vz - wz * vy)
        out[1] += dt[k] * cy - second * vy + third * (wz * vx - wx * vz)
        out[2] += dt[k] * cz - second * vz + third * (wx * vy - wy * vx)
