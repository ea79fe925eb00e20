"""Climb the contrast of a window with any objective and any solver."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evcrisp.contrast import ContrastMap
from evcrisp.estimators.alignment import Alignment, WindowData
from evcrisp.estimators.guard import MAX_LOG_AREA, Guard, log_area_change
from evcrisp.estimators.scaling import Scaling
from evcrisp.objectives import Objective
from evcrisp.solvers import Function, Solver, SolverResult, Status

Floats = NDArray[np.float64]


def window_scaling(data: WindowData) -> Scaling:
    """Return parameters in which 1 is 1 px of displacement from the first to the last event."""
    dt = data.warp.dt
    span_s = float(dt.max() - dt.min()) if dt.size else 0.0
    return Scaling.of(data.warp.model, data.resolution, span_s)


def scaled_function(alignment: Alignment, scaling: Scaling, needs_gradient: bool) -> Function:
    """Return the objective as a function of scaled parameters, in units of its value at rest.

    The wall of the guard is subtracted.
    """
    model, resolution = alignment.data.warp.model, alignment.data.resolution
    guard = Guard.of(model, resolution)
    unit = abs(alignment.value(np.zeros(len(model.param_names)))) or 1.0

    def fun(scaled: Floats) -> tuple[float, Floats | None]:
        wall, push = guard.penalty(scaled)
        theta = scaling.theta(scaled)
        if not needs_gradient:
            return alignment.value(theta) / unit - wall, None
        value, gradient = alignment.value_and_gradient(theta)
        return value / unit - wall, scaling.gradient(gradient) / unit - push

    return fun


def polish(
    data: WindowData,
    theta: Floats,
    contrasts: Sequence[ContrastMap],
    objective: Objective,
    solver: Solver,
) -> SolverResult:
    """Climb from ``theta`` on one contrast map after the other.

    Returns
    -------
    SolverResult
        ``theta`` in the units of the model; ``value`` is that of the objective on the last map.
    """
    scaling = window_scaling(data)
    scaled, n_eval, status = scaling.scaled(theta), 0, Status.CONVERGED
    for contrast in contrasts:
        alignment = Alignment(data, contrast, objective)
        end = solver.maximize(scaled_function(alignment, scaling, solver.needs_gradient), scaled)
        scaled, status = end.theta, end.status
        n_eval += end.n_eval
    found = scaling.theta(scaled)
    if log_area_change(data.warp.model, found, data.resolution, data.duration_s) > (
        1.1 * MAX_LOG_AREA
    ):
        status = Status.COLLAPSED
    return SolverResult(
        found, Alignment(data, contrasts[-1], objective).value(found), n_eval, status
    )
