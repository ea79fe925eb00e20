"""Quasi-Newton steps with a dense matrix, for up to a few dozen parameters."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.errors import ConfigError
from evcrisp.solvers._protocol import Function, SolverResult, Status

Floats = NDArray[np.float64]

_ENOUGH = 1e-4  # share of the promised gain that a step must bring (Armijo)
_TOO_STEEP = 0.9  # share of the slope that may be left after a step (Wolfe)
_MAX_TRIALS = 12


@dataclass(frozen=True, slots=True, eq=False)
class Climb:
    """Where a climb ended, and the curvature that it learned."""

    theta: Floats
    value: float
    gradient: Floats
    inverse_hessian: Floats  # (m, m) of minus the function
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
        Longest step; also the length of the first one unless the slope says less.

    References
    ----------
    .. [1] J. Nocedal, S. Wright, "Numerical Optimization", Springer 2006, chapters 3 and 6.
    """

    name: ClassVar[str] = "bfgs"
    needs_gradient: ClassVar[bool] = True

    max_iter: int = 100
    tol: float = 1e-10
    tol_step: float = 1e-5
    max_step: float = 8.0

    def __post_init__(self) -> None:
        for name in ("tol", "tol_step"):
            if not getattr(self, name) >= 0.0:
                raise ConfigError(f"`{name}` must be 0 or more; got {getattr(self, name)}.")
        if self.max_iter < 1 or not self.max_step > 0.0:
            raise ConfigError("`max_iter` must be 1 or more and `max_step` positive.")

    def maximize(self, fun: Function, theta0: Floats) -> SolverResult:
        """Search from ``theta0``, in units in which a step of 1 is of moderate size."""
        end = self.climb(fun, theta0)
        return SolverResult(end.theta, end.value, end.n_eval, end.status)

    def climb(
        self, fun: Function, theta0: Floats, inverse_hessian: Floats | None = None
    ) -> Climb:
        """Do the same from a known curvature, and return the new one.

        Parameters
        ----------
        fun : Function
            What to maximize.
        theta0 : ndarray, shape (m,)
            Where to start.
        inverse_hessian : ndarray, shape (m, m), optional
            Inverse of minus the matrix of second derivatives, positive definite; a previous
            climb's on a similar function saves most of the steps.
        """
        theta = np.array(theta0, np.float64)
        value, gradient = _evaluated(fun, theta)
        n_eval = 1
        known = inverse_hessian is not None
        matrix = np.array(inverse_hessian) if known else np.eye(theta.size)
        status = Status.MAX_ITER
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            return Climb(theta, value, gradient, matrix, n_eval, Status.NOT_FINITE)
        for _ in range(self.max_iter):
            step = matrix @ gradient
            slope = float(gradient @ step)
            if slope < 0.0:
                matrix, known = np.eye(theta.size), False
                step, slope = gradient.copy(), float(gradient @ gradient)
            length = float(np.sqrt(step @ step))
            limit = self.max_step if known or length == 0.0 else min(self.max_step, 1.0)
            if length > limit:
                step, slope, length = step * (limit / length), slope * (limit / length), limit
            if length <= self.tol_step or slope <= self.tol * max(1.0, abs(value)):
                status = Status.CONVERGED
                break
            found = _line_search(fun, theta, value, slope, step, self.max_step / length)
            n_eval += found.n_eval
            if found.gradient is None:
                status = Status.CONVERGED  # no step along a rising slope gains: rounding is reached
                break
            moved = found.t * step
            matrix = _updated(matrix, moved, gradient - found.gradient, known)
            known = True
            theta, value, gradient = theta + moved, found.value, found.gradient
        if not gradient.any() and n_eval == 1:
            status, more = _flat_or_top(fun, theta, value)
            n_eval += more
        return Climb(theta, value, gradient, matrix, n_eval, status)


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    t: float
    value: float
    gradient: Floats | None  # None: nothing better was found
    n_eval: int


def _line_search(
    fun: Function, theta: Floats, value: float, slope: float, step: Floats, t_max: float
) -> _Found:
    """Find t such that ``theta + t step`` gains enough and is no longer steep."""
    low, high = 0.0, np.inf
    best = _Found(0.0, value, None, 0)
    t, t_max = 1.0, max(1.0, t_max)
    slope_low = slope
    for trial in range(1, _MAX_TRIALS + 1):
        new, gradient = _evaluated(fun, theta + t * step)
        new_slope = float(gradient @ step)
        usable = np.isfinite(new) and np.isfinite(new_slope)
        if not usable or new < value + _ENOUGH * t * slope:
            high = t
            t = _between(low, high, slope_low, new_slope if usable else np.nan)
        else:
            if new >= best.value or best.gradient is None:
                best = _Found(t, new, gradient, trial)
            if abs(new_slope) <= _TOO_STEEP * slope or t >= t_max:
                break
            if new_slope > 0.0:
                low, slope_low = t, new_slope
                t = min(t_max, 2.0 * t) if np.isinf(high) else _between(low, high, slope_low, np.nan)
            else:
                high = t
                t = _between(low, high, slope_low, new_slope)
        if high - low < 1e-10 * max(1.0, low):
            break
    return _Found(best.t, best.value, best.gradient, trial)


def _between(low: float, high: float, slope_low: float, slope_high: float) -> float:
    """Return where the slope would be zero on a straight line, well inside the bracket."""
    width = high - low
    if np.isfinite(slope_high) and slope_high < slope_low:
        t = low + width * slope_low / (slope_low - slope_high)
        return float(np.clip(t, low + 0.1 * width, high - 0.1 * width))
    return low + 0.5 * width


def _updated(matrix: Floats, step: Floats, bend: Floats, known: bool) -> Floats:
    """Return the BFGS update of an inverse matrix of second derivatives."""
    curvature = float(step @ bend)
    if curvature <= 1e-12 * float(np.sqrt((step @ step) * (bend @ bend))):
        return matrix
    if not known:
        matrix = np.eye(step.size) * (curvature / float(bend @ bend))
    carried = matrix @ bend
    factor = (1.0 + float(bend @ carried) / curvature) / curvature
    cross = np.outer(carried, step) / curvature
    return matrix + factor * np.outer(step, step) - cross - cross.T


def _evaluated(fun: Function, theta: Floats) -> tuple[float, Floats]:
    value, gradient = fun(theta)
    if gradient is None:
        raise ConfigError(
            "This solver needs a gradient, and the objective has none. Use 'nelder-mead', 'grid' or "
            "'quasi-random'."
        )
    return value, gradient


def _flat_or_top(fun: Function, theta: Floats, value: float) -> tuple[Status, int]:
    """Tell a function that does not change from one whose top is here."""
    for step in np.eye(theta.size):
        if fun(theta + step)[0] != value:
            return Status.CONVERGED, theta.size
    return Status.FLAT, theta.size
