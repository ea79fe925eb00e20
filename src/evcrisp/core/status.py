"""How the search for a motion ended."""

from enum import Enum


class Status(Enum):
    """End of a search. Not converging is a status, not an exception.

    Examples
    --------
    >>> [status.name for status in Status if status.is_usable]
    ['CONVERGED', 'MAX_ITER']
    """

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

    @property
    def is_usable(self) -> bool:
        """Whether the motion can be used, and can start the search of the next window."""
        return self in (Status.CONVERGED, Status.MAX_ITER)

    @property
    def has_motion(self) -> bool:
        """Whether ``theta`` is a motion at all, perhaps one at a bound."""
        return self.is_usable or self is Status.COLLAPSED

    @property
    def has_evidence(self) -> bool:
        """Whether the events could have determined a motion."""
        return self not in (Status.TOO_FEW_EVENTS, Status.FLAT, Status.NOT_FINITE)
