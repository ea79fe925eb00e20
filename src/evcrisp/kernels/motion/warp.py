"""Warp events and pull gradients back to the motion parameters; one pair of kernels per model.

All arrays are (n,) float64. `warp_*` fills out_x, out_y with the positions at the reference time.
`pull_*` adds J_k^T (slope_x[k], slope_y[k]) over all events into out, shape (m,): the gradient with
respect to theta.

A division by zero gives infinity, which is no position on any map, instead of an exception, and what
would be behind the camera is at no number at all. Without the exception, and with sines and cosines of small angles as series, the compiler takes several
events at a time: eight times faster for a rotation.
"""

import math

from evcrisp.kernels.compile import compiled

moving = compiled(error_model="numpy")
#: Sums may be added in any order; infinity and NaN keep their meaning.
summing = compiled(error_model="numpy", fastmath={"reassoc"})


@moving
def warp_translation(theta, x, y, dt, out_x, out_y):
    """Move by (x - vx dt, y - vy dt)."""
    vx, vy = theta[0], theta[1]
    for k in range(x.size):
        out_x[k] = x[k] - vx * dt[k]
        out_y[k] = y[k] - vy * dt[k]


@summing
def pull_translation(theta, x, y, dt, slope_x, slope_y, out):
    """Pull by the rows (-dt, 0) and (0, -dt)."""
    vx = vy = 0.0
    for k in range(x.size):
        vx -= slope_x[k] * dt[k]
        vy -= slope_y[k] * dt[k]
    out[0] += vx
    out[1] += vy


@moving
def _largest(dt):
    """Return the largest |dt|."""
    largest = 0.0
    for k in range(dt.size):
        largest = max(largest, abs(dt[k]))
    return largest


@moving
def _small_sine(square):
    """Return sin(a) / a and (1 - cos(a)) / a^2 for square = a^2 up to 1, to 1e-16."""
    s = square
    first = 1 / 6227020800 - s * (1 / 1307674368000 - s / 355687428096000)
    first = 1 / 5040 - s * (1 / 362880 - s * (1 / 39916800 - s * first))
    first = 1.0 - s * (1 / 6 - s * (1 / 120 - s * first))
    second = 1 / 87178291200 - s * (1 / 20922789888000 - s / 6402373705728000)
    second = 1 / 40320 - s * (1 / 3628800 - s * (1 / 479001600 - s * second))
    second = 0.5 - s * (1 / 24 - s * (1 / 720 - s * second))
    return first, second


@moving
def _small_third(square):
    """Return (a - sin(a)) / a^3 for square = a^2 up to 1, to 1e-16."""
    s = square
    third = 1 / 1307674368000 - s * (1 / 355687428096000 - s / 121645100408832000)
    third = 1 / 362880 - s * (1 / 39916800 - s * (1 / 6227020800 - s * third))
    return 1 / 6 - s * (1 / 120 - s * (1 / 5040 - s * third))


@moving
def _small_exp(a):
    """Return exp(a) for |a| up to 1, to 1e-16, by even and odd terms."""
    s = a * a
    even = 1 / 87178291200 + s * (1 / 20922789888000 + s / 6402373705728000)
    even = 1 / 40320 + s * (1 / 3628800 + s * (1 / 479001600 + s * even))
    even = 1.0 + s * (0.5 + s * (1 / 24 + s * (1 / 720 + s * even)))
    odd = 1 / 6227020800 + s * (1 / 1307674368000 + s / 355687428096000)
    odd = 1 / 5040 + s * (1 / 362880 + s * (1 / 39916800 + s * odd))
    odd = 1.0 + s * (1 / 6 + s * (1 / 120 + s * odd))
    return even + a * odd


@moving
def _small_spiral(w, s, dt):
    """Return exp(-s dt) (cos(w dt), sin(w dt)) where both products are at most 1."""
    angle = w * dt
    shrink = _small_exp(-s * dt)
    first, second = _small_sine(angle * angle)
    return shrink * (1.0 - angle * angle * second), shrink * angle * first


@moving
def _spiral(w, s, dt):
    shrink = math.exp(-s * dt)
    return shrink * math.cos(w * dt), shrink * math.sin(w * dt)


@moving
def warp_similarity(theta, x, y, dt, center, out_x, out_y):
    """Move by velocity, turn and growth (vx, vy, w, s) about center = (cx, cy)."""
    vx, vy, w, s = theta[0], theta[1], theta[2], theta[3]
    cx, cy = center[0], center[1]
    if max(abs(w), abs(s)) * _largest(dt) <= 1.0:
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


@summing
def pull_similarity(theta, x, y, dt, center, slope_x, slope_y, out):
    """Pull by (-dt, 0, dt q, -dt p), (0, -dt, -dt p, -dt q), (p, q) turned and shrunk."""
    w, s = theta[2], theta[3]
    cx, cy = center[0], center[1]
    small = max(abs(w), abs(s)) * _largest(dt) <= 1.0
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


