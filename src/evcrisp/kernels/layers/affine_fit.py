"""Fit an affine motion to some events of a window: contrast, gradient, and ascent.

A motion is six numbers: displacements along x and y at a center, and a turn, a growth and two
stretches, all in px per window; the last four at a distance of one radius from the center.
"""

import math

import numpy as np

from evcrisp.kernels.compile import fused
from evcrisp.kernels.contrast.spline import accumulate, locate, slope_at

#: Parameters of a motion.
N_PARAMETERS = 6

#: Inverse curvature of the log contrast along a parameter, in squares of the scale of the map.
_TYPICAL_INVERSE = 12.0

#: Longest step, in pixels of the map; steps shrink by this factor until the contrast rises.
_MAX_STEP, _SHRINK, _MAX_SHRINKS = 1.5, 0.35, 4

#: Room around the events on the map, px and pixels of the map.
_ROOM_PX, _ROOM = 6.0, 4.0


@fused
def linear_part(motion, radius, out):
    """Fill out : (4,) float64 with the matrix of a motion, row by row, per px of distance."""
    turn, grow, stretch, skew = motion[2], motion[3], motion[4], motion[5]
    out[0], out[1] = (grow + stretch) / radius, (skew - turn) / radius
    out[2], out[3] = (skew + turn) / radius, (grow - stretch) / radius


@fused
def place(x, y, tau, motion, center_x, center_y, radius, out_x, out_y):
    """Fill positions at the reference time, px.

    x, y, tau : (n,) float32      motion : (6,) float64      out_x, out_y : (n,) float64, filled
    """
    matrix = np.empty(4)
    linear_part(motion, radius, matrix)
    xx, xy, yx, yy = matrix
    for k in range(x.size):
        a, b = x[k] - center_x, y[k] - center_y
        out_x[k] = x[k] - tau[k] * (motion[0] + xx * a + xy * b)
        out_y[k] = y[k] - tau[k] * (motion[1] + yx * a + yy * b)


@fused
def contrast_and_gradient(
    x, y, tau, p, motion, center_x, center_y, radius, n_free, scale, shift_x, shift_y,
    image, to_x, to_y, cell, a, b, gradient,
):  # fmt: skip
    """Return the log of the mean contrast per event; fill its gradient.

    x, y, tau : (n,) float32      p : (n,) uint8      motion : (6,) float64
    n_free : 2, 4 or 6 leading parameters      scale : px per pixel of the map
    shift_x, shift_y : pixel of the map at (0, 0)
    image : (2 * h, w) float32, overwritten: the maps of OFF and of ON events, one below the other
    to_x, to_y : (n,) float64; cell : (n,) int64; a, b : (n,) float32, overwritten
    gradient : (6,) float64, filled; 0 for parameters that are not free
    """
    height, width = image.shape[0] // 2, image.shape[1]
    place(x, y, tau, motion, center_x, center_y, radius, to_x, to_y)
    gain = 1.0 / scale
    locate(to_x, to_y, gain, shift_x, shift_y, np.array((height, width)), cell, a, b)
    for k in range(x.size):
        cell[k] += np.int64(p[k]) * height * width if cell[k] >= 0 else 0
    accumulate(cell, a, b, image)
    gradient[:] = 0.0
    total = _square_sum(image)
    if not total > 0.0:
        return -math.inf
    flat, wide = image.reshape(-1), np.uint64(width)
    for k in range(x.size):
        if cell[k] < 0:
            continue
        slope_x, slope_y = slope_at(flat, np.uint64(cell[k]), wide, a[k], b[k])
        slope_x *= -tau[k]
        slope_y *= -tau[k]
        gradient[0] += slope_x
        gradient[1] += slope_y
        if n_free > 2:
            u, v = (x[k] - center_x) / radius, (y[k] - center_y) / radius
            gradient[2] += slope_y * u - slope_x * v
            gradient[3] += slope_x * u + slope_y * v
            gradient[4] += slope_x * u - slope_y * v
            gradient[5] += slope_x * v + slope_y * u
    for i in range(N_PARAMETERS):
        gradient[i] *= 2.0 * gain / total if i < n_free else 0.0
    return math.log(total / x.size)


@fused
def _square_sum(image):
    total = 0.0
    for r in range(image.shape[0]):
        row = np.float32(0.0)
        for c in range(image.shape[1]):
            row += image[r, c] * image[r, c]
        total += row
    return total


@fused
def fit_affine(x, y, tau, p, center_x, center_y, radius, n_free, scale, tolerance, n_steps, motion):
    """Maximize the contrast by BFGS; return the log contrast and the number of evaluations.

    x, y, tau : (n,) float32      p : (n,) uint8      n_free : 2, 4 or 6 leading parameters
    scale : px per pixel of the map      tolerance : px, of the last step      n_steps : at most
    motion : (6,) float64, from the start to the result
    """
    n = x.size
    reach = 0.5 * (math.hypot(motion[0], motion[1]) + np.abs(motion[2:]).sum())
    margin = reach + _ROOM * scale + _ROOM_PX
    left, top = x.min() - margin, y.min() - margin
    width = int((x.max() - left + margin) / scale) + 5
    height = int((y.max() - top + margin) / scale) + 5
    shift_x, shift_y = 1.5 - left / scale, 1.5 - top / scale
    image = np.empty((2 * height, width), np.float32)
    to_x, to_y, cell = np.empty(n), np.empty(n), np.empty(n, np.int64)
    a, b = np.empty(n, np.float32), np.empty(n, np.float32)
    gradient, ahead = np.zeros(N_PARAMETERS), np.zeros(N_PARAMETERS)
    inverse = np.zeros((N_PARAMETERS, N_PARAMETERS))
    for i in range(n_free):
        inverse[i, i] = _TYPICAL_INVERSE * scale * scale
    value = contrast_and_gradient(
        x, y, tau, p, motion, center_x, center_y, radius, n_free, scale, shift_x, shift_y,
        image, to_x, to_y, cell, a, b, gradient,
    )  # fmt: skip
    n_eval = 1
    for _ in range(n_steps):
        step = _product(inverse, gradient)
        length = math.sqrt(_dot(step, step))
        if not length >= tolerance:
            break
        step *= min(1.0, _MAX_STEP * scale / length)
        has_risen, trial, reached = False, motion + step, value
        for _ in range(_MAX_SHRINKS):
            reached = contrast_and_gradient(
                x, y, tau, p, trial, center_x, center_y, radius, n_free, scale, shift_x, shift_y,
                image, to_x, to_y, cell, a, b, ahead,
            )  # fmt: skip
            n_eval += 1
            has_risen = reached > value
            if has_risen:
                break
            step *= _SHRINK
            trial = motion + step
        if not has_risen:
            break
        _update_inverse(inverse, trial - motion, gradient - ahead)
        motion[:], gradient[:], value = trial, ahead, reached
    return value, n_eval


@fused
def _update_inverse(inverse, step, change):
    """Update the inverse curvature of an ascent by BFGS; `change` is minus that of the gradient."""
    along = _dot(step, change)
    if not along > 1e-12:
        return
    turned = _product(inverse, change)
    factor = (along + _dot(change, turned)) / (along * along)
    for i in range(step.size):
        for j in range(step.size):
            inverse[i, j] += factor * step[i] * step[j]
            inverse[i, j] -= (turned[i] * step[j] + step[i] * turned[j]) / along


# The operator @ would need SciPy.


@fused
def _dot(a, b):
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@fused
def _product(matrix, vector):
    out = np.empty(vector.size)
    for i in range(out.size):
        out[i] = _dot(matrix[i], vector)
    return out
