"""Look everywhere within a box, then again around the best point."""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.errors import ConfigError
from evcrisp.solvers._counted import Counted, as_start
from evcrisp.solvers._protocol import Function, SolverResult, Status

Floats = NDArray[np.float64]


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
    """

    name: ClassVar[str] = "grid"
    needs_gradient: ClassVar[bool] = False

    half_width: float = 8.0
    points: int = 9
    max_points: int = 1000
    rounds: int = 10

    def __post_init__(self) -> None:
        if not self.half_width > 0.0:
            raise ConfigError(f"`half_width` must be positive; got {self.half_width}.")
        if self.points < 3 or self.max_points < 3 or self.rounds < 1:
            raise ConfigError(
                "`points` and `max_points` must be 3 or more and `rounds` 1 or more; got "
                f"{self.points}, {self.max_points}, {self.rounds}."
            )

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

        return look_around(fun, start, self.half_width, [shrink] * self.rounds, offsets)


def look_around(
    fun: Function,
    start: Floats,
    half_width: float,
    shrinks: Sequence[float],
    offsets: Callable[[int], Iterable[Floats]],
) -> SolverResult:
    """Evaluate points around the best one so far, within a box that shrinks round by round.

    Parameters
    ----------
    fun, start
        As for solvers.
    half_width : float
        Size of the first box.
    shrinks : sequence of float
        One factor per round, with which the box shrinks after it.
    offsets : callable
        Round -> points within -1..1 along each axis.
    """
    counted = Counted(fun)
    best, top = start, counted.value(start)
    lowest = top
    for round_, shrink in enumerate(shrinks):
        center = best
        for offset in offsets(round_):
            theta = center + half_width * offset
            value = counted.value(theta)
            lowest = min(lowest, value)
            if value > top:
                best, top = theta, value
        if top == -math.inf:
            return counted.ended(start, top, Status.NOT_FINITE)
        if lowest == top:
            return counted.ended(start, top, Status.FLAT)
        half_width *= shrink
    return counted.ended(best, top, Status.CONVERGED)
