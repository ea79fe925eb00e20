"""Look at points that fill a box evenly, in any number of dimensions."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.core.types import Floats
from evcrisp.optimize.counted_function import as_start
from evcrisp.optimize.grid import check_tolerances, search_boxes, shrinking_boxes
from evcrisp.optimize.protocol import Function, SolverResult

_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuasiRandom:
    """Halton points in a box that shrinks around the best one, round by round.

    Parameters
    ----------
    half_width : float
        The first box reaches this far from the start along each axis.
    points : int
        Points per round.
    rounds : int
        Number of boxes.
    shrink : float
        Size of a box relative to the one before, 0 to 1.
    seed : int
        Shifts the points (modulo the box), differently in each round.
    tol_step, tol : float
        As for `Grid`.
    """

    name: ClassVar[str] = "quasi-random"
    needs_gradient: ClassVar[bool] = False

    half_width: float = 8.0
    points: int = 200
    rounds: int = 25
    shrink: float = 0.65
    seed: int = 0
    tol_step: float = 0.1
    tol: float = 1e-6

    def __post_init__(self) -> None:
        if not self.half_width > 0.0:
            raise ConfigError(f"`half_width` must be positive; got {self.half_width}.")
        if self.points < 1 or self.rounds < 1:
            raise ConfigError(
                f"`points` and `rounds` must be 1 or more; got {self.points}, {self.rounds}."
            )
        if not 0.0 < self.shrink <= 1.0:
            raise ConfigError(f"`shrink` must lie in 0..1; got {self.shrink}.")
        if self.seed < 0:
            raise ConfigError(f"`seed` must be 0 or more; got {self.seed}.")
        check_tolerances(self.tol_step, self.tol)

    def maximize(self, fun: Function, theta0: Floats) -> SolverResult:
        """Search around ``theta0``, in units in which a step of 1 is of moderate size."""
        start = as_start(theta0)
        unit = halton(self.points, start.size)

        def offsets(round_: int) -> Iterator[Floats]:
            shift = np.random.default_rng((self.seed, round_)).random(start.size)
            return iter(2.0 * ((unit + shift) % 1.0) - 1.0)

        boxes = shrinking_boxes(self.half_width, self.shrink, self.rounds)
        return search_boxes(fun, start, boxes, offsets, self.tol_step, self.tol)


def halton(n: int, dimensions: int) -> Floats:
    """Return the first ``n`` points of the Halton sequence after the origin, shape (n, dimensions).

    Examples
    --------
    >>> halton(3, 2).round(3).tolist()
    [[0.5, 0.333], [0.25, 0.667], [0.75, 0.111]]
    """
    if dimensions > len(_PRIMES):
        raise ConfigError(
            f"`dimensions` may be up to {len(_PRIMES)} for Halton points; got {dimensions}. Use "
            "solver 'bfgs' or 'nelder-mead'."
        )
    columns = []
    for base in _PRIMES[:dimensions]:
        index = np.arange(1, n + 1)
        column, place = np.zeros(n), 1.0
        while index.any():
            place /= base
            column += place * (index % base)
            index = index // base
        columns.append(column)
    return np.stack(columns, axis=1) if columns else np.zeros((n, 0))
