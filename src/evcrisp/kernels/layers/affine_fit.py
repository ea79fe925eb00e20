"""Fit an affine motion to some events of a window: contrast, gradient, and ascent.

A motion is six numbers: displacements along x and y at a center, and a turn, a growth and two
stretches, all in px per window; the last four at a distance of one radius from the center.
"""

import math

import numpy as np

from evcrisp.kernels.compile import fused
from evcrisp.kernels.contrast.spline import accumulate, value_and_slope_at

#: Parameters of a motion.
N_PARAMETERS = 6

#: Inverse curvature of the log contrast along a parameter, in squares of the scale of the map.
_TYPICAL_INVERSE = 12.0

#: Longest step, in pixels of the map; steps shrink by this factor until the contrast rises.
_MAX_STEP, _SHRINK, _MAX_SHRINKS = 1.5, 0.35, 4

#: Room around the events on the map, px and pixels of the map.
_ROOM_PX, _ROOM = 6.0, 4.0

#: Least radius of the events of a layer, px: turn and growth of a smaller spot mean nothing.
_LEAST_RADIUS_PX = 10.0

#: Largest turn, growth or stretch within a window, rad or share: larger ones are a collapse.
_MAX_CHANGE = 0.3


@fused
def linear_part(motion, radius, out):
    """Fill out : (4,) float64 with the matrix of a motion, row by row, per px of distance."""
    turn, grow, stretch, skew = motion[2], motion[3], motion[4], motion[5]
    out[0], out[1] = (grow + stretch) / radius, (skew - turn) / radius
    out[2], out[3] = (skew + turn) / radius, (grow - stretch) / radius


@fused
def locate_moved(
    x, y, tau, p, motion, center_x, center_y, radius, scale, shift_x, shift_y, shape, cell, a, b
):
    """Locate the 3 x 3 pixels of every event at the reference time; a loop that vectorizes.

    x, y, tau : (n,) float32      p : (n,) uint8      motion : (6,) float64
    scale : px per pixel of the map      shift_x, shift_y : pixel of the map at (0, 0)
    shape : height and width of the map of a polarity; that of ON lies behind that of OFF
    cell : (n,) int32, filled: upper left pixel in the flat maps; -1 outside
    a, b : (n,) float32, filled: offset from the center pixel, -0.5 to 0.5
    """
    matrix = np.empty(4)
    linear_part(motion, radius, matrix)
    height, width = np.int32(shape[0]), np.int32(shape[1])
    right, bottom = np.float32(width - 1.5), np.float32(height - 1.5)
    # The position on the map is x * gain + start, minus tau times the displacement there.
    gain, start_x, start_y = np.float32(1.0 / scale), np.float32(shift_x), np.float32(shift_y)
    xx, xy = np.float32(matrix[0] / scale), np.float32(matrix[1] / scale)
    yx, yy = np.float32(matrix[2] / scale), np.float32(matrix[3] / scale)
    along_x, along_y = np.float32(motion[0] / scale), np.float32(motion[1] / scale)
    middle_x, middle_y = np.float32(center_x), np.float32(center_y)
    half, low, one = np.float32(0.5), np.float32(0.5), np.float32(1.0)
    for k in range(x.size):
        across, down = x[k] - middle_x, y[k] - middle_y
        u = x[k] * gain + start_x - tau[k] * (along_x + xx * across + xy * down)
        v = y[k] * gain + start_y - tau[k] * (along_y + yx * across + yy * down)
        inside = (u >= low) & (u < right) & (v >= low) & (v < bottom)
        # No branch: a valid pixel replaces positions outside, and NaN.
        u = u if inside else one
        v = v if inside else one
        i, j = np.int32(u + half), np.int32(v + half)
        a[k], b[k] = u - np.float32(i), v - np.float32(j)
        at = (np.int32(p[k]) * height + j - np.int32(1)) * width + i - np.int32(1)
        cell[k] = at if inside else np.int32(-1)


@fused
def contrast_and_gradient(
    x, y, tau, p, motion, center_x, center_y, radius, n_free, scale, shift_x, shift_y,
    image, cell, a, b, gradient,
):  # fmt: skip
    """Return the log of the mean contrast per event; fill its gradient.

    x, y, tau : (n,) float32      p : (n,) uint8      motion : (6,) float64
    n_free : 2, 3, 4 or 6 leading parameters      scale : px per pixel of the map
    shift_x, shift_y : pixel of the map at (0, 0)
    image : (2 * h, w) float32, overwritten: the maps of OFF and of ON events, one below the other
    cell : (n,) int32; a, b : (n,) float32, overwritten
    gradient : (6,) float64, filled; 0 for parameters that are not free
    """
    height, width = image.shape[0] // 2, image.shape[1]
    locate_moved(
        x, y, tau, p, motion, center_x, center_y, radius, scale, shift_x, shift_y,
        (height, width), cell, a, b,
    )  # fmt: skip
    accumulate(cell, a, b, image)
    flat, wide = image.reshape(-1), np.uint64(width)
    # The sum of the squares of a map is the sum of what its events read there.
    total = shift_along_x = shift_along_y = turn = grow = stretch = skew = 0.0
    for k in range(x.size):
        if cell[k] < 0:
            continue
        value, slope_x, slope_y = value_and_slope_at(flat, np.uint64(cell[k]), wide, a[k], b[k])
        total += value
        slope_x *= -tau[k]
        slope_y *= -tau[k]
        shift_along_x += slope_x
        shift_along_y += slope_y
        if n_free > 2:
            u, v = x[k] - center_x, y[k] - center_y
            turn += slope_y * u - slope_x * v
            grow += slope_x * u + slope_y * v
            stretch += slope_x * u - slope_y * v
            skew += slope_x * v + slope_y * u
    gradient[:] = 0.0
    if not total > 0.0:
        return -math.inf
    factor = 2.0 / (scale * total)
    gradient[0], gradient[1] = factor * shift_along_x, factor * shift_along_y
    if n_free > 2:
        gradient[2] = factor * turn / radius
    if n_free > 3:
        gradient[3] = factor * grow / radius
    if n_free > 4:
        gradient[4], gradient[5] = factor * stretch / radius, factor * skew / radius
    return math.log(total / x.size)


