"""Protocol of solvers, which maximize a function of a parameter vector, and their shared parts."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.core.status import Status
from evcrisp.core.types import Floats
from evcrisp.core.validation import check_number

#: theta -> (value, gradient); the gradient is None for functions without one.
Function = Callable[[Floats], tuple[float, Floats | None]]


@dataclass(frozen=True, slots=True, eq=False)
class SolverResult:
    """Result of a solver."""

    theta: Floats  # (m,)
    value: float
    n_eval: int
    status: Status
    #: (m, m) inverse of minus the second derivatives in the units of the solver, if known
    inverse_hessian: Floats | None = None


class Solver(Protocol):
    """A maximizer; a frozen dataclass."""

    name: ClassVar[str]
    needs_gradient: ClassVar[bool]

    def maximize(self, fun: Function, theta0: Floats) -> SolverResult:
        """Maximize from ``theta0``, in units in which a step of 1 is moderate."""
        ...


def check_parameters(
    solver: object, positive: tuple[str, ...], nonnegative: tuple[str, ...] = (), **minimums: int
) -> None:
    """Raise unless fields are in range; infinity is valid, except for integers (``minimums``)."""
    for name in positive + nonnegative:
        value = getattr(solver, name)
        if value != math.inf:
            check_number(name, value, 0, open_low=name in positive)
    for name, least in minimums.items():
        check_number(name, getattr(solver, name), least, whole=True)


class CountedFunction:
    """Function to maximize; NaN and infinities become minus infinity."""

    def __init__(self, fun: Function) -> None:
        self._fun = fun
        self.n_eval = 0

    @staticmethod
    def start(theta0: Floats) -> Floats:
        """Return a copy of a start as a vector of float64."""
        theta = np.array(theta0, np.float64)
        if theta.ndim != 1 or not theta.size:
            problem = f"must be a vector of 1 or more numbers; got shape {theta.shape}"
            raise ConfigError(problem, parameter="theta0")
        return theta

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
