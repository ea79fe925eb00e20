"""Inceptive events: the first event of a burst stays, once the burst has gone on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.filters.checks import at_least, positive
from evcrisp.filters.held_events import Held
from evcrisp.filters.protocol import About, Labels, checked


@dataclass(frozen=True, slots=True, kw_only=True)
class Iets:
    r"""Keep an event that begins a burst of its pixel and polarity, near other recent events.

    An edge makes a pixel fire several times; the first of these events tells best when it came. An
    event begins a burst if its pixel and polarity were silent for ``before_us`` and fire again within
    ``after_us``. Besides, the time surface at the event, the mean of :math:`e^{-\mathrm{age}/\tau}`
    over the pixels around that have fired with its polarity, has to reach ``threshold``. The score is
    that mean where the burst test holds, and a fraction of it elsewhere. Labels come ``after_us``
    late.

    Parameters
    ----------
    before_us : int
        Silence before the event is longer than this, us.
    after_us : int
        Longest time to the next event of the burst, us.
    tau_us : float
        Decay of the time surface, us.
    radius : int
        Pixels around, px; the pixel itself belongs to them.
    threshold : float
        Lowest mean of kept events, above 0 to 1.
    followed : bool
        Whether the next event has to come; if False, it must not come, so that single events and
        not bursts stay.

    Notes
    -----
    The first version of E-MLB has these constants and keeps an event with silence on *both* sides
    (``followed=False``). It decides when the next event of the pixel comes, which may be never, and
    reads memory that was never written; its labels cannot be reproduced.

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
        "How burst test and time surface are joined, and the constants, are those of E-MLB; which "
        "events begin a burst is that of the publication.",
    )
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {}

    before_us: int = 5_000
    after_us: int = 5_000
    tau_us: float = 30_000.0
    radius: int = 1
    threshold: float = 0.5
    followed: bool = True

    def __post_init__(self) -> None:
        at_least("before_us", self.before_us, 0)
        at_least("after_us", self.after_us, 1)
        at_least("radius", self.radius, 1, most=100)
        positive("tau_us", self.tau_us)
        if not 0 < self.threshold <= 1:
            raise ConfigError(f"`threshold` must be above 0 and at most 1; got {self.threshold}.")

    def start(self, resolution: tuple[int, int]) -> "IetsStream":
        """Begin a recording in which no pixel has fired."""
        return IetsStream(self, resolution)


class IetsStream:
    """The filter at work."""

    __slots__ = ("_config", "_held", "_last", "_newest", "_resolution")

    def __init__(self, config: Iets, resolution: tuple[int, int]) -> None:
        from evcrisp.kernels.filters.recent_neighbors import NEVER

        width, height = resolution
        border = 2 * config.radius
        self._config = config
        self._resolution = resolution
        self._last: NDArray[np.int64] = np.full(
            (2, height + border, width + border), NEVER, np.int64
        )
        self._newest: NDArray[np.int64] = np.full((2, height, width), -1, np.int64)
        self._held = Held(t=np.int64, surface=np.float64, before=np.int64, after=np.int64)

    def label(self, events: Events) -> Labels:
        """Take the next chunk; label the events whose future is known."""
        from evcrisp.kernels.filters.iets import burst_gaps

        events = checked(events, self._resolution)
        n = len(events)
        if not n:
            return Labels.room(0)
        held, config = self._held, self._config
        first = held.first
        surface, before = np.empty(n), np.empty(n, np.int64)
        held.push(n, t=events.t, surface=surface, before=before, after=-1)
        columns = (events.x, events.y, events.t, events.p.view(np.uint8), self._last, self._newest)
        new = slice(len(held) - n, None)
        out = (held["surface"][new], held["before"][new], held["after"])
        burst_gaps(*columns, first, config.tau_us, config.radius, *out)
        ready = np.searchsorted(held["t"], int(events.t[-1]) - config.after_us, side="left")
        return self._labels(int(ready))

    def finish(self) -> Labels:
        """Label the rest, after which nothing comes."""
        return self._labels(len(self._held))

    def _labels(self, n: int) -> Labels:
        config = self._config
        out = self._held.pop(n)
        comes = (out["after"] >= 0) & (out["after"] <= config.after_us)
        begins = (out["before"] > config.before_us) & (comes == config.followed)
        score = np.where(begins, out["surface"], 0.5 * config.threshold * out["surface"])
        return Labels(score >= config.threshold, score)
