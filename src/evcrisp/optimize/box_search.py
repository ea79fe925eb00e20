"""Grid and quasi-random search in a box that shrinks around the best point."""

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.core.status import Status
from evcrisp.core.types import Floats
from evcrisp.core.validation import check_number
from evcrisp.optimize.protocol import CountedFunction, Function, SolverResult, check_parameters

_LAST_ROUNDS = 3  # rounds that define the last direction; more than one, as it may be oblique
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)


@dataclass(frozen=True, slots=True, kw_only=True)
class _BoxSearch:
    needs_gradient: ClassVar[bool] = False

    half_width: float = 8.0
    rounds: int = 10
    tol_step: float = 0.1
    tol: float = 1e-6

    def _search(
        self,
        fun: Function,
        start: Floats,
        shrink: float,
        offsets: Callable[[int], Iterable[Floats]],
    ) -> SolverResult:
        """Evaluate points around the best one; ``offsets`` gives those of a round in -1..1."""
        counted = CountedFunction(fun)
        best, best_value = start, counted.value(start)
        lowest, centers = best_value, []
        factors = [self.half_width, *[shrink] * (self.rounds - 1)]
        half_widths = list(itertools.accumulate(factors, operator.mul))
        for round_, half_width in enumerate(half_widths):
            centers.append(best)
            for offset in offsets(round_):
                theta = centers[-1] + half_width * offset
                value = counted.value(theta)
                lowest = min(lowest, value)
                if value > best_value:
                    best, best_value = theta, value
            if best_value == -math.inf:
                return counted.result(start, best_value, Status.NOT_FINITE)
            if lowest == best_value:
                return counted.result(start, best_value, Status.FLAT)
        # A maximum beyond all boxes looks like convergence, as the boxes shrink.
        step = best - centers[-_LAST_ROUNDS:][0]
        gain = counted.value(best + step) - best_value if step.any() else 0.0
        is_small = half_widths[-1] <= self.tol_step
        is_converged = is_small and gain <= self.tol * max(1.0, abs(best_value))
        status = Status.CONVERGED if is_converged else Status.MAX_ITER
        return counted.result(best, best_value, status)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid(_BoxSearch):
    """A regular grid that shrinks around its best point, round by round.

    Parameters
    ----------
    half_width : float
        Half the width of the first box along each axis.
    points, max_points : int
        Points along each axis, reduced to 3 or more if a round has more than ``max_points``.
    rounds : int
        Number of grids; each covers about two cells of the previous one along each axis.
    tol_step, tol : float
        Converged if the last half width is at most ``tol_step``, and continuing in the direction
        of the last rounds gains at most ``tol``, relative to the value (at least 1).
    """

    name: ClassVar[str] = "grid"

    points: int = 9
    max_points: int = 1000

    def __post_init__(self) -> None:
        tols = ("tol_step", "tol")
        check_parameters(self, ("half_width",), tols, points=3, max_points=3, rounds=1)

    def maximize(self, fun: Function, theta0: Floats) -> SolverResult:
        """Maximize around ``theta0``, in units in which a step of 1 is moderate."""
        start = CountedFunction.start(theta0)
        points = self.points
        while points > 3 and points**start.size > self.max_points:
            points -= 2
        ticks = np.linspace(-1.0, 1.0, points)

        def offsets(_: int) -> Iterator[Floats]:
            return (np.array(offset) for offset in itertools.product(ticks, repeat=start.size))

        return self._search(fun, start, min(0.6, 2.0 / (points - 1)), offsets)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuasiRandom(_BoxSearch):
    """Halton points in a box that shrinks around the best point, round by round.

    Parameters
    ----------
    half_width, tol_step, tol : float
        As for `Grid`.
    points, rounds : int
        Points per round; number of boxes.
    shrink : float
        Width of a box relative to the previous one, above 0, at most 1.
    seed : int
        Seed of the shift of the points (modulo the box) in each round.
    """

    name: ClassVar[str] = "quasi-random"

    points: int = 200
    rounds: int = 25
    shrink: float = 0.65
    seed: int = 0

    def __post_init__(self) -> None:
        tols = ("tol_step", "tol")
        check_parameters(self, ("half_width",), tols, points=1, rounds=1, seed=0)
        check_number("shrink", self.shrink, 0, 1, open_low=True)

    def maximize(self, fun: Function, theta0: Floats) -> SolverResult:
        """Maximize around ``theta0``, in units in which a step of 1 is moderate."""
        start = CountedFunction.start(theta0)
        unit = halton(self.points, start.size)

        def offsets(round_: int) -> Iterator[Floats]:
            shift = np.random.default_rng((self.seed, round_)).random(start.size)
            return iter(2.0 * ((unit + shift) % 1.0) - 1.0)

        return self._search(fun, start, self.shrink, offsets)


def halton(n: int, dimensions: int) -> Floats:
    """Return the first ``n`` points of the Halton sequence after the origin, shape (n, dimensions).

    >>> halton(3, 2).round(3).tolist()
    [[0.5, 0.333], [0.25, 0.667], [0.75, 0.111]]
    """
    if dimensions > len(_PRIMES):
        problem = f"must be up to {len(_PRIMES)} for Halton points"
        remedy = "Use solver 'bfgs' or 'nelder-mead'."
        raise ConfigError(problem, parameter="dimensions", value=dimensions, remedy=remedy)
    columns = []
    for base in _PRIMES[:dimensions]:
        index = np.arange(1, n + 1)
        column, digit_value = np.zeros(n), 1.0
        while index.any():
            digit_value /= base
            column += digit_value * (index % base)
            index = index // base
        columns.append(column)
    return np.stack(columns, axis=1) if columns else np.zeros((n, 0))
