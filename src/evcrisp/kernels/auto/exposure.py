"""Exposure of positions on a map: from entering the view until leaving it.

With a translation all positions move alike. Otherwise paths are interpolated between grid nodes;
they are straight lines at constant speed.
"""

from typing import NamedTuple

import numpy as np

from evcrisp.kernels.compile import finite, fused, njit

#: Smaller exposures count as this, so that counts are not divided by almost zero.
LEAST_EXPOSURE = np.float32(0.1)

_HALF = np.float32(0.5)

#: Areas that differ less from 1 count as 1; areas beyond the bounds mean a fold of the lens.
_NEARLY, _LEAST_AREA, _MOST_AREA = 0.02, 0.25, 4.0

#: Points per block, so that they stay in the cache.
_BLOCK = 1024


class Sweep(NamedTuple):
    """A view that moves over the map at constant velocity."""

    left: float  # px, where its sides are at the reference time
    top: float
    right: float
    bottom: float
    per_x: float  # windows in which it moves by a pixel
    per_y: float


class Paths(NamedTuple):
    """Paths of positions over the sensor during a window, at the nodes of a grid."""

    #: (5, rows, columns) float64: displacement along x and y, offset of the middle of the path along x
    #: and y, px, and area of the sensor per area of the map
    moved: np.ndarray
    nodes_per_px: float
    soft_px: float  # least displacement along each axis
    sides: np.ndarray  # (4,) float64, px of the map: left, top, right, bottom of the sensor
    whole: np.ndarray  # (4,) float64, likewise, of a rectangle that was always in view


@finite
def _seen(along, middle, low, high, soft):
    """Return when a position enters and leaves between two sides, in windows from the middle."""
    along = along if abs(along) > soft else soft
    first, second = (low - middle) / along, (high - middle) / along
    return min(first, second), max(first, second)


@finite
def _share(x, y, along_x, along_y, to_x, to_y, sides, soft):
    """Return the share of the window during which the position x, y is in view."""
    enters, leaves = _seen(along_x, x + to_x, sides[0], sides[2], soft)
    begins, ends = _seen(along_y, y + to_y, sides[1], sides[3], soft)
    return min(min(leaves, ends), 0.5) - max(max(enters, begins), -0.5)


@njit
def fill_node_areas(paths, node_px, partly):
    """Mark nodes that are not fully exposed to one pixel each; fill in their areas.

    paths : Paths      node_px : int64      partly : (rows, columns) bool, filled
    """
    moved = paths.moved
    rows, columns = partly.shape
    for j in range(rows):
        for i in range(columns):
            share = _share(
                i * node_px, j * node_px, moved[0, j, i], moved[1, j, i], moved[2, j, i],
                moved[3, j, i], paths.sides, paths.soft_px,
            )  # fmt: skip
            left, right = max(i - 1, 0), min(i + 1, columns - 1)
            above, below = max(j - 1, 0), min(j + 1, rows - 1)
            across, down = (right - left) * node_px, (below - above) * node_px
            xx = 1.0 + (moved[2, j, right] - moved[2, j, left]) / across
            yx = (moved[3, j, right] - moved[3, j, left]) / across
            xy = (moved[2, below, i] - moved[2, above, i]) / down
            yy = 1.0 + (moved[3, below, i] - moved[3, above, i]) / down
            area = min(max(abs(xx * yy - xy * yx), _LEAST_AREA), _MOST_AREA)
            moved[4, j, i] = area
            partly[j, i] = share < 1.0 or abs(area - 1.0) > _NEARLY


@njit
def fully_exposed_rectangle(partly, node_px, whole):
    """Find a large rectangle of fully exposed positions.

    The side with the most other nodes is removed, again and again.
    partly : (rows, columns) bool, of nodes      node_px : int64
    whole : (4,) float64, filled: left, top, right, bottom, px; no position lies in it if it is empty
    """
    top, left, bottom, right = 0, 0, partly.shape[0], partly.shape[1]
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
    # Positions between four fully exposed nodes are fully exposed: the view is convex.
    whole[0], whole[1] = left * node_px, top * node_px
    whole[2], whole[3] = (right - 1) * node_px, (bottom - 1) * node_px


@fused
def _between(field, i, j, a, b):
    upper = field[j, i] * (1.0 - a) + field[j, i + 1] * a
    lower = field[j + 1, i] * (1.0 - a) + field[j + 1, i + 1] * a
    return upper * (1.0 - b) + lower * b


@fused
def exposure_at(paths, x, y):
    """Return exposure times the sensor area that saw a map position, px; interpolate its path."""
    moved, scale = paths.moved, paths.nodes_per_px
    rows, columns = moved.shape[1:]
    u = min(max(x * scale, 0.0), columns - 1.001)
    v = min(max(y * scale, 0.0), rows - 1.001)
    i, j = int(u), int(v)
    a, b = u - i, v - j
    along_x, along_y = _between(moved[0], i, j, a, b), _between(moved[1], i, j, a, b)
    to_x, to_y = _between(moved[2], i, j, a, b), _between(moved[3], i, j, a, b)
    share = _share(x, y, along_x, along_y, to_x, to_y, paths.sides, paths.soft_px)
    return max(share * _between(moved[4], i, j, a, b), LEAST_EXPOSURE)


@fused
def divide_by_paths(value, points, paths):
    """Divide values by the exposure at their points, given paths.

    value : (n,) floats, changed where above 0      points : support.MapPoints      paths : Paths
    """
    left, top, right, bottom = paths.whole
    others = np.empty(_BLOCK, np.int32)
    for first in range(0, value.size, _BLOCK):
        n_others = 0
        for k in range(first, min(first + _BLOCK, value.size)):
            u, v = points.x[k], points.y[k]
            # A list instead of a branch, which would be mispredicted half of the time.
            others[n_others] = k
            n_others += not ((left <= u) & (u <= right) & (top <= v) & (v <= bottom))
        for q in range(n_others):
            k = others[q]
            if value[k] > 0:
                value[k] /= exposure_at(paths, points.x[k], points.y[k])


@finite
def divide_by_sweep(value, points, sweep):
    """Divide values by the exposure at their points, for a view at constant velocity.

    value : (n,) floats, changed where above 0      points : support.MapPoints      sweep : Sweep
    """
    left, right, per_x = np.float32(sweep.left), np.float32(sweep.right), np.float32(sweep.per_x)
    top, bottom, per_y = np.float32(sweep.top), np.float32(sweep.bottom), np.float32(sweep.per_y)
    for k in range(value.size):
        # Times at which the sides of the view pass, in windows from the reference time.
        at_left, at_right = (points.x[k] - left) * per_x, (points.x[k] - right) * per_x
        at_top, at_bottom = (points.y[k] - top) * per_y, (points.y[k] - bottom) * per_y
        begin = max(max(min(at_left, at_right), min(at_top, at_bottom)), -_HALF)
        end = min(min(max(at_left, at_right), max(at_top, at_bottom)), _HALF)
        share = max(end - begin, LEAST_EXPOSURE)
        value[k] = value[k] / share if value[k] > 0 else value[k]
