"""Gradient steps of adaptive size."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.core.status import Status
from evcrisp.core.types import Floats
from evcrisp.optimize.counted_function import CountedFunction, as_start
from evcrisp.optimize.protocol import Function, SolverResult

_SLOW = 0.9  # memory of the mean gradient
_SLOWER = 0.999  # memory of its mean square
_TINY = 1e-8


@dataclass(slots=True, eq=False)
class AdamState:
    """Running means of a gradient, for those who do the steps themselves."""

    mean: Floats
    square: Floats
    n_steps: int = 0

    @classmethod
    def zeros(cls, shape: int | tuple[int, ...]) -> "AdamState":
        """Return the state before the first step."""
        return cls(np.zeros(shape), np.zeros(shape))

    def step(self, gradient: Floats, rate: float) -> Floats:
        """Take a gradient in, and return the step uphill."""
        self.n_steps += 1
        self.mean = _SLOW * self.mean + (1.0 - _SLOW) * gradient
        self.square = _SLOWER * self.square + (1.0 - _SLOWER) * gradient * gradient
        mean = self.mean / (1.0 - _SLOW**self.n_steps)
        square = self.square / (1.0 - _SLOWER**self.n_steps)
        return rate * mean / (np.sqrt(square) + _TINY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Adam:
    """Adam; the best point on the way is the result.

    Parameters
    ----------
    rate : float
        Length of a step along each axis, while the gradient keeps its sign.
    max_iter : int
        Number of steps.
    decay : bool
        Let the rate fall to zero like a cosine. Without it the end dances around the top.
    tol : float
        The search counts as converged if its last tenth gained less, relative to the value (at
        least 1).

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
        if not self.rate > 0.0:
            raise ConfigError(f"`rate` must be positive; got {self.rate}.")
        if self.max_iter < 1:
            raise ConfigError(f"`max_iter` must be 1 or more; got {self.max_iter}.")

    def maximize(self, fun: Function, theta0: Floats) -> SolverResult:
        """Search from ``theta0``, in units in which a step of 1 is of moderate size."""
        counted = CountedFunction(fun)
        theta = best = as_start(theta0)
        value, gradient = counted.value_and_gradient(theta)
        if value == -math.inf:
            return counted.result(theta, value, Status.NOT_FINITE)
        if not gradient.any() and counted.is_flat(theta, value):
            return counted.result(theta, value, Status.FLAT)
        state, top, early_top = AdamState.zeros(theta.size), value, value
        for i in range(self.max_iter):
            if i == (9 * self.max_iter) // 10:
                early_top = top
            share = 0.5 * (1.0 + math.cos(math.pi * i / self.max_iter)) if self.decay else 1.0
            theta = theta + state.step(gradient, self.rate * share)
            value, gradient = counted.value_and_gradient(theta)
            if value > top:
                best, top = theta, value
            elif value == -math.inf:
                theta = best  # the next step goes on by its momentum from solid ground
        settled = top - early_top <= self.tol * max(1.0, abs(top))
        return counted.result(best, top, Status.CONVERGED if settled else Status.MAX_ITER)
