"""Protocol of solvers, which maximize a function of a parameter vector."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

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
    solver: Solver,
    *,
    positive: tuple[str, ...] = (),
    nonnegative: tuple[str, ...] = (),
    counts: tuple[tuple[str, int], ...] = (),
) -> None:
    """Raise unless the fields of a solver are in range.

    ``counts`` are integers with a minimum. Infinity is a valid length or tolerance.
    """
    for name in positive + nonnegative:
        value = getattr(solver, name)
        if value != math.inf:
            check_number(name, value, 0, open_low=name in positive)
    for name, least in counts:
        check_number(name, getattr(solver, name), least, whole=True)
