"""Density of noise between the centers of tiles."""

import numpy as np

from evcrisp.kernels.compile import fused


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
