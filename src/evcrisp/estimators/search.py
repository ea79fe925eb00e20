"""Find the motion of a window, from nothing or from a guess.

::

    cold   coarse map, few events: a lattice of shifts, then turns and growths   (values only)
           coarse map, few events: climb from the best one or two
           finer maps, more events: climb, with the curvature of the level before
    warm   start here, or one level above for a poor guess
           finest map, more and more events: climb, given back what the frame takes

Contrast on a coarse map of a few thousand events is a smooth hill as wide as the largest plausible
displacement, so that a sparse lattice finds it; each finer level starts within reach of its top.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evcrisp.errors import ConfigError
from evcrisp.estimators.alignment import WindowData
from evcrisp.estimators.frame import Frame, border_density
from evcrisp.estimators.guard import MAX_LOG_AREA, Guard, log_area_change
from evcrisp.estimators.pyramid import Level, Problem, thinned
from evcrisp.estimators.scaling import Scaling, main_directions
from evcrisp.solvers import Function, SolverResult, Status
from evcrisp.solvers.bfgs import Bfgs, Climb

Floats = NDArray[np.float64]

#: With fewer events no motion is told from chance.
MIN_EVENTS = 10

#: Inverse curvature of the log of contrast, in units of scale squared: 1 px of displacement within a
#: window loses 1 / 24 of the contrast at a sigma of 1 px where all events lie on lines.
_CURVATURE = 12.0
_FLAT = 2.0 * _CURVATURE
_SHARPER = 0.3  # what is left of the inverse curvature on a map twice as fine
_FINEST_GROWTH = 4  # times as many events on each further pass over the finest map
_BOUND_SHARE, _BOUND_PX = 0.18, 100.0
_USUAL_PIXELS = 346 * 260 / 8**2  # of the coarsest map
_FRAME_EVENTS = 4096  # enough to tell how full the borders are
_NEAR = 2.0  # pixels of the finest map that a good guess is away, at most
_LAST_STEP_PX = 0.5  # longest step that is not checked by another look at the events


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchConfig:
    """Parameters of the search for a motion.

    Parameters
    ----------
    bound_px : float, optional, px
        Largest displacement within a window that a cold search expects; 18 % of the larger side of
        the sensor, but at most 100 px, where not given. Coarse scenes are found beyond it too.
    tol_px : float, px
        Do the last step without another look at the events when it moves the image by less (root
        mean square over the sensor). What is left is about the square of it.
    finest_scale : int
        Pixels of the sensor per pixel of the finest map. 2 makes a kernel with sigma 1 px.
    coarse_events : int
        Events on the coarsest level of a sensor of 346 x 260 or less; every finer level takes twice
        as many, and the finest all.
    max_log_area : float
        Bound on the change of log area within a window; see `Guard`.
    """

    bound_px: float | None = None
    tol_px: float = 0.02
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
    hopeless = no_evidence(data, theta0)
    if hopeless is not None:
        return hopeless
    problem = _problem(data, config)
    if theta0 is None or not np.isfinite(theta0).all():
        return _cold(problem, config)
    guess = problem.scaling.scaled(theta0)
    # A guess that throws everything off the sensor is none.
    if not np.abs(guess).max() < 2.0 * max(data.resolution):
        return _cold(problem, config)
    return _warm(problem, config, guess)


def refine_motion(
    data: WindowData, near: SolverResult, config: SearchConfig | None = None
) -> SolverResult:
    """Return the motion under which the events are sharpest, next to one that is nearly right.

    The finest map with all events is all that is looked at; see :func:`find_motion`. The curvature
    of ``near`` saves an evaluation; if it is flatter than what is usual, because it was found with
    much noise, it would cost some.
    """
    config = SearchConfig() if config is None else config
    hopeless = no_evidence(data, near.theta)
    if hopeless is not None:
        return hopeless
    problem = _problem(data, config)
    plan = [(config.finest_scale, len(data), True)]
    start = problem.scaling.scaled(near.theta)
    curvature = near.inverse_hessian
    if curvature is not None and np.trace(curvature) > _FLAT * start.size * config.finest_scale**2:
        curvature = None
    return _refined(problem, config, plan, start, curvature, 0)


def no_evidence(data: WindowData, theta0: ArrayLike | None = None) -> SolverResult | None:
    """Return the result for a window that cannot tell a motion, or None if it may.

    Its motion is ``theta0``, or zero.
    """
    warp = data.warp
    if len(data) < MIN_EVENTS:
        status = Status.TOO_FEW_EVENTS
    elif warp.dt.max() == warp.dt.min():
        status = Status.FLAT
    elif warp.x.max() == warp.x.min() and warp.y.max() == warp.y.min():
        status = Status.TOO_FEW_EVENTS
    else:
        return None
    theta = np.zeros(len(warp.model.param_names)) if theta0 is None else np.array(theta0, float)
    return SolverResult(np.nan_to_num(theta, posinf=0.0, neginf=0.0), 0.0, 0, status)


def _problem(data: WindowData, config: SearchConfig) -> Problem:
    model, size = data.warp.model, data.resolution
    span_s = float(data.warp.dt.max() - data.warp.dt.min())
    return Problem(
        data.warp,
        size,
        Scaling.of(model, size, span_s),
        Guard.of(model, size, config.max_log_area),
        Frame.of(model, size),
        span_s,
    )


def _cold(problem: Problem, config: SearchConfig) -> SolverResult:
    level = _coarse_level(problem, config)
    starts, n_eval = _starts(level, _bound_px(problem, config))
    ends = [_climb(level, level.scale, start, 0.1 * level.scale, None) for start in starts]
    n_eval += sum(end.n_eval for end in ends)
    best = max(ends, key=lambda end: end.value)
    plan = _plan(level.scale // 2, 2 * len(level.warp), len(problem.warp), config)
    return _refined(problem, config, plan, best.theta, best.inverse_hessian * _SHARPER, n_eval)


def _warm(problem: Problem, config: SearchConfig, start: Floats) -> SolverResult:
    result = _near(problem, config, start)
    level = _coarse_level(problem, config)
    found = problem.scaling.scaled(result.theta)
    here, rivals = level.value(found), _rivals(problem, found, level.scale)
    n_eval = result.n_eval + 1 + len(rivals)
    if result.status is Status.CONVERGED and all(level.value(other) <= here for other in rivals):
        return replace(result, n_eval=n_eval)
    cold = _cold(problem, config)
    return replace(cold, n_eval=cold.n_eval + n_eval)


def _near(problem: Problem, config: SearchConfig, start: Floats) -> SolverResult:
    """Climb on the finest map; if that leads far away, once more from there on a coarser one."""
    finest = config.finest_scale
    plan = _plan(finest, config.coarse_events, len(problem.warp), config)
    result = _refined(problem, config, plan, start, None, 0)
    found = problem.scaling.scaled(result.theta)
    if float(np.linalg.norm(found - start)) < _NEAR * finest:
        return result
    scale = min(2 * finest, _coarse_scale(problem.resolution))
    plan = _plan(scale, 2 * config.coarse_events, len(problem.warp), config)
    return _refined(problem, config, plan, found, None, result.n_eval)


def _rivals(problem: Problem, scaled: Floats, scale: int) -> list[Floats]:
    """Return motions that must not be sharper than the one found: around it, and none at all."""
    step = 2.0 * scale
    directions = main_directions(problem.warp.model, problem.resolution)
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
    """Climb on finer and finer levels; on the last one, give back what the frame takes."""
    scaled, status, value = start, Status.CONVERGED, 0.0
    for scale, n_events, last in plan:
        level = Level.around(problem, scaled, scale=scale, n_events=n_events, margin_px=3.0 * scale)
        taken = _frame_slope(problem, scaled, 0.5 * scale) if last else np.zeros(scaled.size)
        hill = _Tilted(level, scaled, taken)
        end = _climb(hill, scale, scaled, config.tol_px if last else 0.05 * scale, curvature)
        n_eval += end.n_eval
        status, value = end.status, end.value - float(taken @ (end.theta - scaled))
        scaled = end.theta + _limited(end.inverse_hessian @ end.gradient, _LAST_STEP_PX)
        curvature = end.inverse_hessian * (1.0 if scale == config.finest_scale else _SHARPER)
    theta = problem.scaling.theta(scaled)
    if status is Status.NOT_FINITE or not np.isfinite(theta).all():
        return SolverResult(np.zeros_like(theta), 0.0, n_eval, Status.NOT_FINITE)
    if _has_collapsed(problem, scaled, config):
        status = Status.COLLAPSED
    return SolverResult(theta, value, n_eval, status, curvature)


def _has_collapsed(problem: Problem, scaled: Floats, config: SearchConfig) -> bool:
    if float(scaled @ scaled) < (0.5 * problem.guard.reach) ** 2:
        return False  # too small a motion to change areas by that much
    theta, model = problem.scaling.theta(scaled), problem.warp.model
    change = log_area_change(model, theta, problem.resolution, problem.span_s)
    return change > 1.1 * config.max_log_area


def _frame_slope(problem: Problem, scaled: Floats, softness_px: float) -> Floats:
    x, y = thinned(problem.warp, _FRAME_EVENTS).warp(problem.scaling.theta(scaled))
    density = border_density(x, y, problem.resolution)
    return problem.frame.loss(scaled, softness_px, density)[1]


def _limited(step: Floats, longest: float) -> Floats:
    return step * min(1.0, longest / max(float(np.sqrt(step @ step)), 1e-30))


@dataclass(frozen=True, slots=True, eq=False)
class _Tilted:
    """A level plus what the frame takes from it, which is even over the last few pixels."""

    level: Level
    around: Floats
    slope: Floats

    def __call__(self, scaled: Floats) -> tuple[float, Floats]:
        value, gradient = self.level(scaled)
        return value + float(self.slope @ (scaled - self.around)), gradient + self.slope


def _climb(
    hill: Function, scale: int, start: Floats, tol_px: float, curvature: Floats | None
) -> Climb:
    matrix = _CURVATURE * scale * scale * np.eye(start.size) if curvature is None else curvature
    solver = Bfgs(max_iter=20, tol=1e-9, tol_step=tol_px, max_step=2.0 * scale)
    return solver.climb(hill, start, matrix)


def _coarse_scale(resolution: tuple[int, int]) -> int:
    """Return the scale of the coarsest map: 8 for 346 x 260, more for large sensors.

    The width of the hill grows with the scale, but fine texture vanishes: the scale grows slower
    than the sensor.
    """
    relative = max(resolution[0] / 346.0, resolution[1] / 260.0)
    return 2 ** min(max(round(math.log2(8.0 * min(relative, math.sqrt(relative)))), 1), 5)


def _bound_px(problem: Problem, config: SearchConfig) -> float:
    if config.bound_px is not None:
        return config.bound_px
    return min(_BOUND_SHARE * max(problem.resolution), _BOUND_PX)


def _coarse_level(problem: Problem, config: SearchConfig) -> Level:
    scale = max(_coarse_scale(problem.resolution), config.finest_scale)
    # As many events per pixel of the map on every sensor.
    pixels = problem.resolution[0] * problem.resolution[1] / scale**2
    return Level.around(
        problem,
        np.zeros(len(problem.scaling.forward)),
        scale=scale,
        n_events=round(config.coarse_events * max(1.0, pixels / _USUAL_PIXELS)),
        margin_px=0.5 * _bound_px(problem, config) + 2.0 * scale,
    )


def _starts(level: Level, bound_px: float) -> tuple[list[Floats], int]:
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
