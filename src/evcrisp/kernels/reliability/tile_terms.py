"""Gradient and curvature of the contrast of an aligned window, tile by tile."""

import numpy as np

from evcrisp.kernels.compile import fused
from evcrisp.kernels.contrast.spline import locate, taps

#: Numbers of each pixel of the map: events, and events times tau and tau^2; the last is not used. One
#: after the other, so that an event adds to all of them at once.
_PER_PIXEL = 4

#: Sums of each pixel of a row: three of the curvature, squares, and three of the slopes.
_SUMS = 7

_HALF, _ONE = np.float32(0.5), np.float32(1.0)


@fused
def tile_terms(
    x, y, tau, p, scale, margin, shape, tile_px, pull, bend, curvature, steepness, count
):
    r"""Sum gradient and curvature of the contrast, the sum of squares of the map, over tiles.

    With the maps A, B, C of 1, tau, tau^2 at every event, the curvature by the displacement u over the
    window is :math:`2 \sum (\nabla A \nabla C - \nabla B \nabla B)`. Pairs of an event with itself cancel, and
    chance neighbors do on average: it is zero for noise, and along a straight edge.

    x, y : (n,) float64, aligned, px      tau : (n,) float32, windows      p : (n,) uint8
    scale : px per pixel of the map      margin : px around the sensor      shape : (height, width), px
    tile_px : side of a tile, px
    pull : (rows, columns, 2) float64, filled: gradient by u along x and y
    bend : (rows, columns, 2, 2) float64, filled: gradient by displacements along x and y, px, that grow
        with the second and the third Legendre polynomial of 2 tau
    curvature : (rows, columns, 3) float64, filled: minus the second derivatives xx, xy, yy by u
    steepness : (rows, columns, 3) float64, filled: products xx, xy, yy of the slopes of A, per px
    count : (rows, columns) float64, filled: events
    Returns the sum of squares of the map, and that of its slopes per px.
    """
    rows, columns = count.shape
    wide = int((shape[1] + 2.0 * margin) / scale) + 4
    high = int((shape[0] + 2.0 * margin) / scale) + 4
    n, start, gain = x.size, margin / scale + 1.5, 1.0 / scale
    cell, a, b = np.empty(n, np.int32), np.empty(n, np.float32), np.empty(n, np.float32)
    locate(x, y, gain, start, start, np.array((high, wide)), cell, a, b)
    for k in range(n):
        cell[k] += np.int32(p[k]) * np.int32(high * wide) if cell[k] >= 0 else 0
    maps = np.zeros((2 * high, _PER_PIXEL * wide), np.float32)
    flat, line = maps.reshape(-1), np.uint64(_PER_PIXEL * wide)
    _accumulate(cell, a, b, tau, flat, line)
    pull[:] = 0.0
    bend[:] = 0.0
    curvature[:] = 0.0
    steepness[:] = 0.0
    count[:] = 0.0
    for k in range(n):
        # First: positions outside may be no numbers.
        if cell[k] < 0:
            continue
        r, c = int(max(y[k], 0.0) / tile_px), int(max(x[k], 0.0) / tile_px)
        if r >= rows or c >= columns:
            continue
        slope_x, slope_y = _slope_at(flat, np.uint64(_PER_PIXEL * cell[k]), line, a[k], b[k])
        factor, square = -2.0 * gain, 4.0 * tau[k] * tau[k]
        second, third = 1.5 * square - 0.5, tau[k] * (5.0 * square - 3.0)
        pull[r, c, 0] += factor * tau[k] * slope_x
        pull[r, c, 1] += factor * tau[k] * slope_y
        bend[r, c, 0, 0] += factor * second * slope_x
        bend[r, c, 0, 1] += factor * second * slope_y
        bend[r, c, 1, 0] += factor * third * slope_x
        bend[r, c, 1, 1] += factor * third * slope_y
        count[r, c] += 1.0
    # A row of the map at a time, without branches, so that the loop is vectorized.
    sums = np.zeros((_SUMS, wide), np.float32)
    across, down = np.zeros(_PER_PIXEL * wide, np.float32), np.zeros(_PER_PIXEL * wide, np.float32)
    energy = slopes = 0.0
    for r in range(rows):
        first = max(int(np.ceil(start + r * tile_px * gain)), 1) if r > 0 else 1
        last = int(np.ceil(start + (r + 1) * tile_px * gain)) if r < rows - 1 else high - 1
        sums[:] = 0.0
        for half in range(2):
            for i in range(half * high + first, half * high + min(last, high - 1)):
                _slopes_of_row(maps[i - 1], maps[i], maps[i + 1], across, down)
                _add_curvature(across, down, sums[0], sums[1], sums[2])
                _add_squares(maps[i], across, down, sums[3], sums[4], sums[5], sums[6])
        for j in range(1, wide - 1):
            c = int(max((j - start) * scale, 0.0) / tile_px)
            energy += sums[3, j]
            slopes += gain * gain * (sums[4, j] + sums[6, j])
            if c < columns:
                for part in range(3):
                    curvature[r, c, part] += 2.0 * gain * gain * sums[part, j]
                    steepness[r, c, part] += gain * gain * sums[4 + part, j]
    return energy, slopes


