"""Look everywhere within a box, then again around the best point."""

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.core.status import Status
from evcrisp.core.types import Floats
from evcrisp.optimize.counted_function import CountedFunction, as_start
from evcrisp.optimize.protocol import Function, SolverResult

_LAST_ROUNDS = 3  # enough for a direction that is not that of the grid


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A regular grid that shrinks around its best point, round by round.

    Parameters
    ----------
    half_width : float
        The first box reaches this far from the start along each axis.
    points : int
        Points along each axis; fewer (but three) where a round would have more than
        ``max_points`` in all.
    max_points : int
        See above.
    rounds : int
        Number of grids; each covers about two cells of the one before along each axis.
    tol_step, tol : float
        Converged if the last box reached no further than ``tol_step``, and going on along the way
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
        if not self.half_width > 0.0:
            raise ConfigError(f"`half_width` must be positive; got {self.half_width}.")
        if self.points < 3 or self.max_points < 3 or self.rounds < 1:
            raise ConfigError(
                "`points` and `max_points` must be 3 or more and `rounds` 1 or more; got "
                f"{self.points}, {self.max_points}, {self.rounds}."
            )
        check_tolerances(self.tol_step, self.tol)

    def maximize(self, fun: Function, theta0: Floats) -> SolverResult:
        """Search around ``theta0``, in units in which a step of 1 is of moderate size."""
        start = as_start(theta0)
        points = self.points
        while points > 3 and points**start.size > self.max_points:
            points -= 2
        ticks = np.linspace(-1.0, 1.0, points)
        shrink = min(0.6, 2.0 / (points - 1))

        def offsets(_: int) -> Iterator[Floats]:
            return (np.array(offset) for offset in itertools.product(ticks, repeat=start.size))

        boxes = shrinking_boxes(self.half_width, shrink, self.rounds)
        return search_boxes(fun, start, boxes, offsets, self.tol_step, self.tol)


def check_tolerances(tol_step: float, tol: float) -> None:
    """Raise unless both are possible."""
    for name, value in (("tol_step", tol_step), ("tol", tol)):
        if not value >= 0.0:
            raise ConfigError(f"`{name}` must be 0 or more; got {value}.")


def shrinking_boxes(half_width: float, shrink: float, rounds: int) -> list[float]:
    """Return the sizes of boxes.

    Examples
    --------
    >>> shrinking_boxes(8.0, 0.5, 3)
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
    """Evaluate points around the best one so far, within a box that shrinks round by round.

    Parameters
    ----------
    fun, start
        As for solvers.
    half_widths : sequence of float
        Size of the box of each round.
    offsets : callable
        Round -> points within -1..1 along each axis.
    tol_step, tol : float
        As for `Grid`.
    """
    counted = CountedFunction(fun)
    best, top = start, counted.value(start)
    lowest, centers = top, []
    for round_, half_width in enumerate(half_widths):
        centers.append(best)
        for offset in offsets(round_):
            theta = centers[-1] + half_width * offset
            value = counted.value(theta)
            lowest = min(lowest, value)
            if value > top:
                best, top = theta, value
        if top == -math.inf:
            return counted.result(start, top, Status.NOT_FINITE)
        if lowest == top:
            return counted.result(start, top, Status.FLAT)
    # A slope that is longer than all boxes together looks as if the moves became ever smaller.
    way = best - centers[-_LAST_ROUNDS:][0]
    ends = not way.any() or counted.value(best + way) - top <= tol * max(1.0, abs(top))
    is_fine = half_widths[-1] <= tol_step
    return counted.result(best, top, Status.CONVERGED if is_fine and ends else Status.MAX_ITER)
