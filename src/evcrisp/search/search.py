"""Find the motion of a window by coarse-to-fine search, with or without a warm start.

::

    cold   coarse map, few events: grid of shifts, then rotations and zooms   (values only)
           coarse map, few events: gradient ascent from the best one or two starts
           finer maps, more events: gradient ascent
    warm   check the start against alternatives on the coarse map
           finest map, more and more events: gradient ascent, with the border bias corrected

The contrast on a coarse map of a few thousand events has a smooth maximum, as wide as the largest
plausible displacement: a sparse grid finds it. Each finer level starts close to its own maximum.
"""

from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.status import Status
from evcrisp.core.types import Floats
from evcrisp.optimize import SolverResult
from evcrisp.optimize.bfgs import Ascent, Bfgs
from evcrisp.search.border_bias import BorderBias
from evcrisp.search.coarse_search import alternatives, best_starts, bound_px, coarse_level
from evcrisp.search.collapse_penalty import CollapsePenalty, has_collapsed
from evcrisp.search.config import SearchConfig
from evcrisp.search.curvature import TYPICAL_CURVATURE
from evcrisp.search.event_view import EventView
from evcrisp.search.multiscale_objective import LevelObjective, SearchProblem
from evcrisp.search.scaling import Scaling
from evcrisp.search.window_data import WindowData

#: Windows with fewer events have no significant motion.
MIN_EVENTS = 10

_DEFAULT = SearchConfig()
FINEST_GROWTH = 4  # factor of the number of events between passes over the finest map
_NEAR = 2.0  # largest distance of a good warm start, px of the finest map
#: Mean inverse curvature over the square of the scale above which noise dominates.
FLAT_CURVATURE = 2.0 / TYPICAL_CURVATURE
LAST_STEP_PX = 0.5  # longest step without another evaluation


class Pass(NamedTuple):
    """One pass of a coarse-to-fine search."""

    scale: int
    n_events: int
    is_last: bool


def find_motion(
    data: WindowData, theta0: ArrayLike | None = None, config: SearchConfig | None = None
) -> SolverResult:
    """Return the motion that maximizes the contrast of a window without hot pixels.

    ``theta0``, shape (m,), is a warm start, such as the motion of the previous window. A cold search
    follows if an alternative has a higher contrast. ``value`` of the result is the log of the mean
    contrast per event on the finest map. With status `TOO_FEW_EVENTS` or `FLAT`, ``theta`` is
    ``theta0`` or zero.
    """
    config = config or _DEFAULT
    result = result_without_evidence(data, theta0)
    if result is not None:
        return result
    problem = search_problem(data, config)
    if theta0 is None or not np.isfinite(theta0).all():
        return _cold_search(problem, config)
    start = problem.scaling.scaled(theta0)
    # Ignore a start that moves all events off the sensor.
    if not np.abs(start).max() < 2.0 * max(data.resolution):
        return _cold_search(problem, config)
    return _warm_search(problem, config, start)


def refine_motion(
    data: WindowData, near: SolverResult, config: SearchConfig | None = None
) -> SolverResult:
    """Refine a motion that is nearly right, on the finest map with all events.

    The curvature of ``near`` is reused, unless noise made it flat. See :func:`find_motion`.
    """
    config = config or _DEFAULT
    result = result_without_evidence(data, near.theta)
    if result is not None:
        return result
    problem = search_problem(data, config)
    passes = [Pass(config.finest_scale, len(data), True)]
    start = problem.scaling.scaled(near.theta)
    curvature = near.inverse_hessian
    if (
        curvature is not None
        and np.trace(curvature) > FLAT_CURVATURE * start.size * config.finest_scale**2
    ):
        curvature = None
    return _coarse_to_fine(problem, config, passes, start, 0, curvature)


def result_without_evidence(
    data: WindowData, theta0: ArrayLike | None = None
) -> SolverResult | None:
    """Return a result with ``theta0`` or zero for events without evidence of motion, else None."""
    warp = data.warp
    if len(data) < MIN_EVENTS:
        status = Status.TOO_FEW_EVENTS
    elif warp.dt[0] == warp.dt[-1]:  # sorted by time
        status = Status.FLAT
    elif _is_constant(warp.x) and _is_constant(warp.y):
        status = Status.TOO_FEW_EVENTS
    else:
        return None
    theta = np.zeros(len(warp.model.param_names)) if theta0 is None else np.array(theta0, float)
    return SolverResult(np.nan_to_num(theta, posinf=0.0, neginf=0.0), 0.0, 0, status)


def _is_constant(values: Floats) -> bool:
    """Return whether all values are equal; mostly the first two decide."""
    return bool(values[0] == values[1]) and bool((values == values[0]).all())


def search_problem(data: WindowData, config: SearchConfig) -> SearchProblem:
    """Return the data and constants of a search."""
    model, size = data.warp.model, data.resolution
    span_s = float(data.warp.dt[-1] - data.warp.dt[0])
    scaling = Scaling.of(model, size, span_s)
    penalty = CollapsePenalty.of(model, size, config.max_log_area)
    return SearchProblem(data.warp, size, scaling, penalty, span_s, EventView.of(data.warp))


