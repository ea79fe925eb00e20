"""Coarse level of the search: starts of a cold search, alternatives to a warm start."""

import math
from functools import lru_cache

import numpy as np

from evcrisp.core.types import Floats
from evcrisp.search.config import SearchConfig
from evcrisp.search.multiscale_objective import LevelObjective, SearchProblem
from evcrisp.search.scaling import main_directions

#: Default bound on the displacement: a share of the larger side of the view, at most 100 px.
_BOUND_SHARE, _BOUND_PX = 0.18, 100.0

#: A small view is mostly that of a small thing, which moves by up to this share of it, at most so many px.
_SMALL_SHARE, _SMALL_PX = 0.5, 36.0

#: Distance of the starts of a cold search, px of the map; least distance of a second start from the best
#: one, in such steps; and how much worse it may be, as a share of the distance to the median.
START_STEP, SECOND_STEPS, SECOND_SHARE = 3.0, 1.6, 0.3

#: Number of pixels of the coarsest map to which `SearchConfig.coarse_events` refers.
_REFERENCE_PIXELS = 346 * 260 / 8**2


def coarse_scale(resolution: tuple[int, int]) -> int:
    """Return the scale of the coarsest map: 8 for 346 x 260.

    A larger scale widens the maximum but hides texture, so it grows slower than the sensor.
    """
    relative = max(max(resolution) / 346.0, min(resolution) / 260.0)
    return 2 ** min(max(round(math.log2(8.0 * min(relative, math.sqrt(relative)))), 1), 5)


def bound_px(problem: SearchProblem, config: SearchConfig) -> float:
    """Return the bound on the displacement within the window for a cold search."""
    return bound_for(problem.resolution, config)


def bound_for(resolution: tuple[int, int], config: SearchConfig) -> float:
    """Return the same for a sensor, or the rectangle of the events."""
    if config.bound_px is not None:
        return config.bound_px
    side = max(resolution)
    return max(min(_BOUND_SHARE * side, _BOUND_PX), min(_SMALL_SHARE * side, _SMALL_PX))


def coarse_level(
    problem: SearchProblem, config: SearchConfig, *, share: float = 1.0, phase: float = 0.0
) -> LevelObjective:
    """Return the coarsest level, with a share of its events; see `LevelObjective.around`."""
    scale = max(coarse_scale(problem.resolution), config.finest_scale)
    n_events = coarse_events_for(problem.resolution, scale, share, config)
    margin_px = 0.5 * bound_px(problem, config) + 2.0 * scale
    zero = np.zeros(len(problem.scaling.forward))
    return LevelObjective.around(problem, zero, scale, n_events, margin_px=margin_px, phase=phase)


def coarse_events_for(
    resolution: tuple[int, int], scale: int, share: float, config: SearchConfig
) -> int:
    """Return the events of the coarsest level: equally many per pixel of the map on every sensor."""
    pixels = resolution[0] * resolution[1] / scale**2
    return round(share * config.coarse_events * max(1.0, pixels / _REFERENCE_PIXELS))


def best_starts(level: LevelObjective, bound_px: float) -> tuple[list[Floats], int]:
    """Return the best one or two starts of a grid, and the number of evaluations."""
    directions = main_directions(level.problem.warp.model, level.problem.resolution)
    step = START_STEP * level.scale
    points = grid_of_shifts(directions, level.scale, bound_px)
    values = np.array(level.values(points))
    order = np.argsort(-values, kind="stable")
    best = points[order[0]]
    starts = [best]
    # A second start counts if its value is close to the best, relative to the median.
    threshold = values[order[0]] - SECOND_SHARE * (values[order[0]] - np.median(values))
    for k in order[1:]:
        if values[k] < threshold:
            break
        if float(np.sum((points[k] - best) ** 2)) > (SECOND_STEPS * step) ** 2:
            starts.append(points[k])
            break
    n_eval = len(points)
    for i, start in enumerate(starts):
        for row in directions[2:]:
            trials = [start + tick * row for tick in (0.0, -step, step, -2.0 * step, 2.0 * step)]
            start = trials[int(np.argmax(level.values(trials)))]
            n_eval += len(trials)
        starts[i] = start
    return starts, n_eval


def grid_of_shifts(directions: Floats, scale: int, bound_px: float) -> Floats:
    """Return the starts of a cold search, (k, m): shifts of the image in all directions."""
    step, shifts = START_STEP * scale, directions[:2]
    return _lattice(step, max(1, round(bound_px / step - 0.25)), len(shifts)) @ shifts


@lru_cache(maxsize=16)
def _lattice(step: float, reach: int, n_axes: int) -> Floats:
    """Return the points of a lattice within a circle, or on a line, shape (k, n_axes)."""
    ticks = step * np.arange(-reach, reach + 1)
    grid = np.stack(np.meshgrid(*([ticks] * n_axes)), axis=-1).reshape(-1, n_axes)
    grid = grid[(grid * grid).sum(axis=1) <= (reach * step + 0.5 * step) ** 2]
    grid.flags.writeable = False
    return grid


def alternatives(problem: SearchProblem, scaled: Floats, scale: int) -> list[Floats]:
    """Return alternatives to a warm start: its neighbors, and no motion."""
    step = 2.0 * scale
    directions = main_directions(problem.warp.model, problem.resolution)
    around = [scaled + sign * step * row for row in directions for sign in (-1.0, 1.0)]
    return [*around, np.zeros_like(scaled)] if float(scaled @ scaled) > step * step else around
