"""Nelder-Mead simplex search; needs no gradient."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evcrisp.core.status import Status
from evcrisp.core.types import Floats
from evcrisp.optimize.protocol import CountedFunction, Function, SolverResult, check_parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class NelderMead:
    """Nelder-Mead simplex search with coefficients adapted to the number of parameters.

    Parameters
    ----------
    step : float
        Size of the first simplex.
    max_iter : int
        Maximum number of moves of the simplex.
    tol_step, tol : float
        Stop if the simplex is smaller than ``tol_step`` and its values differ by less than
        ``tol``, relative to the value (at least 1).
    restarts : int
        Number of restarts with a new simplex; a degenerate one can stop at a point with a slope.

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
        check_parameters(self, ("step", "tol_step"), max_iter=1, restarts=0)

    def maximize(self, fun: Function, theta0: Floats) -> SolverResult:
        """Maximize from ``theta0``, in units in which a step of 1 is moderate."""
        counted, theta = CountedFunction(fun), CountedFunction.start(theta0)
        value = counted.value(theta)
        if value == -math.inf:
            return counted.result(theta, value, Status.NOT_FINITE)
        if counted.is_flat(theta, value):
            return counted.result(theta, value, Status.FLAT)
        status = Status.MAX_ITER
        for _ in range(1 + self.restarts):
            theta, value, status = self._run_simplex(counted, theta, value)
        return counted.result(theta, value, status)

    def _run_simplex(
        self, counted: CountedFunction, theta: Floats, value: float
    ) -> tuple[Floats, float, Status]:
        m = theta.size
        points = np.vstack((theta, theta + self.step * np.eye(m)))
        values = np.array([value, *(counted.value(point) for point in points[1:])])
        for _ in range(self.max_iter):
            order = np.argsort(-values, kind="stable")
            points, values = points[order], values[order]
            size = float(np.abs(points[1:] - points[0]).max())
            tol = self.tol * max(1.0, abs(values[0]))
            if size <= self.tol_step and values[0] - values[-1] <= tol:
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
    reflected = counted.value(middle + away)
    if reflected > values[0]:
        further = counted.value(middle + expand * away)
        t, value = (expand, further) if further > reflected else (1.0, reflected)
    elif reflected > values[-2]:
        t, value = 1.0, reflected
    else:
        t = contract if reflected > values[-1] else -contract
        value = counted.value(middle + t * away)
        if value <= max(reflected, values[-1]):
            for k in range(1, m + 1):
                points[k] = points[0] + shrink * (points[k] - points[0])
                values[k] = counted.value(points[k])
            return
    points[-1] = middle + t * away
    values[-1] = value
