"""Inceptive events: keep the first event of each burst."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events
from evcrisp.core.validation import check_number
from evcrisp.filters.protocol import About, Filter, HeldEvents, Labels, check_minimum, check_sensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Iets(Filter):
    r"""Keep an event that starts a burst of its pixel and polarity, near other recent events.

    An edge causes several events per pixel; the first is the most precise in time. An event starts
    a burst if its pixel and polarity had no event for ``before_us`` and have one within
    ``after_us``. The time surface at the event must also reach ``threshold``: the mean of
    :math:`e^{-\mathrm{age}/\tau}` over the pixels around that have fired with its polarity. The
    score is this mean at starts of bursts, else a fraction of it. Labels are ``after_us`` late.

    Parameters
    ----------
    before_us : int
        Minimum gap before the event, excluded, us.
    after_us : int
        Maximum gap to the next event of the burst, us.
    tau_us : float
        Time constant of the time surface, us.
    radius : int
        Maximum distance of the pixels in x and in y, px; the event's own pixel is included.
    threshold : float
        Minimum mean of kept events, above 0 and at most 1.
    followed : bool
        Require a next event within ``after_us``; if False, require that there is none, which keeps
        single events instead of bursts.

    References
    ----------
    R. W. Baldwin et al., "Inceptive event time-surfaces for object classification using neuromorphic
    cameras", ICIAR, 2019.
    """

    name: ClassVar[str] = "iets"
    about: ClassVar[About] = About(
        "Baldwin et al. 2019; E-MLB",
        "9 pixels, 9 exponentials",
        "2 times and numbers per pixel, the events of after_us",
        "The combination of burst test and time surface, and the constants, follow E-MLB; the burst "
        "test follows the publication.",
    )
    is_causal: ClassVar[bool] = False

    before_us: int = 5_000
    after_us: int = 5_000
    tau_us: float = 30_000.0
    radius: int = 1
    threshold: float = 0.5
    followed: bool = True

    def __post_init__(self) -> None:
        check_minimum(self, before_us=0, after_us=1)
        check_number("radius", self.radius, 1, 100)
        check_number("tau_us", self.tau_us, 0, 1e12, open_low=True)
        check_number("threshold", self.threshold, 0, 1, open_low=True)

    def start(self, resolution: tuple[int, int]) -> "IetsStream":
        """Start a recording."""
        return IetsStream(self, resolution)


class IetsStream:
    """State of the filter: last event per polarity and pixel, and the held events."""

    def __init__(self, config: Iets, resolution: tuple[int, int]) -> None:
        from evcrisp.kernels.filters.neighborhood.recent_neighbors import NEVER

        (width, height), border = resolution, 2 * config.radius
        self._config, self._resolution = config, resolution
        shape = (2, height + border, width + border)
        self._last: NDArray[np.int64] = np.full(shape, NEVER, np.int64)
        self._newest: NDArray[np.int64] = np.full((2, height, width), -1, np.int64)
        self._held = HeldEvents(t=np.int64, surface=np.float64, before=np.int64, after=np.int64)

    def label(self, events: Events) -> Labels:
        """Process the next chunk; label the events older than ``after_us``."""
        from evcrisp.kernels.filters.bursts.iets import burst_gaps

        events = check_sensor(events, self._resolution)
        n = len(events)
        if not n:
            return Labels.empty(0)
        held, config = self._held, self._config
        held.append(n, t=events.t, surface=0, before=0, after=-1)
        columns = (events.x, events.y, events.t, events.p.view(np.uint8), self._last, self._newest)
        new = slice(len(held) - n, None)
        out = (held["surface"][new], held["before"][new], held["after"])
        burst_gaps(*columns, held.first, config.tau_us, config.radius, *out)
        ready = np.searchsorted(held["t"], int(events.t[-1]) - config.after_us, side="left")
        return self._labels(int(ready))

    def finish(self) -> Labels:
        """Label the held events."""
        return self._labels(len(self._held))

    def _labels(self, n: int) -> Labels:
        config = self._config
        out = self._held.take(n)
        is_followed = (out["after"] >= 0) & (out["after"] <= config.after_us)
        starts = (out["before"] > config.before_us) & (is_followed == config.followed)
        score = np.where(starts, out["surface"], 0.5 * config.threshold * out["surface"])
        return Labels(score >= config.threshold, score)