@moving
def warp_affine(theta, x, y, dt, center, out_x, out_y):
    """Move by (x - dt (vx + a11 X + a12 Y), y - dt (vy + a21 X + a22 Y))."""
    vx, vy, a11, a12, a21, a22 = theta[0], theta[1], theta[2], theta[3], theta[4], theta[5]
    cx, cy = center[0], center[1]
    for k in range(x.size):
        dx, dy = x[k] - cx, y[k] - cy
        out_x[k] = x[k] - dt[k] * (vx + a11 * dx + a12 * dy)
        out_y[k] = y[k] - dt[k] * (vy + a21 * dx + a22 * dy)


@summing
def pull_affine(theta, x, y, dt, center, slope_x, slope_y, out):
    """Pull by the rows -dt (1, 0, X, Y, 0, 0) and -dt (0, 1, 0, 0, X, Y)."""
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


@moving
def _projected(theta, a, b, dt):
    """Return a', b' and 1 / d of the homography's generator."""
    inverse = 1.0 / (1.0 - dt * (theta[6] * a + theta[7] * b))
    to_a = (a - dt * (theta[0] * a + theta[1] * b + theta[2])) * inverse
    to_b = (b - dt * (theta[3] * a + theta[4] * b + theta[5])) * inverse
    return to_a, to_b, inverse


@moving
def warp_homography(theta, x, y, dt, frame, out_x, out_y):
    """Move by the generator g1..g8 on a = X / L, b = Y / L; frame is (cx, cy, L)."""
    g = (theta[0], theta[1], theta[2], theta[3], theta[4], theta[5], theta[6], theta[7])
    cx, cy, length = frame[0], frame[1], frame[2]
    for k in range(x.size):
        a, b, inverse = _projected(g, (x[k] - cx) / length, (y[k] - cy) / length, dt[k])
        out_x[k] = cx + length * a if inverse > 0.0 else math.nan
        out_y[k] = cy + length * b if inverse > 0.0 else math.nan


@summing
def pull_homography(theta, x, y, dt, frame, slope_x, slope_y, out):
    """Pull by r (a, b, 1, 0, 0, 0, -a a', -b a'), r (0, 0, 0, a, b, 1, -a b', -b b'), r = -dt L / d."""
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


@moving
def _small_turn(square, dt):
    """Return the factors of `_turn` where speed * dt is at most 1; square = speed^2."""
    s = square * dt * dt
    first, second = _small_sine(s)
    return dt * first, dt * dt * second, dt * dt * dt * _small_third(s)


@moving
def _turn(square, dt):
    """Return the factors of [w]_x and [w]_x^2 in exp([w]_x dt), and of [w]_x^2 in dt times Jl."""
    angle = math.sqrt(square) * dt
    if abs(angle) <= 1.0:
        return _small_turn(square, dt)
    sine, cosine = math.sin(angle), math.cos(angle)
    first = dt * sine / angle
    second = dt * dt * (1.0 - cosine) / (angle * angle)
    return first, second, dt * dt * dt * (angle - sine) / (angle * angle * angle)


@moving
def _turned(wx, wy, wz, bx, by, first, second):
    """Return the ray (bx, by, 1) after the turn."""
    ux, uy, uz = wy - wz * by, wz * bx - wx, wx * by - wy * bx
    qx = bx + first * ux + second * (wy * uz - wz * uy)
    qy = by + first * uy + second * (wz * ux - wx * uz)
    return qx, qy, 1.0 + first * uz + second * (wx * uy - wy * ux)


@moving
def _in_front(depth):
    """Return a depth, or NaN behind the camera, where no point has an image."""
    return depth if depth > 0.0 else math.nan


@moving
def warp_rotation(theta, bx, by, dt, focal, out_x, out_y):
    """Turn the ray (bx, by, 1) by exp([omega]_x dt) and project; focal is (fx, fy, cx, cy)."""
    wx, wy, wz = theta[0], theta[1], theta[2]
    fx, fy, cx, cy = focal[0], focal[1], focal[2], focal[3]
    square = wx * wx + wy * wy + wz * wz
    if square * _largest(dt) ** 2 <= 1.0:
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


@moving
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


@summing
def pull_rotation(theta, bx, by, dt, focal, slope_x, slope_y, out):
    """Pull by J^T s = dt Jl^T (q x g) with the turned ray q and g = Jproj^T s."""
    wx, wy, wz = theta[0], theta[1], theta[2]
    fx, fy = focal[0], focal[1]
    square = wx * wx + wy * wy + wz * wz
    to_x = to_y = to_z = 0.0
    if square * _largest(dt) ** 2 <= 1.0:
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
