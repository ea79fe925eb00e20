"""Numbers of a search that depend on the motion model and the size of a window alone."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.types import Floats
from evcrisp.motion import MotionModel
from evcrisp.search.coarse_search import bound_for, coarse_scale, grid_of_shifts
from evcrisp.search.collapse_penalty import CollapsePenalty
from evcrisp.search.config import SearchConfig
from evcrisp.search.multiscale_objective import border_points
from evcrisp.search.scaling import displacement_rates, inverse_rates, main_directions
from evcrisp.tensors.lazy import Tensor, torch

#: Rows of `main_directions`: shifts first, then a rotation and a zoom.
_DIRECTIONS = 4


class Frame(NamedTuple):
    """A motion model on the rectangle of the events of a window."""

    model: MotionModel
    resolution: tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class FrameConstants:
    """Numbers of each window of a batch; tensors have a row for each of them."""

    rates: Tensor  # (b, m, m) scaled parameters per unit of theta and second
    inverse_rates: Tensor  # (b, m, m)
    penalty_rows: Tensor  # (b, k, m) change of log area per scaled parameter
    penalty_bound: float
    penalty_free_px: Tensor  # (b,)
    border: Tensor  # (b, 3, j) x, y and time (0 to 1) of points on the border, as kernels take them
    directions: Tensor  # (b, 4, m), zero rows where a model has fewer
    shifts: Tensor  # (b, k, m) starts of a cold search, NaN beyond the last
    scale: Tensor  # (b,) int64 of the coarsest map
    bound_px: Tensor  # (b,)

    @classmethod
    def of(cls, frames: Sequence[Frame], config: SearchConfig, device: Any) -> "FrameConstants":
        """Return the constants of windows; equal frames are computed once."""
        kinds = {frame: number for number, frame in enumerate(dict.fromkeys(frames))}
        found = [_numbers(frame, config) for frame in kinds]
        number = torch.tensor([kinds[frame] for frame in frames], device=device)

        def stacked(name: str) -> Tensor:
            arrays = _padded([getattr(numbers, name) for numbers in found])
            return torch.from_numpy(arrays).to(device).index_select(0, number)

        columns = {name: stacked(name) for name in _Numbers._fields if name != "penalty_bound"}
        return cls(penalty_bound=found[0].penalty_bound, **columns)

    def taken(self, chosen: Tensor) -> "FrameConstants":
        """Return those of some of the windows, by number."""
        columns = {
            name: getattr(self, name).index_select(0, chosen)
            for name in self.__slots__
            if name != "penalty_bound"
        }
        return replace(self, **columns)


class _Numbers(NamedTuple):
    rates: Floats
    inverse_rates: Floats
    penalty_rows: Floats
    penalty_bound: float
    penalty_free_px: Floats
    border: Floats
    directions: Floats
    shifts: Floats
    scale: NDArray[np.int64]
    bound_px: Floats


@lru_cache(maxsize=1024)
def _numbers(frame: Frame, config: SearchConfig) -> _Numbers:
    model, resolution = frame
    penalty = CollapsePenalty.of(model, resolution, config.max_log_area)
    found = main_directions(model, resolution)
    directions = np.zeros((_DIRECTIONS, found.shape[1]))
    directions[: len(found)] = found
    scale = max(coarse_scale(resolution), config.finest_scale)
    bound_px = bound_for(resolution, config)
    # A penalty without rows has no points that could grow.
    rows = penalty.rows if len(penalty.rows) else np.zeros((1, found.shape[1]))
    return _Numbers(
        rates=displacement_rates(model, resolution),
        inverse_rates=inverse_rates(model, resolution),
        penalty_rows=rows,
        penalty_bound=penalty.bound,
        penalty_free_px=np.array(min(penalty.free_px, 1e300)),
        border=np.stack(border_points(model, resolution)),
        directions=directions,
        shifts=grid_of_shifts(found, scale, bound_px),
        scale=np.array(scale),
        bound_px=np.array(bound_px),
    )


def _padded(arrays: list[NDArray[Any]]) -> NDArray[Any]:
    """Stack arrays, of which some have fewer rows: the others are NaN."""
    if len({array.shape for array in arrays}) == 1:
        return np.stack(arrays)
    most = max(len(array) for array in arrays)
    out = np.full((len(arrays), most, *arrays[0].shape[1:]), math.nan)
    for row, array in zip(out, arrays, strict=True):
        row[: len(array)] = array
    return out
