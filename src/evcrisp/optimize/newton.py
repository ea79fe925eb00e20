"""Newton's method with a trust region and finite-difference second derivatives."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evcrisp.core.status import Status
from evcrisp.core.types import Floats
from evcrisp.optimize.protocol import CountedFunction, Function, SolverResult, check_parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class Newton:
    """Newton's method within a trust region.

    The Hessian takes one more gradient per parameter; positive curvatures are made negative.

    Parameters
    ----------
    max_iter : int
        Maximum number of steps.
    difference, max_step : float
        Step of the finite differences; maximum step length.
    tol, tol_step : float
        Stop if the predicted gain of the next step is less than ``tol``, relative to the value (at
        least 1), or the step is shorter than ``tol_step``.
    """

    name: ClassVar[str] = "newton"
    needs_gradient: ClassVar[bool] = True

    max_iter: int = 50
    difference: float = 1e-3
    max_step: float = 8.0
    tol: float = 1e-12
    tol_step: float = 1e-6

    def __post_init__(self) -> None:
        check_parameters(self, ("difference", "max_step"), max_iter=1)

    def maximize(self, fun: Function, theta0: Floats) -> SolverResult:
        """Maximize from ``theta0``, in units in which a step of 1 is moderate."""
        counted, theta = CountedFunction(fun), CountedFunction.start(theta0)
        value, gradient = counted.value_and_gradient(theta)
        if value == -math.inf:
            return counted.result(theta, value, Status.NOT_FINITE)
        if not gradient.any() and counted.is_flat(theta, value):
            return counted.result(theta, value, Status.FLAT)
        radius = self.max_step
        curvatures, axes = self._curvature(counted, theta, gradient)
        for _ in range(self.max_iter):
            step, predicted = _newton_step(curvatures, axes, gradient, radius)
            length = math.sqrt(float(step @ step))
            if length <= self.tol_step or predicted <= self.tol * max(1.0, abs(value)):
                return counted.result(theta, value, Status.CONVERGED)
            new, new_gradient = counted.value_and_gradient(theta + step)
            ratio = (new - value) / predicted
            if ratio < 0.25:
                radius = 0.25 * length
            elif ratio > 0.75:
                radius = min(self.max_step, 2.0 * radius)
            if ratio > 1e-4:
                theta, value, gradient = theta + step, new, new_gradient
                curvatures, axes = self._curvature(counted, theta, gradient)
        return counted.result(theta, value, Status.MAX_ITER)

    def _curvature(
        self, counted: CountedFunction, theta: Floats, gradient: Floats
    ) -> tuple[Floats, Floats]:
        """Return the eigenvalues and eigenvectors of minus the Hessian."""
        columns = []
        for axis in self.difference * np.eye(theta.size):
            value, ahead = counted.value_and_gradient(theta + axis)
            if value == -math.inf:
                value, behind = counted.value_and_gradient(theta - axis)
                ahead = 2.0 * gradient - behind
            columns.append((gradient - ahead) / self.difference)
        matrix = np.array(columns)
        curvatures, axes = np.linalg.eigh(0.5 * (matrix + matrix.T))
        return curvatures, axes


def _newton_step(
    curvatures: Floats, axes: Floats, gradient: Floats, radius: float
) -> tuple[Floats, float]:
    """Return a step of at most ``radius``, and its gain by the quadratic model."""
    slopes = gradient @ axes
    floor = 1e-8 * max(float(np.abs(curvatures).max()), 1e-30)
    along = slopes / np.maximum(np.abs(curvatures), floor)
    length = math.sqrt(float(along @ along))
    if length > radius:
        along = along * (radius / length)
    predicted = float(slopes @ along) - 0.5 * float(np.sum(np.abs(curvatures) * along * along))
    return axes @ along, predicted
