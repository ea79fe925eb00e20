"""Wrapper of functions that counts calls and replaces values that are not finite."""

import math

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.core.status import Status
from evcrisp.core.types import Floats
from evcrisp.optimize.protocol import Function, SolverResult


class CountedFunction:
    """Function to maximize; NaN and infinities become minus infinity."""

    def __init__(self, fun: Function) -> None:
        self._fun = fun
        self.n_eval = 0

    def value(self, theta: Floats) -> float:
        """Return the value."""
        self.n_eval += 1
        value = float(self._fun(theta)[0])
        return value if math.isfinite(value) else -math.inf

    def value_and_gradient(self, theta: Floats) -> tuple[float, Floats]:
        """Return value and gradient; minus infinity and zeros where one of them is not finite."""
        self.n_eval += 1
        value, gradient = self._fun(theta)
        if gradient is None:
            raise ConfigError(
                "This solver needs a gradient, and the objective has none.",
                remedy="Use solver 'nelder-mead', 'grid' or 'quasi-random'.",
            )
        # The squared norm is faster than a check of all entries; it can overflow, hence both.
        if not math.isfinite(value + float(gradient @ gradient)) and not (
            math.isfinite(value) and np.isfinite(gradient).all()
        ):
            return -math.inf, np.zeros(theta.size)
        return float(value), gradient

    def result(self, theta: Floats, value: float, status: Status) -> SolverResult:
        """Return the result at ``theta``; a value of minus infinity has status `NOT_FINITE`."""
        if value == -math.inf:
            status = Status.NOT_FINITE
        return SolverResult(theta, value, self.n_eval, status)

    def is_flat(self, theta: Floats, value: float) -> bool:
        """Return whether steps of two lengths along each axis change nothing."""
        steps = (length * axis for length in (1.0, -0.37) for axis in np.eye(theta.size))
        return all(self.value(theta + step) == value for step in steps)


def as_start(theta0: Floats) -> Floats:
    """Return a copy of a start as a vector of float64."""
    theta = np.array(theta0, np.float64)
    if theta.ndim != 1 or not theta.size:
        problem = f"must be a vector of 1 or more numbers; got shape {theta.shape}"
        raise ConfigError(problem, parameter="theta0")
    return theta
