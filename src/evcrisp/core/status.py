"""Status of a search for a motion."""

from enum import Enum


class Status(Enum):
    """End of a search; a search that does not converge has a status and raises no exception.

    >>> [status.name for status in Status if status.is_usable]
    ['CONVERGED', 'MAX_ITER']
    """

    CONVERGED = "converged"
    MAX_ITER = "stopped at the maximum number of steps; allow more, or increase the tolerance"
    TOO_FEW_EVENTS = "too few events to estimate a motion"
    FLAT = "the objective does not depend on the motion"
    COLLAPSED = (
        "the image grows or shrinks by more than the collapse bound within a window; "
        "use shorter windows, a motion model with fewer parameters, or a larger `max_log_area`"
    )
    OUTSIDE = "almost no events are left on the contrast map; start from a smaller motion"
    NOT_FINITE = "the objective is not a finite number"

    @property
    def is_usable(self) -> bool:
        """Whether the motion can be used, and can start the search of the next window."""
        return self in (Status.CONVERGED, Status.MAX_ITER)

    @property
    def has_motion(self) -> bool:
        """Whether ``theta`` is a motion, possibly at the collapse bound."""
        return self.is_usable or self is Status.COLLAPSED

    @property
    def has_evidence(self) -> bool:
        """Whether the events are sufficient to determine a motion."""
        return self not in (Status.TOO_FEW_EVENTS, Status.FLAT, Status.NOT_FINITE)
