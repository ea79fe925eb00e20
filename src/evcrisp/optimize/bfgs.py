"""BFGS: quasi-Newton ascent with a dense matrix and a line search, for a few parameters."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from evcrisp.core.status import Status
from evcrisp.core.types import Floats
from evcrisp.optimize.protocol import CountedFunction, Function, SolverResult, check_parameters

_MIN_GAIN = 1e-4  # least gain of a step, per predicted gain (Armijo condition)
_MAX_SLOPE = 0.9  # largest slope after a step, per slope before it (curvature condition)
_MAX_TRIALS = 20


@dataclass(frozen=True, slots=True, eq=False)
class Ascent:
    """Result of an ascent with the estimated curvature."""

    theta: Floats
    value: float
    gradient: Floats
    inverse_hessian: Floats  # (m, m) of minus the function; positive definite
    n_eval: int
    status: Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Bfgs:
    """BFGS with a line search for the Wolfe conditions.

    Parameters
    ----------
    max_iter : int
        Maximum number of steps.
    tol : float
        Stop if the predicted gain of the next step is less, relative to the value (at least 1).
    tol_step : float
        Stop if the next step is shorter.
    max_step : float
        Maximum step length. The first step is at most 1, unless the curvature is known.

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
        check_parameters(self, ("max_step",), ("tol", "tol_step"), max_iter=1)

    def maximize(self, fun: Function, theta0: Floats) -> SolverResult:
        """Maximize from ``theta0``, in units in which a step of 1 is moderate."""
        end = self.ascend(fun, theta0)
        return SolverResult(end.theta, end.value, end.n_eval, end.status)

    def ascend(
        self,
        fun: Function,
        theta0: Floats,
        inverse_hessian: Floats | Callable[[], Floats] | None = None,
    ) -> Ascent:
        """Maximize from a known curvature, and return the updated one.

        ``inverse_hessian``, shape (m, m), is the inverse of minus the second derivatives, positive
        definite; or a function that returns it, called after ``fun(theta0)``. It saves many steps.
        """
        counted, theta = CountedFunction(fun), CountedFunction.start(theta0)
        value, gradient = counted.value_and_gradient(theta)
        known = inverse_hessian is not None
        if value == -math.inf:
            return Ascent(theta, value, gradient, np.eye(theta.size), 1, Status.NOT_FINITE)
        if inverse_hessian is None:
            matrix = np.eye(theta.size)
        else:
            is_array = isinstance(inverse_hessian, np.ndarray)
            matrix = inverse_hessian if is_array else inverse_hessian()
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
                status = Status.CONVERGED  # no gain within rounding
                break
            moved = found.t * step
            matrix = _updated(matrix, moved, gradient - found.gradient, known)
            known = True
            theta, value, gradient = theta + moved, found.value, found.gradient
        return Ascent(theta, value, gradient, matrix, counted.n_eval, status)

    def _step(self, matrix: Floats, gradient: Floats, known: bool) -> tuple[Floats, float, float]:
        """Return the next step, the derivative along it, and its length."""
        step = matrix @ gradient
        length = math.sqrt(float(step @ step))
        longest = self.max_step if known else min(self.max_step, 1.0)
        if length > longest:
            step, length = step * (longest / length), longest
        return step, float(gradient @ step), length


def _updated(matrix: Floats, step: Floats, decrease: Floats, known: bool) -> Floats:
    """Return the BFGS update of an inverse Hessian; skip steps without positive curvature."""
    curvature = float(step @ decrease)
    if curvature <= 1e-12 * math.sqrt(float(step @ step) * float(decrease @ decrease)):
        return matrix
    if not known:
        matrix = np.eye(step.size) * (curvature / float(decrease @ decrease))
    carried = matrix @ decrease
    factor = (1.0 + float(decrease @ carried) / curvature) / curvature
    column = step[:, None]
    cross = carried * (column / curvature)
    return matrix + (factor * column) * step - cross - cross.T


class Found(NamedTuple):
    """Accepted step length, with value and gradient."""

    t: float
    value: float
    gradient: Floats


def line_search(
    fun: CountedFunction, theta: Floats, value: float, slope: float, step: Floats, t_max: float
) -> Found | None:
    """Return a step length that satisfies the Wolfe conditions, or the best gain.

    ``value`` and ``slope``, which is positive, are those at ``theta`` along ``step``. The first
    trial is t = 1, the largest ``t_max`` (at least 1). None if no trial gains enough.
    """
    low, low_slope, high = 0.0, slope, math.inf
    best: Found | None = None
    t, t_max = 1.0, max(1.0, t_max)
    for _ in range(_MAX_TRIALS):
        new, gradient = fun.value_and_gradient(theta + t * step)
        new_slope = float(gradient @ step) if new > -math.inf else math.nan
        if new >= value + _MIN_GAIN * t * slope:
            if best is None or new >= best.value:
                best = Found(t, new, gradient)
            if abs(new_slope) <= _MAX_SLOPE * slope or (new_slope > 0.0 and t >= t_max):
                return best
            if new_slope > 0.0:
                low, low_slope = t, new_slope
            else:
                high = t
        else:
            high = t
        if high == math.inf:
            t = min(t_max, 2.0 * t)
        elif high - low > 1e-12 * high:
            t = _inside(low, high, low_slope, new_slope if high == t else math.nan)
        else:
            break
    return best


def _inside(low: float, high: float, slope_low: float, slope_high: float) -> float:
    """Return the zero of a linear slope, kept away from the ends of the bracket."""
    width = high - low
    if slope_high < slope_low:  # false for NaN
        share = slope_low / (slope_low - slope_high)
        return low + width * min(max(share, 0.1), 0.9)
    return low + 0.5 * width
