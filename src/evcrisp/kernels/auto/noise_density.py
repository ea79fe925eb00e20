"""Density of noise between the centers of tiles."""

import numpy as np

from evcrisp.kernels.compile import fused, njit


@fused
def density_at(x, y, left, top, width, height, tiles, out):
    """Interpolate the values of tiles between their centers; constant beyond the outermost ones.

    x, y : (n,) numbers, px      left, top, width, height : of the area of the tiles, px
    tiles : (rows, columns) float32      out : (n,) float32, filled
    """
    rows, columns = tiles.shape
    across, down = columns / width, rows / height
    for k in range(out.size):
        # The pixel at `left` reaches from left - 0.5 to left + 0.5.
        u = min(max((x[k] + 0.5 - left) * across - 0.5, 0.0), columns - 1.0)
        v = min(max((y[k] + 0.5 - top) * down - 0.5, 0.0), rows - 1.0)
        i, j = min(np.int64(u), max(columns - 2, 0)), min(np.int64(v), max(rows - 2, 0))
        right, below = min(i + 1, columns - 1), min(j + 1, rows - 1)
        a, b = u - i, v - j
        upper = tiles[j, i] * (1.0 - a) + tiles[j, right] * a
        lower = tiles[below, i] * (1.0 - a) + tiles[below, right] * a
        out[k] = upper * (1.0 - b) + lower * b


@njit
def count_quiet_in_tiles(x, y, p, support, chosen, quiet, limit, corner, scale, counts):
    """Count the points of every tile whose support is at most that of quiet samples plus a limit.

    Points beyond the area of the tiles belong to the nearest one.
    x, y : (n,) numbers, px      p : (n,) uint8      support : (n,) floats
    chosen : (m,) integers, positions of the points that count
    quiet : (2,) floats, OFF and ON      limit : (rows, columns) floats
    corner : (2,) float32, left and top of the area, px      scale : (2,) float32, tiles per px along x and y
    counts : (rows, columns) float64, filled
    """
    rows, columns = counts.shape
    counts[:] = 0.0
    for k in chosen:
        across = (np.float32(x[k]) - corner[0]) * scale[0]
        down = (np.float32(y[k]) - corner[1]) * scale[1]
        column = min(max(np.int64(across), 0), columns - 1)
        row = min(max(np.int64(down), 0), rows - 1)
        counts[row, column] += support[k] - quiet[p[k]] <= limit[row, column]
