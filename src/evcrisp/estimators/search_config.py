"""How a motion is searched for."""

from dataclasses import dataclass

from evcrisp.errors import ConfigError
from evcrisp.estimators.guard import MAX_LOG_AREA


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchConfig:
    """Parameters of the search for a motion.

    Parameters
    ----------
    bound_px : float, optional, px
        Largest displacement within a window that a cold search expects; 18 % of the larger side of
        the sensor, but at most 100 px, where not given. Coarse scenes are found beyond it too.
    tol_px : float, optional, px
        Do the last step without another look at the events when it moves the image by less (root
        mean square over the sensor). Where not given, 0.1 px over the number of parameters, but at
        most 0.05: the fewer there are, the sooner the curvature is known that tells the last step.
    finest_scale : int
        Pixels of the sensor per pixel of the finest map. 2 makes a kernel with sigma 1 px.
    coarse_events : int
        Events on the coarsest level of a sensor of 346 x 260 or less; every finer level takes twice
        as many, and the finest all.
    max_log_area : float
        Bound on the change of log area within a window; see `Guard`.
    """

    bound_px: float | None = None
    tol_px: float | None = None
    finest_scale: int = 2
    coarse_events: int = 4096
    max_log_area: float = MAX_LOG_AREA

    def __post_init__(self) -> None:
        if self.bound_px is not None and not self.bound_px > 0.0:
            raise ConfigError(f"`bound_px` must be positive; got {self.bound_px}.")
        for name, least in (("finest_scale", 1), ("coarse_events", 100)):
            if getattr(self, name) < least:
                raise ConfigError(f"`{name}` must be {least} or more; got {getattr(self, name)}.")
        for name in ("tol_px", "max_log_area"):
            value = getattr(self, name)
            if value is not None and not value > 0.0:
                raise ConfigError(f"`{name}` must be positive; got {value}.")
