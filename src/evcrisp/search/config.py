"""Parameters of the motion search."""

import math
from dataclasses import dataclass

from evcrisp.core.validation import check_number
from evcrisp.search.collapse_penalty import MAX_LOG_AREA

#: Largest `bound_px`, ten times the largest default. The cost grows with the square.
MAX_BOUND_PX = 1000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchConfig:
    """Parameters of the motion search.

    Parameters
    ----------
    bound_px : float, optional, px, up to 1000
        Largest displacement within a window that a cold search covers. By default 18 % of the
        larger side of the view, at most 100 px, and at least half of a view of up to 72 px.
        Coarse scenes are found beyond it too.
    tol_px : float, px
        Do not evaluate a last step that moves the image by less (root mean square).
    finest_scale : int
        Pixels of the sensor per pixel of the finest map, 1 to 32. 2 makes a kernel with sigma 1 px.
    coarse_events : int
        Events on the coarsest level of a sensor of 346 x 260 or less, 100 or more. Every finer
        level has twice as many, and the finest all.
    max_log_area : float
        Bound on the change of log area within a window, infinity for none; see `CollapsePenalty`.
    """

    bound_px: float | None = None
    tol_px: float = 0.08
    finest_scale: int = 2
    coarse_events: int = 4096
    max_log_area: float = MAX_LOG_AREA

    def __post_init__(self) -> None:
        if self.bound_px is not None:
            remedy = "Use shorter windows, in which displacements are smaller."
            check_number("bound_px", self.bound_px, 0, MAX_BOUND_PX, open_low=True, remedy=remedy)
        for name, least, most in (("finest_scale", 1, 32), ("coarse_events", 100, 10**9)):
            check_number(name, getattr(self, name), least, most, whole=True)
            object.__setattr__(self, name, int(getattr(self, name)))
        check_number("tol_px", self.tol_px, 0, open_low=True)
        if self.max_log_area != math.inf:
            check_number("max_log_area", self.max_log_area, 0, open_low=True)
