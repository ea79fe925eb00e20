"""Newton steps with second derivatives from differences of the gradient."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.core.status import Status
from evcrisp.core.types import Floats
from evcrisp.optimize.counted_function import CountedFunction, as_start
from evcrisp.optimize.protocol import Function, SolverResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Newton:
    """Newton's method within a trust region.

    The matrix of second derivatives comes from one more gradient per parameter. Directions in
    which the function bends upward are climbed as if it bent downward by as much.

    Parameters
    ----------
    max_iter : int
        Most steps.
    difference : float
        How far apart the gradients are.
    max_step : float
        Longest step.
    tol, tol_step : float
        Stop when the next step promises less gain than ``tol``, relative to the value (at least
        1), or is shorter than ``tol_step``.
    """

    name: ClassVar[str] = "newton"
    needs_gradient: ClassVar[bool] = True

    max_iter: int = 50
    difference: float = 1e-3
    max_step: float = 8.0
    tol: float = 1e-12
    tol_step: float = 1e-6

    def __post_init__(self) -> None:
        for name in ("difference", "max_step"):
            if not getattr(self, name) > 0.0:
                raise ConfigError(f"`{name}` must be positive; got {getattr(self, name)}.")
        if self.max_iter < 1:
            raise ConfigError(f"`max_iter` must be 1 or more; got {self.max_iter}.")

    def maximize(self, fun: Function, theta0: Floats) -> SolverResult:
        """Search from ``theta0``, in units in which a step of 1 is of moderate size."""
        counted = CountedFunction(fun)
        theta = as_start(theta0)
        value, gradient = counted.value_and_gradient(theta)
        if value == -math.inf:
            return counted.result(theta, value, Status.NOT_FINITE)
        if not gradient.any() and counted.is_flat(theta, value):
            return counted.result(theta, value, Status.FLAT)
        radius = self.max_step
        bends, axes = self._curvature(counted, theta, gradient)
        for _ in range(self.max_iter):
            step, promised = _newton_step(bends, axes, gradient, radius)
            length = math.sqrt(float(step @ step))
            if length <= self.tol_step or promised <= self.tol * max(1.0, abs(value)):
                return counted.result(theta, value, Status.CONVERGED)
            new, new_gradient = counted.value_and_gradient(theta + step)
            kept = (new - value) / promised
            if kept < 0.25:
                radius = 0.25 * length
            elif kept > 0.75:
                radius = min(self.max_step, 2.0 * radius)
            if kept > 1e-4:
                theta, value, gradient = theta + step, new, new_gradient
                bends, axes = self._curvature(counted, theta, gradient)
        return counted.result(theta, value, Status.MAX_ITER)

    def _curvature(
        self, counted: CountedFunction, theta: Floats, gradient: Floats
    ) -> tuple[Floats, Floats]:
        """Return how much the function bends downward along its own axes, and these axes."""
        columns = []
        for axis in self.difference * np.eye(theta.size):
            value, ahead = counted.value_and_gradient(theta + axis)
            if value == -math.inf:
                value, behind = counted.value_and_gradient(theta - axis)
                ahead = 2.0 * gradient - behind
            columns.append((gradient - ahead) / self.difference)
        matrix = np.array(columns)
        bends, axes = np.linalg.eigh(0.5 * (matrix + matrix.T))
        return bends, axes


def _newton_step(
    bends: Floats, axes: Floats, gradient: Floats, radius: float
) -> tuple[Floats, float]:
    """Return a step of at most ``radius``, and the gain that a parabola promises."""
    slopes = gradient @ axes
    floor = 1e-8 * max(float(np.abs(bends).max()), 1e-30)
    along = slopes / np.maximum(np.abs(bends), floor)
    length = math.sqrt(float(along @ along))
    if length > radius:
        along = along * (radius / length)
    promised = float(slopes @ along) - 0.5 * float(np.sum(np.abs(bends) * along * along))
    return axes @ along, promised
