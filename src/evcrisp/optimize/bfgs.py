"""Quasi-Newton steps with a dense matrix, for a handful of parameters."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.core.status import Status
from evcrisp.core.types import Floats
from evcrisp.optimize.counted_function import CountedFunction, as_start
from evcrisp.optimize.line_search import line_search
from evcrisp.optimize.protocol import Function, SolverResult


@dataclass(frozen=True, slots=True, eq=False)
class Ascent:
    """Where a climb ended, and the curvature that it learned."""

    theta: Floats
    value: float
    gradient: Floats
    inverse_hessian: Floats  # (m, m) of minus the function; positive definite
    n_eval: int
    status: Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Bfgs:
    """BFGS with a line search that checks both gain and slope.

    Parameters
    ----------
    max_iter : int
        Most steps.
    tol : float
        Stop when the next step promises less gain than this, relative to the value (at least 1).
    tol_step : float
        Stop when the next step is shorter than this.
    max_step : float
        Longest step. The very first one is at most 1 long, unless the curvature is known.

    References
    ----------
    J. Nocedal, S. Wright, "Numerical Optimization", Springer 2006, chapters 3 and 6.
    """

    name: ClassVar[str] = "bfgs"
    needs_gradient: ClassVar[bool] = True

    max_iter: int = 100
    tol: float = 1e-12
    tol_step: float = 1e-6
    max_step: float = 8.0

    def __post_init__(self) -> None:
        for name in ("tol", "tol_step"):
            if not getattr(self, name) >= 0.0:
                raise ConfigError(f"`{name}` must be 0 or more; got {getattr(self, name)}.")
        if self.max_iter < 1:
            raise ConfigError(f"`max_iter` must be 1 or more; got {self.max_iter}.")
        if not self.max_step > 0.0:
            raise ConfigError(f"`max_step` must be positive; got {self.max_step}.")

    def maximize(self, fun: Function, theta0: Floats) -> SolverResult:
        """Search from ``theta0``, in units in which a step of 1 is of moderate size."""
        end = self.ascend(fun, theta0)
        return SolverResult(end.theta, end.value, end.n_eval, end.status)

    def ascend(
        self,
        fun: Function,
        theta0: Floats,
        inverse_hessian: Floats | Callable[[], Floats] | None = None,
    ) -> Ascent:
        """Do the same from a known curvature, and return the new one.

        Parameters
        ----------
        fun : Function
            What to maximize.
        theta0 : ndarray, shape (m,)
            Where to start.
        inverse_hessian : ndarray, shape (m, m), or callable, optional
            Inverse of minus the matrix of second derivatives, positive definite, or what returns
            it after the function was called with ``theta0``. A good guess saves most of the steps.
        """
        counted = CountedFunction(fun)
        theta = as_start(theta0)
        value, gradient = counted.value_and_gradient(theta)
        known = inverse_hessian is not None
        if value == -math.inf:
            return Ascent(theta, value, gradient, np.eye(theta.size), 1, Status.NOT_FINITE)
        matrix = _known_at(theta, inverse_hessian)
        if not gradient.any() and counted.is_flat(theta, value):
            return Ascent(theta, value, gradient, matrix, counted.n_eval, Status.FLAT)
        status = Status.MAX_ITER
        for _ in range(self.max_iter):
            step, slope, length = self._step(matrix, gradient, known)
            if length <= self.tol_step or slope <= self.tol * max(1.0, abs(value)):
                status = Status.CONVERGED
                break
            found = line_search(counted, theta, value, slope, step, self.max_step / length)
            if found is None:
                status = Status.CONVERGED  # uphill gains nothing any more: rounding is reached
                break
            moved = found.t * step
            matrix = _updated(matrix, moved, gradient - found.gradient, known)
            known = True
            theta, value, gradient = theta + moved, found.value, found.gradient
        return Ascent(theta, value, gradient, matrix, counted.n_eval, status)

    def _step(self, matrix: Floats, gradient: Floats, known: bool) -> tuple[Floats, float, float]:
        """Return the next step, how steep it is, and its length."""
        step = matrix @ gradient
        length = math.sqrt(float(step @ step))
        longest = self.max_step if known else min(self.max_step, 1.0)
        if length > longest:
            step, length = step * (longest / length), longest
        return step, float(gradient @ step), length


def _known_at(theta: Floats, inverse_hessian: Floats | Callable[[], Floats] | None) -> Floats:
    """Return the matrix that a climb starts with."""
    if inverse_hessian is None:
        return np.eye(theta.size)
    return inverse_hessian if isinstance(inverse_hessian, np.ndarray) else inverse_hessian()


def _updated(matrix: Floats, step: Floats, bend: Floats, known: bool) -> Floats:
    """Return the BFGS update of an inverse matrix of second derivatives.

    It stays positive definite, since a step along which the function does not bend is left out.
    """
    curvature = float(step @ bend)
    if curvature <= 1e-12 * math.sqrt(float(step @ step) * float(bend @ bend)):
        return matrix
    if not known:
        matrix = np.eye(step.size) * (curvature / float(bend @ bend))
    carried = matrix @ bend
    factor = (1.0 + float(bend @ carried) / curvature) / curvature
    column = step[:, None]
    cross = carried * (column / curvature)
    return matrix + (factor * column) * step - cross - cross.T
