"""Find the motion of a window, from nothing or from a guess.

::

    cold   coarse map, few events: a lattice of shifts, then turns and growths   (values only)
           coarse map, few events: climb from the best one or two
           finer maps, more events: climb
    warm   start here, if no other motion is sharper on the coarse map
           finest map, more and more events: climb, given back what the frame takes

Contrast on a coarse map of a few thousand events is a smooth hill as wide as the largest plausible
displacement, so that a sparse lattice finds it; each finer level starts within reach of its top.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.status import Status
from evcrisp.core.types import Floats
from evcrisp.optimize import Function, SolverResult
from evcrisp.optimize.bfgs import Bfgs, Climb
from evcrisp.search.border_bias import Frame, border_density
from evcrisp.search.coarse_search import bound_px, coarse_level, promising, rivals_of
from evcrisp.search.collapse_penalty import Guard, has_collapsed
from evcrisp.search.config import SearchConfig
from evcrisp.search.curvature import USUAL
from evcrisp.search.multiscale_objective import Level, Problem
from evcrisp.search.scaling import Scaling
from evcrisp.search.window_data import WindowData

#: With fewer events no motion is told from chance.
MIN_EVENTS = 10

_DEFAULT = SearchConfig()
_FINEST_GROWTH = 4  # times as many events on each further pass over the finest map
_NEAR = 2.0  # pixels of the finest map that a good guess is away, at most
_FLAT = (
    2.0 / USUAL
)  # mean of the inverse curvature, over the square of the scale, above which noise decides
_LAST_STEP_PX = 0.5  # longest step that is not checked by another look at the events


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
    config = config or _DEFAULT
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

    The finest map with all events is all that is looked at; see :func:`find_motion`. The curvature of
    ``near`` saves asking the map for it, unless much noise has made it flat.
    """
    config = config or _DEFAULT
    hopeless = no_evidence(data, near.theta)
    if hopeless is not None:
        return hopeless
    problem = _problem(data, config)
    plan = [(config.finest_scale, len(data), True)]
    start = problem.scaling.scaled(near.theta)
    curvature = near.inverse_hessian
    if curvature is not None and np.trace(curvature) > _FLAT * start.size * config.finest_scale**2:
        curvature = None
    return _refined(problem, config, plan, start, 0, curvature)


def no_evidence(data: WindowData, theta0: ArrayLike | None = None) -> SolverResult | None:
    """Return the result for a window that cannot tell a motion, or None if it may.

    Its motion is ``theta0``, or zero.
    """
    warp = data.warp
    if len(data) < MIN_EVENTS:
        status = Status.TOO_FEW_EVENTS
    elif warp.dt[0] == warp.dt[-1]:  # they are in the order of time
        status = Status.FLAT
    elif _is_constant(warp.x) and _is_constant(warp.y):
        status = Status.TOO_FEW_EVENTS
    else:
        return None
    theta = np.zeros(len(warp.model.param_names)) if theta0 is None else np.array(theta0, float)
    return SolverResult(np.nan_to_num(theta, posinf=0.0, neginf=0.0), 0.0, 0, status)


def _is_constant(values: Floats) -> bool:
    """Tell whether all are equal, which is mostly seen at the first two."""
    return bool(values[0] == values[1]) and bool((values == values[0]).all())


def _problem(data: WindowData, config: SearchConfig) -> Problem:
    model, size = data.warp.model, data.resolution
    span_s = float(data.warp.dt[-1] - data.warp.dt[0])
    return Problem(
        data.warp,
        size,
        Scaling.of(model, size, span_s),
        Guard.of(model, size, config.max_log_area),
        Frame.of(model, size),
        span_s,
    )


