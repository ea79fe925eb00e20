"""Adam: gradient ascent with adaptive step sizes."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evcrisp.core.status import Status
from evcrisp.core.types import Floats
from evcrisp.optimize.protocol import CountedFunction, Function, SolverResult, check_parameters

_MEAN_DECAY = 0.9  # of the running mean of the gradient
_SQUARE_DECAY = 0.999  # of the running mean of its square
_EPSILON = 1e-8  # added to the root mean square, against division by 0


@dataclass(slots=True, eq=False)
class AdamState:
    """Running means of the gradient and its square."""

    mean: Floats
    square: Floats
    n_steps: int = 0

    @classmethod
    def zeros(cls, shape: int | tuple[int, ...]) -> "AdamState":
        """Return the state before the first step."""
        return cls(np.zeros(shape), np.zeros(shape))

    def step(self, gradient: Floats, rate: float) -> Floats:
        """Update the means with a gradient; return the step of ascent."""
        self.n_steps += 1
        self.mean = _MEAN_DECAY * self.mean + (1.0 - _MEAN_DECAY) * gradient
        self.square = _SQUARE_DECAY * self.square + (1.0 - _SQUARE_DECAY) * gradient * gradient
        mean = self.mean / (1.0 - _MEAN_DECAY**self.n_steps)
        square = self.square / (1.0 - _SQUARE_DECAY**self.n_steps)
        return rate * mean / (np.sqrt(square) + _EPSILON)


@dataclass(frozen=True, slots=True, kw_only=True)
class Adam:
    """Adam; returns the best point of all steps.

    Parameters
    ----------
    rate : float
        Step length along each axis while the gradient keeps its sign.
    max_iter : int
        Number of steps.
    decay : bool
        Reduce the rate to zero by a cosine. Without it, the last steps oscillate.
    tol : float
        Converged if the last tenth of the steps gained less, relative to the value (at least 1).

    References
    ----------
    D. Kingma, J. Ba, "Adam: a method for stochastic optimization", ICLR 2015.
    """

    name: ClassVar[str] = "adam"
    needs_gradient: ClassVar[bool] = True

    rate: float = 0.1
    max_iter: int = 1000
    decay: bool = True
    tol: float = 1e-6

    def __post_init__(self) -> None:
        check_parameters(self, ("rate",), max_iter=1)

    def maximize(self, fun: Function, theta0: Floats) -> SolverResult:
        """Maximize from ``theta0``, in units in which a step of 1 is moderate."""
        counted = CountedFunction(fun)
        theta = best = CountedFunction.start(theta0)
        value, gradient = counted.value_and_gradient(theta)
        if value == -math.inf:
            return counted.result(theta, value, Status.NOT_FINITE)
        if not gradient.any() and counted.is_flat(theta, value):
            return counted.result(theta, value, Status.FLAT)
        state, best_value, earlier_value = AdamState.zeros(theta.size), value, value
        for i in range(self.max_iter):
            if i == (9 * self.max_iter) // 10:
                earlier_value = best_value
            share = 0.5 * (1.0 + math.cos(math.pi * i / self.max_iter)) if self.decay else 1.0
            theta = theta + state.step(gradient, self.rate * share)
            value, gradient = counted.value_and_gradient(theta)
            if value > best_value:
                best, best_value = theta, value
            elif value == -math.inf:
                theta = best  # continue from a finite point
        converged = best_value - earlier_value <= self.tol * max(1.0, abs(best_value))
        return counted.result(best, best_value, Status.CONVERGED if converged else Status.MAX_ITER)
