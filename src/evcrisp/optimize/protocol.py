"""What a solver offers. Solvers see a function of numbers; they know no events."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: theta -> (value, gradient); the gradient is None for functions that have none.
Function = Callable[[Floats], tuple[float, Floats | None]]


class Status(Enum):
    """How a search ended; not converging is a status, not an exception."""

    CONVERGED = "converged"
    MAX_ITER = "stopped after the most steps; allow more, or loosen the tolerance"
    TOO_FEW_EVENTS = "too few events to tell a motion"
    FLAT = "the objective does not depend on the motion"
    COLLAPSED = (
        "the image would grow or shrink by more than is allowed within a window (event collapse); "
        "take shorter windows, a motion with fewer parameters, or a larger `max_log_area`"
    )
    OUTSIDE = "hardly any event is left on the contrast map; start from a smaller motion"
    NOT_FINITE = "the objective is not a finite number"


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
