"""How long the places of a map were in view: in closed form for a translation, else from tiles."""

from typing import NamedTuple

import numpy as np

from evcrisp.kernels import compiled, fused, njit

#: No position is NaN, so that the larger of two numbers is one instruction.
finite = compiled(error_model="numpy", fastmath={"contract", "nnan", "nsz"})

#: Places that were in view for a shorter share of the window are treated as if it were this.
LEAST_EXPOSURE = np.float32(0.1)

_HALF = np.float32(0.5)

#: Marks that are looked at together, so that they stay in the cache.
_BLOCK = 1024

#: A share of the window that differs less from 1 is all of it: tiles are not told more exactly.
_NEARLY = 0.02


class Sweep(NamedTuple):
    """A view that moves evenly over the map."""

    left: float  # px, where its sides are at the reference time
    top: float
    right: float
    bottom: float
    per_x: float  # windows in which it moves by a pixel
    per_y: float


class Tiles(NamedTuple):
    """How long places were in view, as a share of the window."""

    share: np.ndarray  # (rows, columns) float64
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
def exposure_at(tiles, x, y):
    """Interpolate between the four tiles around a place, px of the map; outside, the nearest decide."""
    share, scale = tiles.share, tiles.tiles_per_px
    rows, columns = share.shape
    u = min(max((x + 0.5) * scale - 0.5, 0.0), columns - 1.001)
    v = min(max((y + 0.5) * scale - 0.5, 0.0), rows - 1.001)
    i, j = int(u), int(v)
    a, b = u - i, v - j
    upper = share[j, i] * (1.0 - a) + share[j, i + 1] * a
    lower = share[j + 1, i] * (1.0 - a) + share[j + 1, i + 1] * a
    return max(upper * (1.0 - b) + lower * b, LEAST_EXPOSURE)


@fused
def divide_by_tiles(value, marks, tiles):
    """Turn counts into counts per time in view.

    value : (n,) floats, changed where above 0      marks : support.Marks      tiles : Tiles
    """
    left, top, right, bottom = tiles.whole
    others = np.empty(_BLOCK, np.int32)
    for first in range(0, value.size, _BLOCK):
        n_others = 0
        for k in range(first, min(first + _BLOCK, value.size)):
            u, v = marks.x[k], marks.y[k]
            # A list, not a branch: which way it goes is like a toss, and a wrong guess costs more.
            others[n_others] = k
            n_others += not ((left <= u) & (u <= right) & (top <= v) & (v <= bottom))
        for q in range(n_others):
            k = others[q]
            if value[k] > 0:
                value[k] /= exposure_at(tiles, marks.x[k], marks.y[k])


@finite
def divide_by_sweep(value, marks, sweep):
    """Do the same where the view moves evenly: a place is seen from when it enters until it leaves.

    value : (n,) floats, changed where above 0      marks : support.Marks      sweep : Sweep
    """
    left, right, per_x = np.float32(sweep.left), np.float32(sweep.right), np.float32(sweep.per_x)
    top, bottom, per_y = np.float32(sweep.top), np.float32(sweep.bottom), np.float32(sweep.per_y)
    for k in range(value.size):
        # When a side of the view passes, in windows from the reference time.
        at_left, at_right = (marks.x[k] - left) * per_x, (marks.x[k] - right) * per_x
        at_top, at_bottom = (marks.y[k] - top) * per_y, (marks.y[k] - bottom) * per_y
        begin = max(max(min(at_left, at_right), min(at_top, at_bottom)), -_HALF)
        end = min(min(max(at_left, at_right), max(at_top, at_bottom)), _HALF)
        share = max(end - begin, LEAST_EXPOSURE)
        value[k] = value[k] / share if value[k] > 0 else value[k]