def _cold_search(problem: SearchProblem, config: SearchConfig) -> SolverResult:
    level = coarse_level(problem, config)
    starts, n_eval = best_starts(level, bound_px(problem, config))
    ends = [_coarse_ascent(level, start, 0.1 * level.scale) for start in starts]
    n_eval += sum(end.n_eval for end in ends)
    best = max(ends, key=lambda end: end.value)
    n_events = 2 * len(level.engine.warp)
    passes = _passes(level.scale // 2, n_events, len(problem.warp), config)
    return _coarse_to_fine(problem, config, passes, best.theta, n_eval)


def _warm_search(problem: SearchProblem, config: SearchConfig, start: Floats) -> SolverResult:
    # Half of the events of a cold search suffice to compare alternatives.
    level = coarse_level(problem, config, share=0.5)
    value, *others = level.values([start, *alternatives(problem, start, level.scale)])
    n_eval = 1 + len(others)
    if all(other <= value for other in others) and _beats_rest(problem, config, level, start):
        passes = _passes(config.finest_scale, config.coarse_events, len(problem.warp), config)
        result = _coarse_to_fine(problem, config, passes, start, n_eval)
        moved = problem.scaling.scaled(result.theta) - start
        is_near = float(np.linalg.norm(moved)) < _NEAR * config.finest_scale
        if result.status is Status.CONVERGED and is_near:
            return result
        n_eval = result.n_eval
    cold = _cold_search(problem, config)
    return replace(cold, n_eval=cold.n_eval + n_eval)


def _beats_rest(
    problem: SearchProblem, config: SearchConfig, level: LevelObjective, start: Floats
) -> bool:
    """Return whether a start has a higher contrast than no motion, averaged over two grids of pixels.

    Lamps in a grid that flash are as sharp at rest as after a shift by the distance of the lamps. Which
    of both lies on pixels of one map is chance.
    """
    if float(start @ start) <= (2.0 * level.scale) ** 2:
        return True
    rest = np.zeros_like(start)
    other = coarse_level(problem, config, share=0.5, phase=0.5)
    first, second = level.values((start, rest)), other.values((start, rest))
    return first[0] + second[0] >= first[1] + second[1]


def _passes(scale: int, n_events: int, n_all: int, config: SearchConfig) -> list[Pass]:
    """Return the passes from a scale to the finest map with all events."""
    passes = []
    while scale > config.finest_scale:
        passes.append(Pass(scale, n_events, False))
        scale, n_events = scale // 2, 2 * n_events
    n_events *= FINEST_GROWTH
    while n_events * FINEST_GROWTH < n_all:
        passes.append(Pass(config.finest_scale, n_events, False))
        n_events *= FINEST_GROWTH
    return [*passes, Pass(config.finest_scale, n_all, True)]


def _coarse_to_fine(
    problem: SearchProblem,
    config: SearchConfig,
    passes: list[Pass],
    start: Floats,
    n_eval: int,
    curvature: Floats | None = None,  # inverse curvature of the last level, if known
) -> SolverResult:
    """Run gradient ascent on finer and finer levels; the last one corrects the border bias."""
    scaled, status, value, inverse = start, Status.CONVERGED, 0.0, None
    for scale, n_events, is_last in passes:
        level = LevelObjective.around(problem, scaled, scale, n_events, margin_px=3.0 * scale)
        if is_last:
            objective = _BorderCorrected.of(level)
            initial = level.inverse_curvature if curvature is None else curvature
            end = _solver(scale, config.tol_px).ascend(objective, scaled, initial)
            value = end.value - objective.correction(end.theta)
        else:
            end = _coarse_ascent(level, scaled, 0.05 * scale)
        n_eval += end.n_eval
        status, inverse = end.status, end.inverse_hessian
        step = inverse @ end.gradient
        length = max(float(np.sqrt(step @ step)), 1e-30)
        scaled = end.theta + step * min(1.0, LAST_STEP_PX / length)
    theta = problem.scaling.theta(scaled)
    if status is Status.NOT_FINITE or not np.isfinite(theta).all():
        return SolverResult(np.zeros_like(theta), 0.0, n_eval, Status.NOT_FINITE)
    model, resolution = problem.warp.model, problem.resolution
    if has_collapsed(model, theta, resolution, problem.span_s, config.max_log_area):
        status = Status.COLLAPSED
    return SolverResult(theta, value, n_eval, status, inverse)


@dataclass(frozen=True, slots=True, eq=False)
class _BorderCorrected:
    """A level plus the contrast that is lost at the border of the view."""

    level: LevelObjective
    bias: BorderBias

    @classmethod
    def of(cls, level: LevelObjective) -> "_BorderCorrected":
        """Return the corrected level, for the view of the events."""
        problem, view = level.problem, level.problem.view
        density = view.density_at_sides(problem.warp)
        model, resolution = problem.warp.model, problem.resolution
        return cls(level, BorderBias.of(model, resolution, view.sides_px, density))

    def __call__(self, scaled: Floats) -> tuple[float, Floats]:
        value, gradient = self.level(scaled)
        loss, slope = self._loss(scaled)
        return value + loss, gradient + slope

    def correction(self, scaled: Floats) -> float:
        """Return the added contrast."""
        return self._loss(scaled)[0]

    def _loss(self, scaled: Floats) -> tuple[float, Floats]:
        return self.bias.loss(scaled, 0.5 * self.level.scale)


def _coarse_ascent(level: LevelObjective, start: Floats, tol_px: float) -> Ascent:
    """Run an ascent on an intermediate level, with bounded steps where noise flattens it."""
    curvature = partial(level.inverse_curvature, 1.0)
    return _solver(level.scale, tol_px).ascend(level, start, curvature)


@lru_cache(maxsize=64)
def _solver(scale: int, tol_px: float) -> Bfgs:
    return Bfgs(max_iter=20, tol=1e-9, tol_step=tol_px, max_step=2.0 * scale)
