"""Grid search within a box that shrinks around the best point."""

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evcrisp.core.status import Status
from evcrisp.core.types import Floats
from evcrisp.optimize.counted_function import CountedFunction, as_start
from evcrisp.optimize.protocol import Function, SolverResult, check_parameters

_LAST_ROUNDS = 3  # rounds that define the last direction; more than one, as it may be oblique


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A regular grid that shrinks around its best point, round by round.

    Parameters
    ----------
    half_width : float
        Half the width of the first box along each axis.
    points : int
        Points along each axis; reduced, to at least 3, if a round exceeds ``max_points``.
    max_points : int
        Maximum number of points per round.
    rounds : int
        Number of grids; each covers about two cells of the previous one along each axis.
    tol_step, tol : float
        Converged if the last half width is at most ``tol_step``, and continuing in the direction
        of the last rounds gains at most ``tol``, relative to the value (at least 1).
    """

    name: ClassVar[str] = "grid"
    needs_gradient: ClassVar[bool] = False

    half_width: float = 8.0
    points: int = 9
    max_points: int = 1000
    rounds: int = 10
    tol_step: float = 0.1
    tol: float = 1e-6

    def __post_init__(self) -> None:
        check_parameters(
            self,
            positive=("half_width",),
            nonnegative=("tol_step", "tol"),
            counts=(("points", 3), ("max_points", 3), ("rounds", 1)),
        )

    def maximize(self, fun: Function, theta0: Floats) -> SolverResult:
        """Maximize around ``theta0``, in units in which a step of 1 is moderate."""
        start = as_start(theta0)
        points = self.points
        while points > 3 and points**start.size > self.max_points:
            points -= 2
        ticks = np.linspace(-1.0, 1.0, points)
        shrink = min(0.6, 2.0 / (points - 1))

        def offsets(_: int) -> Iterator[Floats]:
            return (np.array(offset) for offset in itertools.product(ticks, repeat=start.size))

        half_widths = shrinking(self.half_width, shrink, self.rounds)
        return search_boxes(fun, start, half_widths, offsets, self.tol_step, self.tol)


def shrinking(half_width: float, shrink: float, rounds: int) -> list[float]:
    """Return the half widths of the boxes.

    Examples
    --------
    >>> shrinking(8.0, 0.5, 3)
    [8.0, 4.0, 2.0]
    """
    return list(itertools.accumulate([half_width, *[shrink] * (rounds - 1)], operator.mul))


def search_boxes(
    fun: Function,
    start: Floats,
    half_widths: Sequence[float],
    offsets: Callable[[int], Iterable[Floats]],
    tol_step: float,
    tol: float,
) -> SolverResult:
    """Evaluate points in a box around the best point, with a smaller box in each round.

    Parameters
    ----------
    fun, start
        As for solvers.
    half_widths : sequence of float
        Half width of the box of each round.
    offsets : callable
        Round -> points in -1..1 along each axis.
    tol_step, tol : float
        As for `Grid`.
    """
    counted = CountedFunction(fun)
    best, best_value = start, counted.value(start)
    lowest, centers = best_value, []
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
    is_maximum = not step.any() or counted.value(best + step) - best_value <= tol * max(
        1.0, abs(best_value)
    )
    is_fine = half_widths[-1] <= tol_step
    return counted.result(
        best, best_value, Status.CONVERGED if is_fine and is_maximum else Status.MAX_ITER
    )
