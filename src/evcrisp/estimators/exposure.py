"""How long the places of a map were in view during a window."""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evcrisp.contrast import ContrastMap
from evcrisp.estimators.scratch import places_in_window, scratch
from evcrisp.motion import MotionModel, PreparedWarp, Translation, prepare

if TYPE_CHECKING:
    from evcrisp.kernels.exposure import Sweep, Tiles
    from evcrisp.kernels.support import Marks

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

#: Divides counts at marks by the share of the window during which their places were in view.
Exposure = Callable[[Singles, "Marks"], None]

#: Where there is no closed form, exposure is told from this grid of pixels, at so many times, on a
#: map with tiles of that size.
_GRID_PX, _GRID_TIMES, _TILE_PX = 4, 3, 4

#: The footprints of events are so wide that a border is as soft as if it moved by at least this much.
_SOFT_PX = 2.0


def exposure_of(
    model: MotionModel,
    theta: Floats,
    duration_s: float,
    resolution: tuple[int, int],
    padding_px: int,
) -> Exposure:
    """Return how long places were in view in a window, on a map with a border."""
    from evcrisp.kernels.exposure import divide_by_sweep, divide_by_tiles

    if isinstance(model, Translation):
        sweep = sweep_of(theta, duration_s, resolution, padding_px)
        return lambda value, marks: divide_by_sweep(value, marks, sweep)
    tiles = tiles_of(model, theta, duration_s, resolution, padding_px)
    return lambda value, marks: divide_by_tiles(value, marks, tiles)


def sweep_of(
    theta: Floats, duration_s: float, resolution: tuple[int, int], padding_px: int
) -> "Sweep":
    """Return the view as it sweeps over the map; warping takes it against the motion."""
    from evcrisp.kernels.exposure import Sweep

    moved_px = (-duration_s * v for v in theta.tolist())
    # Of what is not a number, the larger one is the softness.
    moved_px = [math.copysign(max(_SOFT_PX, abs(v)), v) for v in moved_px]
    low = padding_px - 0.5
    sides = low, low, resolution[0] + low, resolution[1] + low
    return Sweep(*sides, 1.0 / moved_px[0], 1.0 / moved_px[1])


def tiles_of(
    model: MotionModel,
    theta: Floats,
    duration_s: float,
    resolution: tuple[int, int],
    padding_px: int,
) -> "Tiles":
    """Return how long every tile of the map was in view; scratch."""
    from evcrisp.kernels.exposure import Tiles, expose, whole_part

    places = places_in_window(_grid_warp(model, resolution), duration_s, theta, "grid")
    coarse = ContrastMap(padding_px=padding_px, scale=_TILE_PX)
    share = scratch("tiles", *coarse.shape(resolution))
    # Each pixel of the grid stands for many, and for a part of the time.
    worth = (_GRID_PX / _TILE_PX) ** 2 / _GRID_TIMES
    expose(*places, padding_px, _TILE_PX, worth, share)
    whole = np.empty(4)
    whole_part(share, _TILE_PX, whole)
    return Tiles(share, 1.0 / _TILE_PX, whole)


@lru_cache(maxsize=8)
def _grid_warp(model: MotionModel, resolution: tuple[int, int]) -> PreparedWarp:
    """Return the warp of a grid of pixels at several times in a window of one second."""
    start = 0.5 * (_GRID_PX - 1)
    x, y = np.meshgrid(*(np.arange(start, max(side, _GRID_PX), _GRID_PX) for side in resolution))
    t = (np.arange(_GRID_TIMES) + 0.5) / _GRID_TIMES - 0.5
    still = prepare(model, x.ravel(), y.ravel(), np.zeros(x.size))
    columns = np.tile(still.x, _GRID_TIMES), np.tile(still.y, _GRID_TIMES), np.repeat(t, x.size)
    return still.of(*columns)
