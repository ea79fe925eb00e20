"""A function that counts its calls and hides what is not a number."""

import math

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.core.status import Status
from evcrisp.core.types import Floats
from evcrisp.optimize.protocol import Function, SolverResult


class CountedFunction:
    """A function to be maximized: NaN and infinities count as minus infinity, everywhere."""

    def __init__(self, fun: Function) -> None:
        self._fun = fun
        self.n_eval = 0

    def value(self, theta: Floats) -> float:
        """Return the value alone."""
        self.n_eval += 1
        value = float(self._fun(theta)[0])
        return value if math.isfinite(value) else -math.inf

    def value_and_gradient(self, theta: Floats) -> tuple[float, Floats]:
        """Return value and gradient; minus infinity and zeros where one of them is not finite."""
        self.n_eval += 1
        value, gradient = self._fun(theta)
        if gradient is None:
            raise ConfigError(
                "This solver needs a gradient, and the objective has none. Use solver 'nelder-mead', "
                "'grid' or 'quasi-random'."
            )
        # The square of a gradient is found faster than whether all of its entries are finite.
        if not math.isfinite(value + float(gradient @ gradient)) and not (
            math.isfinite(value) and np.isfinite(gradient).all()
        ):
            return -math.inf, np.zeros(theta.size)
        return float(value), gradient

    def result(self, theta: Floats, value: float, status: Status) -> SolverResult:
        """Return the result of a search that ended here."""
        if value == -math.inf:
            status = Status.NOT_FINITE
        return SolverResult(theta, value, self.n_eval, status)

    def is_flat(self, theta: Floats, value: float) -> bool:
        """Tell whether steps along any axis change nothing; two, as one may lead across a hill."""
        steps = (length * axis for length in (1.0, -0.37) for axis in np.eye(theta.size))
        return all(self.value(theta + step) == value for step in steps)


def as_start(theta0: Floats) -> Floats:
    """Return a copy of a start as a vector of float64."""
    theta = np.array(theta0, np.float64)
    if theta.ndim != 1 or not theta.size:
        raise ConfigError(
            f"`theta0` must be a vector of 1 or more numbers; got shape {theta.shape}."
        )
    return theta
