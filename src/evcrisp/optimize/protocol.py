"""What a solver offers. Solvers see a function of numbers; they know no events."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

from evcrisp.core.status import Status
from evcrisp.core.types import Floats

#: theta -> (value, gradient); the gradient is None for functions that have none.
Function = Callable[[Floats], tuple[float, Floats | None]]


@dataclass(frozen=True, slots=True, eq=False)
class SolverResult:
    """Where a search ended."""

    theta: Floats  # (m,)
    value: float
    n_eval: int
    status: Status
    #: (m, m) inverse of minus the second derivatives there, in the solver's units, where it is known
    inverse_hessian: Floats | None = None


class Solver(Protocol):
    """A search for the largest value; a frozen dataclass."""

    name: ClassVar[str]
    needs_gradient: ClassVar[bool]

    def maximize(self, fun: Function, theta0: Floats) -> SolverResult:
        """Search from ``theta0``, in units in which a step of 1 is of moderate size."""
        ...
