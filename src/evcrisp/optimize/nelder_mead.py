"""A simplex that crawls uphill; no gradient needed."""

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
class NelderMead:
    """Nelder and Mead's simplex, with coefficients for the number of parameters.

    Parameters
    ----------
    step : float
        Size of the first simplex.
    max_iter : int
        Most moves of the simplex.
    tol_step, tol : float
        Stop when the simplex is smaller than ``tol_step`` and its values differ by less than
        ``tol``, relative to the value (at least 1).
    restarts : int
        Start again at the end with a fresh simplex; a worn one may have stopped on a slope.

    References
    ----------
    F. Gao, L. Han, "Implementing the Nelder-Mead simplex algorithm with adaptive
    parameters", Computational Optimization and Applications 51, 2012.
    """

    name: ClassVar[str] = "nelder-mead"
    needs_gradient: ClassVar[bool] = False

    step: float = 1.0
    max_iter: int = 2000
    tol_step: float = 1e-4
    tol: float = 1e-9
    restarts: int = 1

    def __post_init__(self) -> None:
        for name in ("step", "tol_step"):
            if not getattr(self, name) > 0.0:
                raise ConfigError(f"`{name}` must be positive; got {getattr(self, name)}.")
        if self.max_iter < 1:
            raise ConfigError(f"`max_iter` must be 1 or more; got {self.max_iter}.")
        if self.restarts < 0:
            raise ConfigError(f"`restarts` must be 0 or more; got {self.restarts}.")

    def maximize(self, fun: Function, theta0: Floats) -> SolverResult:
        """Search from ``theta0``, in units in which a step of 1 is of moderate size."""
        counted = CountedFunction(fun)
        theta = as_start(theta0)
        value = counted.value(theta)
        if value == -math.inf:
            return counted.result(theta, value, Status.NOT_FINITE)
        if counted.is_flat(theta, value):
            return counted.result(theta, value, Status.FLAT)
        status = Status.MAX_ITER
        for _ in range(1 + self.restarts):
            theta, value, status = self._crawl(counted, theta, value)
        return counted.result(theta, value, status)

    def _crawl(
        self, counted: CountedFunction, theta: Floats, value: float
    ) -> tuple[Floats, float, Status]:
        m = theta.size
        points = np.vstack((theta, theta + self.step * np.eye(m)))
        values = np.array([value, *(counted.value(point) for point in points[1:])])
        for _ in range(self.max_iter):
            order = np.argsort(-values, kind="stable")
            points, values = points[order], values[order]
            size = float(np.abs(points[1:] - points[0]).max())
            if size <= self.tol_step and values[0] - values[-1] <= self.tol * max(
                1.0, abs(values[0])
            ):
                return points[0], float(values[0]), Status.CONVERGED
            _move(counted, points, values)
        best = int(np.argmax(values))
        return points[best], float(values[best]), Status.MAX_ITER


def _move(counted: CountedFunction, points: Floats, values: Floats) -> None:
    """Replace the worst point, or shrink the simplex toward the best; points are sorted."""
    m = points.shape[1]
    expand, contract, shrink = 1.0 + 2.0 / m, 0.75 - 0.5 / m, 1.0 - 1.0 / m
    if m == 1:
        expand, contract, shrink = 2.0, 0.5, 0.5
    middle = points[:-1].mean(axis=0)
    away = middle - points[-1]
    mirrored = counted.value(middle + away)
    if mirrored > values[0]:
        further = counted.value(middle + expand * away)
        t, value = (expand, further) if further > mirrored else (1.0, mirrored)
    elif mirrored > values[-2]:
        t, value = 1.0, mirrored
    else:
        t = contract if mirrored > values[-1] else -contract
        value = counted.value(middle + t * away)
        if value <= max(mirrored, values[-1]):
            for k in range(1, m + 1):
                points[k] = points[0] + shrink * (points[k] - points[0])
                values[k] = counted.value(points[k])
            return
    points[-1] = middle + t * away
    values[-1] = value