def _cold(problem: Problem, config: SearchConfig) -> SolverResult:
    level = coarse_level(problem, config)
    starts, n_eval = promising(level, bound_px(problem, config))
    ends = [_towards(level, start, 0.1 * level.scale) for start in starts]
    n_eval += sum(end.n_eval for end in ends)
    best = max(ends, key=lambda end: end.value)
    plan = _plan(level.scale // 2, 2 * len(level.warp), len(problem.warp), config)
    return _refined(problem, config, plan, best.theta, n_eval)


def _warm(problem: Problem, config: SearchConfig, start: Floats) -> SolverResult:
    # Half as many events as a cold search starts with are enough to tell a hill from a plain.
    level = coarse_level(problem, config, share=0.5)
    here, rivals = level.value(start), rivals_of(problem, start, level.scale)
    n_eval = 1 + len(rivals)
    if all(level.value(other) <= here for other in rivals):
        plan = _plan(config.finest_scale, config.coarse_events, len(problem.warp), config)
        result = _refined(problem, config, plan, start, n_eval)
        way = problem.scaling.scaled(result.theta) - start
        is_near = float(np.linalg.norm(way)) < _NEAR * config.finest_scale
        if result.status is Status.CONVERGED and is_near:
            return result
        n_eval = result.n_eval
    cold = _cold(problem, config)
    return replace(cold, n_eval=cold.n_eval + n_eval)


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
    n_eval: int,
    curvature: Floats | None = None,
) -> SolverResult:
    """Climb on finer and finer levels; on the last one, give back what the frame takes.

    The curvature is that of the last level, if it is known.
    """
    scaled, status, value, inverse = start, Status.CONVERGED, 0.0, None
    for scale, n_events, last in plan:
        level = Level.around(problem, scaled, scale=scale, n_events=n_events, margin_px=3.0 * scale)
        if last:
            hill = _Framed(level, scaled)
            known = level.inverse_curvature if curvature is None else curvature
            end = _climb(hill, scale, scaled, config.tol_px, known)
            value = end.value - hill.given_back(end.theta)
        else:
            end = _towards(level, scaled, 0.05 * scale)
        n_eval += end.n_eval
        status, inverse = end.status, end.inverse_hessian
        scaled = end.theta + _limited(inverse @ end.gradient, _LAST_STEP_PX)
    theta = problem.scaling.theta(scaled)
    if status is Status.NOT_FINITE or not np.isfinite(theta).all():
        return SolverResult(np.zeros_like(theta), 0.0, n_eval, Status.NOT_FINITE)
    model, resolution = problem.warp.model, problem.resolution
    if has_collapsed(model, theta, resolution, problem.span_s, config.max_log_area):
        status = Status.COLLAPSED
    return SolverResult(theta, value, n_eval, status, inverse)


def _limited(step: Floats, longest: float) -> Floats:
    return step * min(1.0, longest / max(float(np.sqrt(step @ step)), 1e-30))


@dataclass(slots=True, eq=False)
class _Framed:
    """A level, given back what the frame takes from it, which is even over the last few pixels."""

    level: Level
    around: Floats
    slope: Floats | None = None  # known once the events have been moved to their places

    def __call__(self, scaled: Floats) -> tuple[float, Floats]:
        value, gradient = self.level(scaled)
        if self.slope is None:
            problem = self.level.problem
            density = border_density(*self.level.places, problem.resolution)
            softness_px = 0.5 * self.level.scale
            self.slope = problem.frame.loss(self.around, softness_px, density)[1]
        return value + self.given_back(scaled), gradient + self.slope

    def given_back(self, scaled: Floats) -> float:
        """Return what the value was raised by; nothing before the first look."""
        return 0.0 if self.slope is None else float(self.slope @ (scaled - self.around))


def _towards(level: Level, start: Floats, tol_px: float) -> Climb:
    """Climb on a level that only leads towards the top; not by long steps, where noise makes it flat."""
    return _climb(level, level.scale, start, tol_px, partial(level.inverse_curvature, 1.0))


def _climb(
    hill: Function,
    scale: int,
    start: Floats,
    tol_px: float,
    inverse_curvature: Floats | Callable[[], Floats],
) -> Climb:
    solver = Bfgs(max_iter=20, tol=1e-9, tol_step=tol_px, max_step=2.0 * scale)
    return solver.climb(hill, start, inverse_curvature)
