"""Gradient and curvature of the contrast of an aligned window, tile by tile."""

import numpy as np

from evcrisp.kernels.compile import fused, njit
from evcrisp.kernels.contrast.spline import locate, slope_at, taps
from evcrisp.kernels.layers.local_misfit import parts_of

#: Maps at each pixel: events, and events times tau and tau^2.
_MAPS = 3


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
    steepness : (rows, columns, 3) float64, filled: products xx, xy, yy of the plain differences of A, per px
    count : (rows, columns) float64, filled: events
    Returns the sum of squares of the map, and that of its slopes per px.
    """
    rows, columns = count.shape
    wide = int((shape[1] + 2.0 * margin) / scale) + 4
    high = int((shape[0] + 2.0 * margin) / scale) + 4
    n, start, gain = x.size, margin / scale + 1.5, 1.0 / scale
    cell, a, b = np.empty(n, np.int64), np.empty(n, np.float32), np.empty(n, np.float32)
    locate(x, y, gain, start, start, np.array((high, wide)), cell, a, b)
    for k in range(n):
        cell[k] += np.int64(p[k]) * high * wide if cell[k] >= 0 else 0
    maps = np.zeros((_MAPS, 2 * high, wide), np.float32)
    _accumulate(cell, a, b, tau, maps)
    pull[:] = 0.0
    bend[:] = 0.0
    curvature[:] = 0.0
    steepness[:] = 0.0
    count[:] = 0.0
    flat, tile = maps[0].reshape(-1), np.empty(n, np.int32)
    parts_of(x, y, cell, tile_px, rows, columns, tile)
    pulls, bends, counts = pull.reshape(-1, 2), bend.reshape(-1, 2, 2), count.reshape(-1)
    for k in range(n):
        q = tile[k]
        if q < 0:
            continue
        slope_x, slope_y = slope_at(flat, np.uint64(cell[k]), np.uint64(wide), a[k], b[k])
        factor, square = -2.0 * gain, 4.0 * tau[k] * tau[k]
        second, third = 1.5 * square - 0.5, tau[k] * (5.0 * square - 3.0)
        pulls[q, 0] += factor * tau[k] * slope_x
        pulls[q, 1] += factor * tau[k] * slope_y
        bends[q, 0, 0] += factor * second * slope_x
        bends[q, 0, 1] += factor * second * slope_y
        bends[q, 1, 0] += factor * third * slope_x
        bends[q, 1, 1] += factor * third * slope_y
        counts[q] += 1.0
    # A row of the map at a time, without branches, so that the loop is vectorized.
    sums, slopes_of_row = np.zeros((8, wide), np.float32), np.zeros((6, wide), np.float32)
    tile_column = np.empty(wide, np.int64)
    for j in range(wide):
        tile_column[j] = int(max((j - start) * scale, 0.0) / tile_px)
    energy = slopes = 0.0
    for r in range(rows):
        first = max(int(np.ceil(start + r * tile_px * gain)), 1) if r > 0 else 1
        last = int(np.ceil(start + (r + 1) * tile_px * gain)) if r < rows - 1 else high - 1
        sums[:] = 0.0
        for half in range(2):
            for i in range(half * high + first, half * high + min(last, high - 1)):
                _add_row(maps, i, slopes_of_row, sums)
        for j in range(1, wide - 1):
            c = tile_column[j]
            energy += sums[3, j]
            slopes += gain * gain * sums[4, j]
            if c < columns:
                for part in range(3):
                    curvature[r, c, part] += 2.0 * gain * gain * sums[part, j]
                    steepness[r, c, part] += gain * gain * sums[5 + part, j]
    return energy, slopes


@njit
def take_chosen(x, y, t, p, chosen, step, t_ref, length, out_x, out_y, out_tau, out_p):
    """Copy one in `step` of the chosen events, the first of them included.

    x, y : (n,) float64      t : (n,) int64, us      p : (n,) uint8      chosen : (n,) bool
    t_ref, length : int64, us, reference time and length of the window
    out_x, out_y : (m,) float64, out_tau : (m,) float32, out_p : (m,) uint8, filled; m is the number of events;
        out_tau is the time in windows since the reference time
    """
    # All chosen ones first, without a branch, which would be unpredictable.
    at = np.empty(x.size + 1, np.int32)
    n = 0
    for k in range(x.size):
        at[n] = k
        n += chosen[k]
    for q in range(out_x.size):
        k = np.uint64(at[q * step])
        out_x[q], out_y[q], out_p[q] = x[k], y[k], p[k]
        out_tau[q] = (t[k] - t_ref) / length


@fused
def _accumulate(cell, a, b, tau, maps):
    """Fill the maps with all footprints, times 1, tau and tau^2."""
    zero, one, two = maps[0].reshape(-1), maps[1].reshape(-1), maps[2].reshape(-1)
    width = np.uint64(maps.shape[2])
    for k in range(cell.size):
        if cell[k] < 0:
            continue
        across, down, at = taps(a[k]), taps(b[k]), np.uint64(cell[k])
        for row in range(3):
            for column in range(3):
                weight = down[row] * across[column]
                place = at + np.uint64(column)
                zero[place] += weight
                weight *= tau[k]
                one[place] += weight
                two[place] += weight * tau[k]
            at += width


@fused
def _slopes_of_row(above, row, below, across, down):
    """Fill the slopes along both axes at the pixels of a row, from 3 x 3 pixels (Scharr).

    Plain differences underestimate steep slopes: they would turn the direction of an edge.
    """
    few, many = np.float32(3.0 / 32.0), np.float32(10.0 / 32.0)
    for j in range(1, row.size - 1):
        left, right = above[j - 1] + below[j - 1], above[j + 1] + below[j + 1]
        across[j] = few * (right - left) + many * (row[j + 1] - row[j - 1])
        upper, lower = above[j - 1] + above[j + 1], below[j - 1] + below[j + 1]
        down[j] = few * (lower - upper) + many * (below[j] - above[j])


@fused
def _add_products(ax, ay, bx, by, sign, xx, xy, yy):
    """Add the products of two slopes to the sums of the pixels of a row."""
    half = np.float32(0.5) * sign
    for j in range(ax.size):
        xx[j] += sign * ax[j] * bx[j]
        xy[j] += half * (ax[j] * by[j] + ay[j] * bx[j])
        yy[j] += sign * ay[j] * by[j]


@fused
def _add_squares(row, ax, ay, squares, steepness):
    """Add the squares of the pixels of a row, and of their slopes."""
    for j in range(1, row.size - 1):
        squares[j] += row[j] * row[j]
        steepness[j] += ax[j] * ax[j] + ay[j] * ay[j]


@fused
def _add_differences(above, row, below, xx, xy, yy):
    """Add the products of the differences along both axes at the pixels of a row."""
    half = np.float32(0.5)
    for j in range(1, row.size - 1):
        across, down = half * (row[j + 1] - row[j - 1]), half * (below[j] - above[j])
        xx[j] += across * across
        xy[j] += across * down
        yy[j] += down * down


@fused
def _add_row(maps, i, slopes, sums):
    """Add the products of slopes, the squares, and those of slopes, at the pixels of a row.

    slopes : (6, width) float32, overwritten; its first and last column are 0
    """
    for k in range(_MAPS):
        _slopes_of_row(maps[k, i - 1], maps[k, i], maps[k, i + 1], slopes[2 * k], slopes[2 * k + 1])
    one = np.float32(1.0)
    _add_products(slopes[0], slopes[1], slopes[4], slopes[5], one, sums[0], sums[1], sums[2])
    _add_products(slopes[2], slopes[3], slopes[2], slopes[3], -one, sums[0], sums[1], sums[2])
    _add_squares(maps[0, i], slopes[0], slopes[1], sums[3], sums[4])
    _add_differences(maps[0, i - 1], maps[0, i], maps[0, i + 1], sums[5], sums[6], sums[7])
