"""Sums over tiles: products of what a motion does there and what the contrast says there."""

import numpy as np

from evcrisp.kernels.compile import fused, njit


@fused
def quadratic_sum(along, tensor, out):
    """Sum the products A^T T A over tiles.

    along : (k, 2, m) float64      tensor : (k, 2, 2) float64      out : (m, m) float64, filled
    """
    out[:] = 0.0
    m = along.shape[2]
    for k in range(along.shape[0]):
        for a in range(m):
            across = tensor[k, 0, 0] * along[k, 0, a] + tensor[k, 0, 1] * along[k, 1, a]
            down = tensor[k, 1, 0] * along[k, 0, a] + tensor[k, 1, 1] * along[k, 1, a]
            for b in range(m):
                out[b, a] += along[k, 0, b] * across + along[k, 1, b] * down


@fused
def sums_of_parts(along, tensor, pull, part, pulls, blocks):
    """Sum gradients and curvatures along each parameter over the tiles of every part.

    along : (k, 2, m) float64      tensor : (k, 2, 2) float64      pull : (k, 2) float64
    part : (k,) integers, part of each tile
    pulls : (n_parts, m) float64, filled: A^T g      blocks : (n_parts, m) float64, filled: diagonal of A^T T A
    """
    pulls[:] = 0.0
    blocks[:] = 0.0
    for k in range(along.shape[0]):
        r = part[k]
        for a in range(along.shape[2]):
            u, v = along[k, 0, a], along[k, 1, a]
            pulls[r, a] += u * pull[k, 0] + v * pull[k, 1]
            across = tensor[k, 0, 0] * u + tensor[k, 0, 1] * v
            blocks[r, a] += u * across + v * (tensor[k, 1, 0] * u + tensor[k, 1, 1] * v)


@fused
def across_edges(curvature, x, y, displacement, sides, border, share, out):
    """Remove from the curvature of tiles the part along edges that is no motion.

    All of it may come from the border of the view, within a distance of half of the displacement more.
    curvature : (k, 2, 2) float64, symmetric      x, y : (k,) float64, middle of each tile, px
    displacement : (k, 2) float64, px      sides : (4,) float64, left, top, right, bottom of the view, px
    border : px      share : part along edges that comes from pixels, of that across
    out : (k, 2, 2) float64, filled
    """
    left, top, right, bottom = sides[0], sides[1], sides[2], sides[3]
    for k in range(x.size):
        margin_x = border + 0.5 * abs(displacement[k, 0])
        margin_y = border + 0.5 * abs(displacement[k, 1])
        inside_x = (x[k] > left + margin_x) & (x[k] < right - margin_x)
        inside_y = (y[k] > top + margin_y) & (y[k] < bottom - margin_y)
        xx, xy, yy = curvature[k, 0, 0], curvature[k, 0, 1], curvature[k, 1, 1]
        half, mean = np.hypot(0.5 * (xx - yy), xy), 0.5 * (xx + yy)
        inside = inside_x & inside_y
        apparent = share * max(mean + half, 0.0) if inside else max(mean - half, 0.0)
        # Times I - e e^T of the direction e across the edge, whose eigenvalues are mean +- half.
        factor = apparent / max(2.0 * half, 1e-30)
        out[k, 0, 0] = xx - factor * (mean + half - xx)
        out[k, 0, 1] = out[k, 1, 0] = xy + factor * xy
        out[k, 1, 1] = yy - factor * (mean + half - yy)


@njit
def misaligned_share(row, column, pull, steepness, count, side, n_shifts, limits):
    """Return the share of the events in parts that a displacement would sharpen; of several grids the largest.

    row, column : (k,) int64, place of each tile      pull : (k, 2) float64, gradient by the displacement
    steepness : (k, 3) float64, xx, xy, yy, to be multiplied by `limits[0]` for a curvature
    count : (k,) float64, events      side : of a part, in tiles
    n_shifts : grids along each axis, which begin so many tiles before the first one: 0, 1, ...
    limits : (4,) float64: factor of the curvature; curvature that every part has besides, relative to the mean
        and absolute; displacement, px, by which a part is off
    """
    largest = 0.0
    for down in range(n_shifts):
        for across in range(n_shifts):
            share = _share_on_grid(
                (row + down) // side, (column + across) // side, pull, steepness, count, limits
            )
            largest = max(largest, share)
    return largest


@njit
def _share_on_grid(row, column, pull, steepness, count, limits):
    """Return the share of the events in parts that are off; row, column : (k,) int64, part of each tile."""
    columns = column.max() + 1
    n_parts = columns * (row.max() + 1)
    sums = np.zeros((n_parts, 6))
    for k in range(row.size):
        part = row[k] * columns + column[k]
        sums[part, 0] += pull[k, 0]
        sums[part, 1] += pull[k, 1]
        for i in range(3):
            sums[part, 2 + i] += limits[0] * steepness[k, i]
        sums[part, 5] += count[k]
    floor = limits[1] * (sums[:, 2].sum() + sums[:, 4].sum()) / n_parts + limits[2]
    n_off = 0.0
    for part in range(n_parts):
        x, y = sums[part, 0], sums[part, 1]
        xx, xy, yy = sums[part, 2] + floor, sums[part, 3], sums[part, 4] + floor
        # The length of the step, with each direction weighted by its curvature: along an edge, which
        # any displacement keeps sharp, a step means nothing.
        gain = yy * x * x - 2.0 * xy * x * y + xx * y * y
        if gain > limits[3] * limits[3] * 0.5 * (xx + yy) * (xx * yy - xy * xy):
            n_off += sums[part, 5]
    return n_off / max(count.sum(), 1.0)
