"""The coarse map of a window: where a cold search begins, and where a warm one is checked."""

import math

import numpy as np

from evcrisp.core.types import Floats
from evcrisp.search.config import SearchConfig
from evcrisp.search.multiscale_objective import Level, Problem
from evcrisp.search.scaling import main_directions

#: Largest displacement that is expected: a share of the larger side of the sensor, and at most so much.
_BOUND_SHARE, _BOUND_PX = 0.18, 100.0

#: Pixels of the coarsest map for which `SearchConfig.coarse_events` is meant.
_USUAL_PIXELS = 346 * 260 / 8**2


def coarse_scale(resolution: tuple[int, int]) -> int:
    """Return the scale of the coarsest map: 8 for 346 x 260, more for large sensors.

    The width of the hill grows with the scale, but fine texture vanishes: the scale grows slower
    than the sensor.
    """
    relative = max(resolution[0] / 346.0, resolution[1] / 260.0)
    return 2 ** min(max(round(math.log2(8.0 * min(relative, math.sqrt(relative)))), 1), 5)


def bound_px(problem: Problem, config: SearchConfig) -> float:
    """Return the largest displacement within the window that a cold search expects."""
    if config.bound_px is not None:
        return config.bound_px
    return min(_BOUND_SHARE * max(problem.resolution), _BOUND_PX)


def coarse_level(problem: Problem, config: SearchConfig, *, share: float = 1.0) -> Level:
    """Return the coarsest level, wide enough for motions up to the bound, with a share of its events."""
    scale = max(coarse_scale(problem.resolution), config.finest_scale)
    # As many events per pixel of the map on every sensor.
    pixels = problem.resolution[0] * problem.resolution[1] / scale**2
    return Level.around(
        problem,
        np.zeros(len(problem.scaling.forward)),
        scale=scale,
        n_events=round(share * config.coarse_events * max(1.0, pixels / _USUAL_PIXELS)),
        margin_px=0.5 * bound_px(problem, config) + 2.0 * scale,
    )


def promising(level: Level, bound_px: float) -> tuple[list[Floats], int]:
    """Return the one or two most promising motions, and how many were looked at."""
    directions = main_directions(level.warp.model, level.problem.resolution)
    step = 3.0 * level.scale
    reach = max(1, round(bound_px / step - 0.25))
    ticks = step * np.arange(-reach, reach + 1)
    shifts = directions[:2]
    grid = np.stack(np.meshgrid(*([ticks] * len(shifts))), axis=-1).reshape(-1, len(shifts))
    grid = grid[(grid * grid).sum(axis=1) <= (reach * step + 0.5 * step) ** 2]
    points = grid @ shifts
    values = np.array([level.value(point) for point in points])
    order = np.argsort(-values, kind="stable")
    best = points[order[0]]
    starts = [best]
    # A second hill counts if it is nearly as high as the first, compared with the plain around.
    worth = values[order[0]] - 0.3 * (values[order[0]] - np.median(values))
    for k in order[1:]:
        if values[k] < worth:
            break
        if float(np.sum((points[k] - best) ** 2)) > (1.6 * step) ** 2:
            starts.append(points[k])
            break
    n_eval = len(points)
    for i, start in enumerate(starts):
        for row in directions[2:]:
            tries = [start + tick * row for tick in (0.0, -step, step, -2.0 * step, 2.0 * step)]
            start = tries[int(np.argmax([level.value(point) for point in tries]))]
            n_eval += len(tries)
        starts[i] = start
    return starts, n_eval


def rivals_of(problem: Problem, scaled: Floats, scale: int) -> list[Floats]:
    """Return motions that must not be sharper than the one found: around it, and none at all."""
    step = 2.0 * scale
    directions = main_directions(problem.warp.model, problem.resolution)
    around = [scaled + sign * step * row for row in directions for sign in (-1.0, 1.0)]
    return [*around, np.zeros_like(scaled)] if float(scaled @ scaled) > step * step else around
