"""Support of an event by other events of its polarity.

Points are events or noise samples. Arrays may have single or double precision; single precision
halves the memory traffic.
"""

from typing import NamedTuple

import numpy as np

from evcrisp.kernels.compile import fused, njit
from evcrisp.kernels.contrast.spline import cell_of, sample_at

#: Support below this counts as zero: one event gives more up to a distance of 2 px.
LEAST_SUPPORT = np.float32(5e-3)

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)
_FAR = -1e6


class MapPoints(NamedTuple):
    """Points on a map in the order of time; arrays of shape (n,) unless stated otherwise."""

    x: np.ndarray  # floats, aligned, px of the map; far but finite for points off the map
    y: np.ndarray  # floats, likewise
    a: np.ndarray  # floats, offset within the middle pixel, -0.5 to 0.5; from `spline.locate`
    b: np.ndarray  # floats, likewise
    cell: np.ndarray  # int32, upper left of their nine pixels in flat maps; -1 off the map
    t: np.ndarray  # (n,) or (n + 1,) floats, in windows
    p: np.ndarray  # uint8


@njit
def place_points(padding, shape, points):
    """Find the pixels of points on maps with a border, of which that of ON lies behind that of OFF.

    padding : int64, px      shape : (2,) int64, height and width of a map
    points : MapPoints, with x and y in px of the sensor at first; all but t and p is filled
    """
    height, width = shape[0], shape[1]
    right, bottom = width - 1.5, height - 1.5
    for k in range(points.cell.size):
        u, v = points.x[k] + padding, points.y[k] + padding
        cell, points.a[k], points.b[k] = cell_of(u, v, right, bottom, width)
        # Far away from all others, and a number.
        points.x[k] = u if cell >= 0 else _FAR
        points.y[k] = v if cell >= 0 else _FAR
        points.cell[k] = cell + np.int64(points.p[k]) * height * width if cell >= 0 else -1


@njit
def cells_of_supporting(cell, supporting, out):
    """Fill out : (n,) int32 with cell : (n,) int32 of supporting : (n,) bool events, else -1."""
    for k in range(cell.size):
        out[k] = cell[k] if supporting[k] else -1


@fused
def read_maps(images, points, value):
    """Read at every point the map of its polarity.

    images : (2, h, w) floats, OFF and ON      points : MapPoints
    value : (n,) floats, filled; 0 for a point off the map
    """
    flat, width = images.reshape(-1), np.uint64(images.shape[2])
    a, b, cell = points.a, points.b, points.cell
    for k in range(value.size):
        value[k] = _ZERO
        if cell[k] >= 0:
            value[k] = sample_at(flat, np.uint64(cell[k]), width, a[k], b[k])


@fused
def subtract_self_support(value, own, points):
    """Subtract the self-support; -1 for points off the map.

    value : (n,) floats, from `read_maps`; then 0 or more, or -1 for a point off the map
    own : (n,) floats, self-support      points : MapPoints
    """
    for k in range(value.size):
        total = value[k] - own[k]
        # Selects instead of branches, which would be mispredicted half of the time.
        total = total if total > LEAST_SUPPORT else _ZERO
        value[k] = total if points.cell[k] >= 0 else -_ONE