@fused
def _accumulate(cell, a, b, tau, flat, line):
    """Add all footprints, times 1, tau and tau^2."""
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
    for k in range(cell.size):
        if cell[k] < 0:
            continue
        across, down, at = taps(a[k]), taps(b[k]), np.uint64(_PER_PIXEL * cell[k])
        first, second = tau[k], tau[k] * tau[k]
        for row in range(3):
            place = at
            for column in range(3):
                weight = down[row] * across[column]
                flat[place] += weight
                flat[place + one] += weight * first
                flat[place + two] += weight * second
                flat[place + three] += _ONE
                place += np.uint64(_PER_PIXEL)
            at += line


@fused
def _slope_at(flat, place, line, a, b):
    """Return the slopes of A along both axes; see `evcrisp.kernels.contrast.spline.slope_at`."""
    left, right, above, below = _HALF - a, _HALF + a, _HALF - b, _HALF + b
    first, last = _HALF * left * left, _HALF * right * right
    upper, across_upper = _row(flat, place, first, last, left, right)
    middle, across_middle = _row(flat, place + line, first, last, left, right)
    lower, across_lower = _row(flat, place + line + line, first, last, left, right)
    high, low = _HALF * above * above, _HALF * below * below
    across = across_middle + low * (across_lower - across_middle)
    across -= high * (across_middle - across_upper)
    return across, above * (middle - upper) + below * (lower - middle)


@fused
def _row(flat, place, first, last, left, right):
    """Return value and slope of a row of three pixels."""
    middle = flat[place + np.uint64(_PER_PIXEL)]
    before, after = middle - flat[place], flat[place + np.uint64(2 * _PER_PIXEL)] - middle
    return middle + last * after - first * before, left * before + right * after


@fused
def _slopes_of_row(above, row, below, across, down):
    """Fill the slopes along both axes of all numbers of a row, from 3 x 3 pixels (Scharr).

    Plain differences underestimate steep slopes: they would turn the direction of an edge.
    """
    few, many = np.float32(3.0 / 32.0), np.float32(10.0 / 32.0)
    step = _PER_PIXEL
    for j in range(step, row.size - step):
        left, right = above[j - step] + below[j - step], above[j + step] + below[j + step]
        across[j] = few * (right - left) + many * (row[j + step] - row[j - step])
        upper, lower = above[j - step] + above[j + step], below[j - step] + below[j + step]
        down[j] = few * (lower - upper) + many * (below[j] - above[j])


@fused
def _add_curvature(across, down, xx, xy, yy):
    """Add the products of the slopes of A and C, less those of B, at the pixels of a row."""
    for j in range(xx.size):
        k = np.uint64(_PER_PIXEL * j)
        ax, bx, cx = across[k], across[k + np.uint64(1)], across[k + np.uint64(2)]
        ay, by, cy = down[k], down[k + np.uint64(1)], down[k + np.uint64(2)]
        xx[j] += ax * cx - bx * bx
        xy[j] += _HALF * (ax * cy + ay * cx) - bx * by
        yy[j] += ay * cy - by * by


@fused
def _add_squares(row, across, down, squares, xx, xy, yy):
    """Add the squares of A, and the products of its slopes, at the pixels of a row."""
    for j in range(1, squares.size - 1):
        k = np.uint64(_PER_PIXEL * j)
        squares[j] += row[k] * row[k]
        xx[j] += across[k] * across[k]
        xy[j] += across[k] * down[k]
        yy[j] += down[k] * down[k]
