"""Local refinement of a motion with any objective and any solver."""

from collections.abc import Sequence

import numpy as np

from evcrisp.core.status import Status
from evcrisp.core.types import Floats
from evcrisp.optimize import Function, Solver, SolverResult
from evcrisp.search.alignment import Alignment, MultiReference
from evcrisp.search.collapse_penalty import MAX_LOG_AREA, CollapsePenalty, has_collapsed
from evcrisp.search.scaling import Scaling
from evcrisp.search.search import MIN_EVENTS
from evcrisp.search.window_data import WindowData

#: Sharpness of a window as a function of theta.
MotionObjective = Alignment | MultiReference


def window_scaling(data: WindowData) -> Scaling:
    """Return the scaling for the time from the first to the last event."""
    return Scaling.of(data.warp.model, data.resolution, _span_s(data))


def at_collapse_bound(data: WindowData, theta: Floats, max_log_area: float) -> bool:
    """Return whether a motion of these events reaches the collapse bound; see `has_collapsed`."""
    return has_collapsed(data.warp.model, theta, data.resolution, _span_s(data), max_log_area)


def _span_s(data: WindowData) -> float:
    """Return the time from the first to the last event; 0 without events."""
    dt = data.warp.dt
    return float(dt.max() - dt.min()) if dt.size else 0.0


def scaled_function(
    objective: MotionObjective,
    data: WindowData,
    scaling: Scaling,
    *,
    needs_gradient: bool,
    max_log_area: float = MAX_LOG_AREA,
) -> Function:
    """Return an objective of scaled parameters, per value at zero motion, minus the penalty."""
    collapse = CollapsePenalty.of(data.warp.model, data.resolution, max_log_area)
    unit = abs(objective.value(np.zeros(len(data.warp.model.param_names)))) or 1.0

    def fun(scaled: Floats) -> tuple[float, Floats | None]:
        penalty, slope = collapse.value_and_gradient(scaled)
        theta = scaling.theta(scaled)
        if not needs_gradient:
            return objective.value(theta) / unit - penalty, None
        value, gradient = objective.value_and_gradient(theta)
        return value / unit - penalty, scaling.gradient(gradient) / unit - slope

    return fun


def refine(
    data: WindowData,
    theta: Floats,
    objectives: Sequence[MotionObjective],
    solver: Solver,
    max_log_area: float = MAX_LOG_AREA,
) -> SolverResult:
    """Maximize one objective after the other, such as maps with less and less blur.

    Each starts from the result of the previous one, the first from ``theta``. The ``value`` of the
    result is that of the last objective.
    """
    scaling = window_scaling(data)
    scaled, n_eval, status = scaling.scaled(theta), 0, Status.CONVERGED
    for objective in objectives:
        fun = scaled_function(
            objective, data, scaling,
            needs_gradient=solver.needs_gradient, max_log_area=max_log_area,
        )  # fmt: skip
        end = solver.maximize(fun, scaled)
        scaled, status = end.theta, end.status
        n_eval += end.n_eval
    found = scaling.theta(scaled)
    if at_collapse_bound(data, found, max_log_area):
        status = Status.COLLAPSED
    elif _n_in_view(data, found) < MIN_EVENTS:
        status = Status.OUTSIDE
    return SolverResult(found, objectives[-1].value(found), n_eval, status)


def _n_in_view(data: WindowData, theta: Floats) -> int:
    """Return the number of warped events on the sensor."""
    x, y = data.warp.warp(theta)
    width, height = data.resolution
    return int(np.count_nonzero((x >= 0.0) & (x < width) & (y >= 0.0) & (y < height)))
