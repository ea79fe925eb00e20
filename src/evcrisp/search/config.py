"""How a motion is searched for."""

import math
import numbers
from dataclasses import dataclass

from evcrisp.core.errors import ConfigError
from evcrisp.search.collapse_penalty import MAX_LOG_AREA

#: Ten times what a search expects at most without being told. The work grows with the square.
MAX_BOUND_PX = 1000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchConfig:
    """Parameters of the search for a motion.

    Parameters
    ----------
    bound_px : float, optional, px
        Largest displacement within a window that a cold search expects; 18 % of the larger side of
        the sensor, but at most 100 px, where not given. Coarse scenes are found beyond it too. May
        be up to 1000.
    tol_px : float, px
        Do the last step without another look at the events when it moves the image by less (root
        mean square over the sensor).
    finest_scale : int
        Pixels of the sensor per pixel of the finest map, 1 to 32. 2 makes a kernel with sigma 1 px.
    coarse_events : int
        Events on the coarsest level of a sensor of 346 x 260 or less; every finer level takes twice
        as many, and the finest all. 100 or more.
    max_log_area : float
        Bound on the change of log area within a window, infinity for none; see `Guard`.
    """

    bound_px: float | None = None
    tol_px: float = 0.08
    finest_scale: int = 2
    coarse_events: int = 4096
    max_log_area: float = MAX_LOG_AREA

    def __post_init__(self) -> None:
        if self.bound_px is not None and not 0.0 < self.bound_px <= MAX_BOUND_PX:
            raise ConfigError(
                f"`bound_px` must be positive and at most {MAX_BOUND_PX:.0f} px; got {self.bound_px}. "
                "Take shorter windows, in which things move less."
            )
        for name, least, most in (("finest_scale", 1, 32), ("coarse_events", 100, 10**9)):
            value = getattr(self, name)
            if not isinstance(value, numbers.Integral) or not least <= value <= most:
                raise ConfigError(
                    f"`{name}` must be a whole number, {least} to {most}; got {value!r}."
                )
            object.__setattr__(self, name, int(value))
        if not isinstance(self.tol_px, numbers.Real) or not 0.0 < self.tol_px < math.inf:
            raise ConfigError(f"`tol_px` must be a positive number; got {self.tol_px!r}.")
        if not self.max_log_area > 0.0:
            raise ConfigError(f"`max_log_area` must be positive; got {self.max_log_area}.")
