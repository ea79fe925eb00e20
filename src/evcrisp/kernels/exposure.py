"""How long the places of a map were in view, from a map of tiles."""

from typing import NamedTuple

import numpy as np

from evcrisp.kernels import fused, njit

#: Places that were in view for a shorter share of the window are treated as if it were this.
LEAST_EXPOSURE = 0.1

#: A share of the window that differs less from 1 is all of it: tiles are not told more exactly.
_NEARLY = 0.02


class Exposure(NamedTuple):
    """How long places were in view, as a share of the window."""

    tiles: np.ndarray  # (rows, columns) float64
    tiles_per_px: float
    whole: (
        np.ndarray
    )  # (4,) float64, px: left, top, right, bottom of a part that was always in view


@fused
def expose(x, y, padding, tile_px, worth, tiles):
    """Fill tiles with the time in view: a grid of pixels at several times votes bilinearly for them.

    x, y : (n,) floats, aligned, px of the sensor      padding, tile_px : int64, px
    worth : float64, what each vote adds      tiles : (rows, columns) float64, overwritten
    """
    rows, columns = tiles.shape
    flat = tiles.reshape(-1)
    flat[:] = 0.0
    scale, shift = 1.0 / tile_px, (padding + 0.5) / tile_px - 0.5
    below, one = np.uint64(columns), np.uint64(1)
    for k in range(x.size):
        u, v = x[k] * scale + shift, y[k] * scale + shift
        if (u >= 0.0) & (u < columns - 1) & (v >= 0.0) & (v < rows - 1):
            i, j = np.uint64(u), np.uint64(v)
            a, b = u - i, v - j
            corner = j * below + i
            flat[corner] += (1.0 - a) * (1.0 - b) * worth
            flat[corner + one] += a * (1.0 - b) * worth
            flat[corner + below] += (1.0 - a) * b * worth
            flat[corner + below + one] += a * b * worth


@njit
def whole_part(tiles, tile_px, whole):
    """Find a large rectangle of places that were in view all the time.

    Sides with most tiles that were not are taken away, one after the other.
    tiles : (rows, columns) float64      tile_px : int64
    whole : (4,) float64, filled: left, top, right, bottom, px; no place lies in it if it is empty
    """
    partly = np.abs(tiles - 1.0) > _NEARLY
    top, left, bottom, right = 0, 0, tiles.shape[0], tiles.shape[1]
    n_left = partly.sum()
    while n_left > 0:
        sides = (
            partly[top, left:right].sum(),
            partly[bottom - 1, left:right].sum(),
            partly[top:bottom, left].sum(),
            partly[top:bottom, right - 1].sum(),
        )
        most = max(sides)
        n_left -= most
        if sides[0] == most:
            top += 1
        elif sides[1] == most:
            bottom -= 1
        elif sides[2] == most:
            left += 1
        else:
            right -= 1
    # Between the middles of the outermost tiles, so that no other one has a say.
    whole[0], whole[1] = (left + 0.5) * tile_px - 0.5, (top + 0.5) * tile_px - 0.5
    whole[2], whole[3] = (right - 0.5) * tile_px - 0.5, (bottom - 0.5) * tile_px - 0.5


@fused
def exposure_at(exposure, x, y):
    """Interpolate between the four tiles around a place, px of the map; outside, the nearest decide."""
    tiles, scale = exposure.tiles, exposure.tiles_per_px
    rows, columns = tiles.shape
    u = min(max((x + 0.5) * scale - 0.5, 0.0), columns - 1.001)
    v = min(max((y + 0.5) * scale - 0.5, 0.0), rows - 1.001)
    i, j = int(u), int(v)
    a, b = u - i, v - j
    upper = tiles[j, i] * (1.0 - a) + tiles[j, i + 1] * a
    lower = tiles[j + 1, i] * (1.0 - a) + tiles[j + 1, i + 1] * a
    return max(upper * (1.0 - b) + lower * b, LEAST_EXPOSURE)
