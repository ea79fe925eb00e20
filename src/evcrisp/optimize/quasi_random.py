"""Quasi-random search within a box that shrinks around the best point."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.core.types import Floats
from evcrisp.core.validation import check_number
from evcrisp.optimize.counted_function import as_start
from evcrisp.optimize.grid import search_boxes, shrinking
from evcrisp.optimize.protocol import Function, SolverResult, check_parameters

_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuasiRandom:
    """Halton points in a box that shrinks around the best point, round by round.

    Parameters
    ----------
    half_width : float
        Half the width of the first box along each axis.
    points : int
        Points per round.
    rounds : int
        Number of boxes.
    shrink : float
        Width of a box relative to the previous one, above 0, at most 1.
    seed : int
        Seed of the shift of the points (modulo the box) in each round.
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
        check_parameters(
            self,
            positive=("half_width",),
            nonnegative=("tol_step", "tol"),
            counts=(("points", 1), ("rounds", 1), ("seed", 0)),
        )
        check_number("shrink", self.shrink, 0, 1, open_low=True)

    def maximize(self, fun: Function, theta0: Floats) -> SolverResult:
        """Maximize around ``theta0``, in units in which a step of 1 is moderate."""
        start = as_start(theta0)
        unit = halton(self.points, start.size)

        def offsets(round_: int) -> Iterator[Floats]:
            shift = np.random.default_rng((self.seed, round_)).random(start.size)
            return iter(2.0 * ((unit + shift) % 1.0) - 1.0)

        half_widths = shrinking(self.half_width, self.shrink, self.rounds)
        return search_boxes(fun, start, half_widths, offsets, self.tol_step, self.tol)


def halton(n: int, dimensions: int) -> Floats:
    """Return the first ``n`` points of the Halton sequence after the origin, shape (n, dimensions).

    Examples
    --------
    >>> halton(3, 2).round(3).tolist()
    [[0.5, 0.333], [0.25, 0.667], [0.75, 0.111]]
    """
    if dimensions > len(_PRIMES):
        raise ConfigError(
            f"must be up to {len(_PRIMES)} for Halton points",
            parameter="dimensions",
            value=dimensions,
            remedy="Use solver 'bfgs' or 'nelder-mead'.",
        )
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
