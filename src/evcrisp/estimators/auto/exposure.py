"""Exposure: share of a window during which a position of the map was in view."""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from evcrisp.core.live_area import Box
from evcrisp.core.types import Floats, Singles
from evcrisp.estimators.auto.buffers import Buffers
from evcrisp.motion import MotionModel

if TYPE_CHECKING:
    from evcrisp.kernels.auto.support import MapPoints

#: Divides values at points by the exposure of their positions.
Exposure = Callable[[Singles, "MapPoints"], None]

#: Distance of the grid nodes at which paths are computed, px; between them they are interpolated.
_NODE_PX = 8

#: Stands for positions that are not finite, px.
_FAR_PX = 1e6

#: Footprints blur the border of the view by about this much, px: slower motions count as this.
_SOFT_PX = 2.0


def exposure_of(
    model: MotionModel,
    theta: Floats,
    duration_s: float,
    resolution: tuple[int, int],
    padding_px: int,
    buffers: Buffers,
    live: Box | None = None,
) -> Exposure:
    """Return the exposure on a padded map at a motion; it uses buffers.

    The view is the live area of the sensor, default all of it.
    Undistortion maps several pixels, or a part of one, to a pixel of the map; this counts too.
    """
    from evcrisp.kernels.auto import exposure as kernels

    sides = view_sides(Box.whole(resolution) if live is None else live, padding_px)
    velocity = model.uniform_velocity(theta)
    if velocity is not None:
        # The view moves over the map against the motion. `max` returns its first argument for NaN.
        moved_px = (-duration_s * v for v in velocity.tolist())
        per_px = (1.0 / math.copysign(max(_SOFT_PX, abs(v)), v) for v in moved_px)
        sweep = kernels.Sweep(*sides, *per_px)
        return lambda value, points: kernels.divide_by_sweep(value, points, sweep)
    x, y = _nodes(resolution, padding_px)
    ends = duration_s * np.array([[[-0.5]], [[0.5]]])
    moved = buffers.nodes(5, *x.shape)
    with np.errstate(all="ignore"):
        for k, (at, node) in enumerate(zip(model.inverse(theta, x, y, ends), (x, y), strict=True)):
            moved[k] = at[1] - at[0]
            moved[k + 2] = 0.5 * (at[0] + at[1]) - node
    np.nan_to_num(moved[:4], copy=False, nan=_FAR_PX, posinf=_FAR_PX, neginf=-_FAR_PX)
    paths = kernels.Paths(moved, 1.0 / _NODE_PX, _SOFT_PX, np.array(sides), np.empty(4))
    partly = buffers.partly_exposed(*x.shape)
    kernels.fill_node_areas(paths, _NODE_PX, partly)
    kernels.fully_exposed_rectangle(partly, _NODE_PX, paths.whole)
    return lambda value, points: kernels.divide_by_paths(value, points, paths)


def view_sides(live: Box, padding_px: int) -> tuple[float, float, float, float]:
    """Return left, top, right and bottom of the live area on a padded map, px."""
    left, top = live.left + padding_px - 0.5, live.top + padding_px - 0.5
    return left, top, left + live.width, top + live.height


@lru_cache(maxsize=8)
def _nodes(resolution: tuple[int, int], padding_px: int) -> tuple[Floats, Floats]:
    """Return a grid of positions over the map, px of the sensor."""
    ticks = (_NODE_PX * np.arange(2 + (side + 2 * padding_px) // _NODE_PX) for side in resolution)
    x, y = np.meshgrid(*(along - float(padding_px) for along in ticks))
    return x, y
