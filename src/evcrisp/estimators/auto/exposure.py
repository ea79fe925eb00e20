"""How long the places of a map were in view during a window, and by how many pixels."""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from evcrisp.core.types import Floats, Singles
from evcrisp.estimators.auto.buffers import scratch
from evcrisp.motion import MotionModel, Translation

if TYPE_CHECKING:
    from evcrisp.kernels.auto.exposure import Paths, Sweep
    from evcrisp.kernels.auto.support import Marks


#: Divides counts at marks by the share of the window during which their places were in view.
Exposure = Callable[[Singles, "Marks"], None]

#: Where places do not all move alike, their paths are known on a grid of nodes with this distance.
_NODE_PX = 8

_FAR_PX = 1e6

#: The footprints of events are so wide that a border is as soft as if it moved by at least this much.
_SOFT_PX = 2.0


def exposure_of(
    model: MotionModel,
    theta: Floats,
    duration_s: float,
    resolution: tuple[int, int],
    padding_px: int,
) -> Exposure:
    """Return how long places were in view in a window, on a map with a border.

    A lens that is undone makes places of several pixels, or of a part of one: these count as well.
    """
    from evcrisp.kernels.auto.exposure import divide_by_paths, divide_by_sweep

    if isinstance(model, Translation):
        sweep = sweep_of(theta, duration_s, resolution, padding_px)
        return lambda value, marks: divide_by_sweep(value, marks, sweep)
    paths = paths_of(model, theta, duration_s, resolution, padding_px)
    return lambda value, marks: divide_by_paths(value, marks, paths)


def sweep_of(
    theta: Floats, duration_s: float, resolution: tuple[int, int], padding_px: int
) -> "Sweep":
    """Return the view as it sweeps over the map; warping takes it against the motion."""
    from evcrisp.kernels.auto.exposure import Sweep

    moved_px = (-duration_s * v for v in theta.tolist())
    # Of what is not a number, the larger one is the softness.
    moved_px = [math.copysign(max(_SOFT_PX, abs(v)), v) for v in moved_px]
    low = padding_px - 0.5
    sides = low, low, resolution[0] + low, resolution[1] + low
    return Sweep(*sides, 1.0 / moved_px[0], 1.0 / moved_px[1])


def paths_of(
    model: MotionModel,
    theta: Floats,
    duration_s: float,
    resolution: tuple[int, int],
    padding_px: int,
) -> "Paths":
    """Return on what paths the places of the map cross the sensor; scratch."""
    from evcrisp.kernels.auto.exposure import Paths, look_at_nodes, whole_part

    x, y = _nodes(resolution, padding_px)
    ends = duration_s * np.array([[[-0.5]], [[0.5]]])
    moved = scratch("nodes", 5, *x.shape)
    with np.errstate(all="ignore"):
        for k, (at, place) in enumerate(zip(model.inverse(theta, x, y, ends), (x, y), strict=True)):
            moved[k] = at[1] - at[0]
            moved[k + 2] = 0.5 * (at[0] + at[1]) - place
    # What is not a number is nowhere near the view.
    np.nan_to_num(moved[:4], copy=False, nan=_FAR_PX, posinf=_FAR_PX, neginf=-_FAR_PX)
    sides = np.array([-0.5, -0.5, resolution[0] - 0.5, resolution[1] - 0.5]) + padding_px
    paths = Paths(moved, 1.0 / _NODE_PX, _SOFT_PX, sides, np.empty(4))
    partly = scratch("partly", *x.shape, dtype=np.bool_)
    look_at_nodes(paths, _NODE_PX, partly)
    whole_part(partly, _NODE_PX, paths.whole)
    return paths


@lru_cache(maxsize=8)
def _nodes(resolution: tuple[int, int], padding_px: int) -> tuple[Floats, Floats]:
    """Return places on a grid over the map, px of the sensor."""
    ticks = (_NODE_PX * np.arange(2 + (side + 2 * padding_px) // _NODE_PX) for side in resolution)
    x, y = np.meshgrid(*(along - float(padding_px) for along in ticks))
    return x, y
