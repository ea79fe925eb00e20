"""Find the motion of a window, from nothing or from a guess.

::

    cold   coarse map, few events: a lattice of shifts, then turns and growths   (values only)
           coarse map, few events: climb from the best one or two
    warm   start here
           finer maps, more events: climb, with the curvature of the level before
           finest map, all events: climb, then give back what the frame took

Contrast on a coarse map of a few thousand events is a smooth hill as wide as the largest plausible
displacement, so that a sparse lattice finds it; each finer level starts within reach of its top.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evcrisp.errors import ConfigError
from evcrisp.estimators.alignment import WindowData
from evcrisp.estimators.frame import Frame
from evcrisp.estimators.guard import MAX_LOG_AREA, Guard, log_area_change
from evcrisp.estimators.pyramid import Level, Problem
from evcrisp.estimators.scaling import Scaling, main_directions
from evcrisp.solvers import SolverResult, Status
from evcrisp.solvers.bfgs import Bfgs, Climb

Floats = NDArray[np.float64]

#: With fewer events no motion is told from chance.
MIN_EVENTS = 10

#: Inverse curvature of the log of contrast, in units of scale squared: 1 px of displacement within a
#: window loses 1 / 24 of the contrast at a sigma of 1 px where all events lie on lines.
_CURVATURE = 12.0
_SHARPER = 0.3  # what is left of the inverse curvature on a map twice as fine
_FINEST_GROWTH = 4  # times as many events on each further pass over the finest map
_LAST_STEP_PX = 0.5  # longest step that is not checked by another look at the events


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchConfig:
    """Parameters of the search for a motion.

    Parameters
    ----------
    bound_px : float, optional, px
        Largest displacement within a window that a cold search expects; 18 % of the larger side of
        the sensor where not given.
    tol_px : float, px
        Do the last step without another look at the events when it moves the image by less (root
        mean square over the sensor). What is left is about the square of it.
    finest_scale : int
        Pixels of the sensor per pixel of the finest map. 2 makes a kernel with sigma 1 px.
    coarse_events : int
        Events on the coarsest level; every finer one takes twice as many, and the finest all.
    max_log_area : float
        Bound on the change of log area within a window; see `Guard`.
    """

    bound_px: float | None = None
    tol_px: float = 0.05
    finest_scale: int = 2
    coarse_events: int = 4096
    max_log_area: float = MAX_LOG_AREA

    def __post_init__(self) -> None:
        if self.bound_px is not None and not self.bound_px > 0.0:
            raise ConfigError(f"`bound_px` must be positive; got {self.bound_px}.")
        for name, least in (("finest_scale", 1), ("coarse_events", 100)):
            if getattr(self, name) < least:
                raise ConfigError(f"`{name}` must be {least} or more; got {getattr(self, name)}.")
        for name in ("tol_px", "max_log_area"):
            if not getattr(self, name) > 0.0:
                raise ConfigError(f"`{name}` must be positive; got {getattr(self, name)}.")


def find_motion(
    data: WindowData, theta0: ArrayLike | None = None, config: SearchConfig | None = None
) -> SolverResult:
    """Return the motion under which the events of a window are sharpest.

    Parameters
    ----------
    data : WindowData
        Events of the window, without hot pixels.
    theta0 : array_like, shape (m,), optional
        A guess, such as the motion of the window before. It is checked against other motions, and a
        cold search follows if one of them is sharper.
    config : SearchConfig, optional
        How to search.

    Returns
    -------
    SolverResult
        ``theta`` in the units of the model; ``value`` is the log of the mean contrast that an event
        sees on the finest map. Status `TOO_FEW_EVENTS` or `FLAT` comes with ``theta0``, or zeros.
    """
    config = SearchConfig() if config is None else config
    n_params = len(data.warp.model.param_names)
    start = np.zeros(n_params) if theta0 is None else np.array(theta0, np.float64)
    hopeless = _no_evidence(data)
    if hopeless is not None:
        return SolverResult(start, 0.0, 0, hopeless)
    problem = _problem(data, config)
    if theta0 is None or not np.isfinite(start).all():
        return _cold(problem, data, config)
    return _warm(problem, data, config, problem.scaling.scaled(start))


def _no_evidence(data: WindowData) -> Status | None:
    """Return why a window cannot tell a motion, or None if it may."""
    warp = data.warp
    if len(data) < MIN_EVENTS:
        return Status.TOO_FEW_EVENTS
    if warp.dt.max() == warp.dt.min():
        return Status.FLAT
    if warp.x.max() == warp.x.min() and warp.y.max() == warp.y.min():
        return Status.TOO_FEW_EVENTS
    return None


def _problem(data: WindowData, config: SearchConfig) -> Problem:
    model, size = data.warp.model, data.resolution
    span_s = float(data.warp.dt.max() - data.warp.dt.min())
    return Problem(
        data.warp,
        size,
        Scaling.of(model, size, span_s),
        Guard.of(model, size, config.max_log_area),
        Frame.of(model, size),
    )


def _cold(problem: Problem, data: WindowData, config: SearchConfig) -> SolverResult:
    level = _coarse_level(problem, config)
    bound = _bound_px(problem, config)
    directions = main_directions(data.warp.model, data.resolution)
    starts, n_eval = _starts(level, directions, bound)
    best: Climb | None = None
    for start in starts:
        end = _climb(level, start, 0.1 * level.scale, None)
        n_eval += end.n_eval
        if best is None or end.value > best.value:
            best = end
    assert best is not None
    plan = _plan(level.scale // 2, 2 * config.coarse_events, len(data), config)
    return _refined(problem, config, plan, best.theta, best.inverse_hessian * _SHARPER, n_eval)


def _warm(
    problem: Problem, data: WindowData, config: SearchConfig, start: Floats
) -> SolverResult:
    scale = min(2 * config.finest_scale, _coarse_scale(data.resolution))
    plan = _plan(scale, 2 * config.coarse_events, len(data), config)
    result = _refined(problem, config, plan, start, None, 0)
    level = _coarse_level(problem, config)
    found = problem.scaling.scaled(result.theta)
    rivals = _rivals(found, main_directions(data.warp.model, data.resolution), level.scale)
    here = level.value(found)
    n_eval = result.n_eval + 1 + len(rivals)
    if result.status is Status.CONVERGED and all(level.value(other) <= here for other in rivals):
        return SolverResult(result.theta, result.value, n_eval, result.status)
    cold = _cold(problem, data, config)
    return SolverResult(cold.theta, cold.value, cold.n_eval + n_eval, cold.status)


def _rivals(scaled: Floats, directions: Floats, scale: int) -> list[Floats]:
    """Return motions that must not be sharper than the one found: around it, and none at all."""
    step = 2.0 * scale
    around = [scaled + sign * step * row for row in directions for sign in (-1.0, 1.0)]
    return [*around, np.zeros_like(scaled)] if float(scaled @ scaled) > step * step else around


def _plan(
    scale: int, n_events: int, n_all: int, config: SearchConfig
) -> list[tuple[int, int, bool]]:
    """Return scale, number of events, and whether it is the last, level by level."""
    levels = []
    while scale > config.finest_scale:
        levels.append((scale, n_events, False))
        scale, n_events = scale // 2, 2 * n_events
    n_events *= _FINEST_GROWTH
    while n_events * _FINEST_GROWTH < n_all:
        levels.append((config.finest_scale, n_events, False))
        n_events *= _FINEST_GROWTH
    return [*levels, (config.finest_scale, n_all, True)]


def _refined(
    problem: Problem,
    config: SearchConfig,
    plan: list[tuple[int, int, bool]],
    start: Floats,
    curvature: Floats | None,
    n_eval: int,
) -> SolverResult:
    """Climb on finer and finer levels."""
    scaled, status, value = start, Status.CONVERGED, 0.0
    for scale, n_events, last in plan:
        level = Level.around(problem, scaled, scale=scale, n_events=n_events, margin_px=3.0 * scale)
        end = _climb(level, scaled, config.tol_px if last else 0.05 * scale, curvature)
        n_eval += end.n_eval
        status, value = end.status, end.value
        uphill = end.gradient
        if last:
            uphill = uphill + problem.frame.loss(end.theta, 0.5 * scale)[1]
        scaled = end.theta + _limited(end.inverse_hessian @ uphill, _LAST_STEP_PX)
        curvature = end.inverse_hessian * (1.0 if scale == config.finest_scale else _SHARPER)
    theta = problem.scaling.theta(scaled)
    if status is Status.NOT_FINITE or not np.isfinite(theta).all():
        return SolverResult(np.zeros_like(theta), 0.0, n_eval, Status.NOT_FINITE)
    model, span_s = problem.warp.model, float(problem.warp.dt.max() - problem.warp.dt.min())
    if log_area_change(model, theta, problem.resolution, span_s) > 1.1 * config.max_log_area:
        status = Status.COLLAPSED
    return SolverResult(theta, value, n_eval, status)


def _limited(step: Floats, longest: float) -> Floats:
    return step * min(1.0, longest / max(float(np.sqrt(step @ step)), 1e-30))


def _climb(level: Level, start: Floats, tol_px: float, curvature: Floats | None) -> Climb:
    square = level.scale * level.scale
    matrix = _CURVATURE * square * np.eye(start.size) if curvature is None else curvature
    solver = Bfgs(max_iter=20, tol=1e-9, tol_step=tol_px, max_step=2.0 * level.scale)
    return solver.climb(level, start, matrix)


def _coarse_scale(resolution: tuple[int, int]) -> int:
    """Return the scale on which any sensor is as large as one of 346 x 260 at scale 8."""
    relative = max(resolution[0] / 346.0, resolution[1] / 260.0)
    return 2 ** min(max(round(math.log2(8.0 * relative)), 1), 6)


def _bound_px(problem: Problem, config: SearchConfig) -> float:
    return 0.18 * max(problem.resolution) if config.bound_px is None else config.bound_px


def _coarse_level(problem: Problem, config: SearchConfig) -> Level:
    scale = max(_coarse_scale(problem.resolution), config.finest_scale)
    return Level.around(
        problem,
        np.zeros(len(problem.scaling.forward)),
        scale=scale,
        n_events=config.coarse_events,
        margin_px=0.5 * _bound_px(problem, config) + 2.0 * scale,
    )


def _starts(level: Level, directions: Floats, bound_px: float) -> tuple[list[Floats], int]:
    """Return the one or two most promising motions, and how many were looked at."""
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
