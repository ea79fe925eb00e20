"""Warp by the generator of a homography; NaN behind the camera."""

from collections.abc import Sequence

from evcrisp.tensors.lazy import Tensor, torch

Columns = Sequence[Tensor]


def _projected(theta: Columns, a: Tensor, b: Tensor, dt: Tensor) -> Columns:
    """Return a', b' and 1 / d of the generator."""
    inverse = 1.0 / (1.0 - dt * (theta[6] * a + theta[7] * b))
    to_a = (a - dt * (theta[0] * a + theta[1] * b + theta[2])) * inverse
    to_b = (b - dt * (theta[3] * a + theta[4] * b + theta[5])) * inverse
    return to_a, to_b, inverse


def warp(theta: Columns, x: Tensor, y: Tensor, dt: Tensor, constants: Columns) -> Columns:
    """Move by the generator g1..g8 on a = X / L, b = Y / L; constants are (cx, cy, L)."""
    cx, cy, length = constants
    a, b, inverse = _projected(theta, (x - cx) / length, (y - cy) / length, dt)
    front = torch.where(inverse > 0.0, 1.0, torch.nan)
    return (cx + length * a) * front, (cy + length * b) * front


def unwarp(theta: Columns, x: Tensor, y: Tensor, dt: Tensor, constants: Columns) -> Columns:
    """Return the positions at a time of points given at the reference time."""
    cx, cy, length = constants
    g1, g2, g3, g4, g5, g6, g7, g8 = (part * dt for part in theta)
    a, b = (x - cx) / length, (y - cy) / length
    # The adjugate of the matrix; its scale cancels but for the sign.
    xx, xy, x1, yx, yy, y1, zx, zy = 1.0 - g1, -g2, -g3, -g4, 1.0 - g5, -g6, -g7, -g8
    p = (yy - y1 * zy) * a + (x1 * zy - xy) * b + (xy * y1 - x1 * yy)
    q = (y1 * zx - yx) * a + (xx - x1 * zx) * b + (x1 * yx - xx * y1)
    depth = (yx * zy - yy * zx) * a + (xy * zx - xx * zy) * b + (xx * yy - xy * yx)
    determinant = xx * (yy - y1 * zy) - xy * (yx - y1 * zx) + x1 * (yx * zy - yy * zx)
    depth = torch.where(depth / determinant > 0.0, depth, torch.nan)
    return cx + length * p / depth, cy + length * q / depth


def pull_back(
    theta: Columns, x: Tensor, y: Tensor, dt: Tensor, constants: Columns, gx: Tensor, gy: Tensor
) -> Columns:
    """Pull back by r (a, b, 1, 0, 0, 0, -a a', -b a') and r (0, 0, 0, a, b, 1, -a b', -b b')."""
    cx, cy, length = constants
    a, b = (x - cx) / length, (y - cy) / length
    to_a, to_b, inverse = _projected(theta, a, b, dt)
    r = -dt * length * inverse
    gx, gy = r * gx, r * gy
    both = gx * to_a + gy * to_b
    return gx * a, gx * b, gx, gy * a, gy * b, gy, -both * a, -both * b
