"""Climb the contrast of a window with any objective and any solver."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from evcrisp.core.status import Status
from evcrisp.core.types import Floats
from evcrisp.optimize import Function, Solver, SolverResult
from evcrisp.search.collapse_penalty import MAX_LOG_AREA, Guard, has_collapsed
from evcrisp.search.scaling import Scaling
from evcrisp.search.search import MIN_EVENTS
from evcrisp.search.window_data import WindowData


def window_scaling(data: WindowData) -> Scaling:
    """Return parameters in which 1 is 1 px of displacement from the first to the last event."""
    return Scaling.of(data.warp.model, data.resolution, span_s(data))


def span_s(data: WindowData) -> float:
    """Return the time from the first to the last event; 0 without events."""
    dt = data.warp.dt
    return float(dt.max() - dt.min()) if dt.size else 0.0


def is_at_wall(data: WindowData, theta: Floats, max_log_area: float) -> bool:
    """Return whether a motion of these events lies at or behind the wall; see `has_collapsed`."""
    return has_collapsed(data.warp.model, theta, data.resolution, span_s(data), max_log_area)


class Sharpness(Protocol):
    """How sharp the events of a window are at a motion: an alignment, or several at once."""

    def value(self, theta: Floats) -> float:
        """Return the objective at ``theta``; larger is sharper."""
        ...

    def value_and_gradient(self, theta: Floats) -> tuple[float, Floats]:
        """Return the objective and its gradient at ``theta``, shape (m,)."""
        ...


def scaled_function(
    sharpness: Sharpness,
    data: WindowData,
    scaling: Scaling,
    *,
    needs_gradient: bool,
    max_log_area: float = MAX_LOG_AREA,
) -> Function:
    """Return the objective as a function of scaled parameters, in units of its value at rest.

    The wall of the guard is subtracted.
    """
    guard = Guard.of(data.warp.model, data.resolution, max_log_area)
    unit = abs(sharpness.value(np.zeros(len(data.warp.model.param_names)))) or 1.0

    def fun(scaled: Floats) -> tuple[float, Floats | None]:
        wall, push = guard.penalty(scaled)
        theta = scaling.theta(scaled)
        if not needs_gradient:
            return sharpness.value(theta) / unit - wall, None
        value, gradient = sharpness.value_and_gradient(theta)
        return value / unit - wall, scaling.gradient(gradient) / unit - push

    return fun


def polish(
    data: WindowData,
    theta: Floats,
    sharpnesses: Sequence[Sharpness],
    solver: Solver,
    max_log_area: float = MAX_LOG_AREA,
) -> SolverResult:
    """Climb from ``theta`` on one contrast map after the other.

    Parameters
    ----------
    data : WindowData
        The events.
    theta : ndarray, shape (m,)
        Where to start.
    sharpnesses : sequence of Sharpness
        What to climb, one after the other: the same events on maps with less and less blur.
    solver : Solver
        How to climb.
    max_log_area : float
        Bound on the change of log area; see `Guard`.

    Returns
    -------
    SolverResult
        ``theta`` in the units of the model; ``value`` is that of the objective on the last map.
    """
    scaling = window_scaling(data)
    scaled, n_eval, status = scaling.scaled(theta), 0, Status.CONVERGED
    for sharpness in sharpnesses:
        fun = scaled_function(
            sharpness, data, scaling,
            needs_gradient=solver.needs_gradient, max_log_area=max_log_area,
        )  # fmt: skip
        end = solver.maximize(fun, scaled)
        scaled, status = end.theta, end.status
        n_eval += end.n_eval
    found, last = scaling.theta(scaled), sharpnesses[-1]
    if is_at_wall(data, found, max_log_area):
        status = Status.COLLAPSED
    elif _n_in_view(data, found) < MIN_EVENTS:
        status = Status.OUTSIDE
    return SolverResult(found, last.value(found), n_eval, status)


def _n_in_view(data: WindowData, theta: Floats) -> int:
    """Return how many events a motion leaves where the sensor is."""
    x, y = data.warp.warp(theta)
    width, height = data.resolution
    return int(np.count_nonzero((x >= 0.0) & (x < width) & (y >= 0.0) & (y < height)))