@fused
def fit_affine(x, y, tau, p, center_x, center_y, radius, n_free, scale, tolerance, n_steps, motion):
    """Maximize the contrast by BFGS; return the log contrast and the number of evaluations.

    x, y, tau : (n,) float32      p : (n,) uint8      n_free : 2, 3, 4 or 6 leading parameters
    scale : px per pixel of the map      tolerance : px, of the last step      n_steps : at most
    motion : (6,) float64, from the start to the result
    """
    n = x.size
    reach = 0.5 * (math.hypot(motion[0], motion[1]) + np.abs(motion[2:]).sum())
    margin = reach + _ROOM * scale + _ROOM_PX
    # The middle of the events is the middle of a pixel: a mirrored window has the mirrored map.
    first_x, last_x = np.float64(x.min()), np.float64(x.max())
    first_y, last_y = np.float64(y.min()), np.float64(y.max())
    across = int((0.5 * (last_x - first_x) + margin) / scale) + 3
    down = int((0.5 * (last_y - first_y) + margin) / scale) + 3
    width, height = 2 * across + 1, 2 * down + 1
    shift_x = across - 0.5 * (first_x + last_x) / scale
    shift_y = down - 0.5 * (first_y + last_y) / scale
    image = np.empty((2 * height, width), np.float32)
    cell, a, b = np.empty(n, np.int32), np.empty(n, np.float32), np.empty(n, np.float32)
    gradient, ahead = np.zeros(N_PARAMETERS), np.zeros(N_PARAMETERS)
    inverse = np.zeros((N_PARAMETERS, N_PARAMETERS))
    for i in range(n_free):
        inverse[i, i] = _TYPICAL_INVERSE * scale * scale
    value = contrast_and_gradient(
        x, y, tau, p, motion, center_x, center_y, radius, n_free, scale, shift_x, shift_y,
        image, cell, a, b, gradient,
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
                image, cell, a, b, ahead,
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
def fit_chosen(x, y, tau, p, chosen, start, n_free, scales, n_steps, max_correction, out):
    """Fit a motion to some events of a window, map after map; return the log contrast.

    x, y, tau : (n,) float32      p : (n,) uint8      chosen : (k,) int64, one event or more
    start, out : (8,) float64: displacement along x and y at a center, the matrix row by row (per px
    of distance), and the center; out is filled
    n_free : 2, 3, 4 or 6      scales : (s,) float64, px per pixel of the maps, coarse to fine
    n_steps : at most, on each map
    max_correction : px; a motion that is corrected by more stays as it was, with -inf
    """
    n = chosen.size
    at_x, at_y = np.empty(n, np.float32), np.empty(n, np.float32)
    at_tau, at_p = np.empty(n, np.float32), np.empty(n, np.uint8)
    sum_x = sum_y = square = 0.0
    for i in range(n):
        k = np.uint64(chosen[i])
        at_x[i], at_y[i], at_tau[i], at_p[i] = x[k], y[k], tau[k], p[k]
        sum_x += x[k]
        sum_y += y[k]
        square += x[k] * x[k] + y[k] * y[k]
    center_x, center_y = sum_x / n, sum_y / n
    spread = square / n - center_x * center_x - center_y * center_y
    radius = max(math.sqrt(max(spread, 0.0)), _LEAST_RADIUS_PX)
    a, b = center_x - start[6], center_y - start[7]
    xx, xy, yx, yy = start[2] * radius, start[3] * radius, start[4] * radius, start[5] * radius
    motion = np.zeros(N_PARAMETERS)
    motion[0] = start[0] + start[2] * a + start[3] * b
    motion[1] = start[1] + start[4] * a + start[5] * b
    if n_free > 2:
        motion[2] = 0.5 * (yx - xy)
    if n_free > 3:
        motion[3] = 0.5 * (xx + yy)
    if n_free > 4:
        motion[4], motion[5] = 0.5 * (xx - yy), 0.5 * (xy + yx)
    first_x, first_y, value = motion[0], motion[1], 0.0
    for scale in scales:
        value, _ = fit_affine(
            at_x, at_y, at_tau, at_p, center_x, center_y, radius, n_free, scale, 0.05 * scale,
            n_steps, motion,
        )  # fmt: skip
    out[:] = start
    corrected = math.hypot(motion[0] - first_x, motion[1] - first_y)
    # Written so that NaN has left too.
    if not corrected < max_correction or not np.abs(motion[2:]).max() <= _MAX_CHANGE * radius:
        return -math.inf
    out[0], out[1], out[6], out[7] = motion[0], motion[1], center_x, center_y
    linear_part(motion, radius, out[2:6])
    return value


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
