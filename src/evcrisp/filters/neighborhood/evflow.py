"""Event flow: keep events around which events lie on a plane of plausible speed."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events
from evcrisp.core.validation import check_number
from evcrisp.filters.protocol import About, CausalStream, Filter, Labels, Presets, check_minimum


@dataclass(frozen=True, slots=True, kw_only=True)
class EvFlow(Filter):
    r"""Keep an event if a plane fitted to the recent events around it has a plausible speed.

    The events of a moving edge lie on a plane :math:`t = a x + b y + c`. It is fitted to the events
    of the last ``tau_us`` in a square of pixels, of any polarity and without the event itself. The
    edge moves at :math:`v = 1 / \sqrt{a^2 + b^2}`; an event is kept if v is at most ``max_px_ms``.
    There is no plane with fewer than ``min_events`` events, or if they lie on one line. The score is
    :math:`1 / (1 + v / v_\mathrm{max})`, at least 0.5 for kept events and 0 without a plane.

    Parameters
    ----------
    tau_us : int
        Age from which events are not fitted, us.
    radius : int
        Maximum distance of the fitted events in x and in y, px.
    max_px_ms : float
        Maximum speed, px/ms.
    min_events : int
        Minimum number of events of a fit, 3 or more.
    emlb : bool
        Reproduce E-MLB: use :math:`\sqrt{1/a^2 + 1/b^2}` as the speed, which rejects edges along an
        axis of the sensor; fit in sensor coordinates; accept fits through events on one line; and
        forget old events one event late.

    References
    ----------
    Y. Wang et al., "EV-Gait: event-based robust gait recognition using dynamic vision sensors",
    CVPR, 2019.
    """

    name: ClassVar[str] = "evflow"
    about: ClassVar[About] = About(
        "Wang et al. 2019; E-MLB",
        "9 pixels and their recent events",
        "the events of tau",
        compared=("emlb",),
    )
    presets: ClassVar[Presets] = {
        "emlb": {"tau_us": 2_000, "radius": 1, "max_px_ms": 20.0, "min_events": 4, "emlb": True}
    }

    tau_us: int = 5_000
    radius: int = 1
    max_px_ms: float = 20.0
    min_events: int = 4
    emlb: bool = False

    def __post_init__(self) -> None:
        check_minimum(self, tau_us=1, min_events=3)
        check_number("radius", self.radius, 1, 100)
        check_number("max_px_ms", self.max_px_ms, 0, open_low=True)

    def start(self, resolution: tuple[int, int]) -> "EvFlowStream":
        """Start a recording."""
        return EvFlowStream(self, resolution)


class EvFlowStream(CausalStream):
    """State of the filter: a ring of recent events, linked per pixel from newest to oldest."""

    def __init__(self, config: EvFlow, resolution: tuple[int, int]) -> None:
        super().__init__(resolution)
        rule = (config.tau_us, config.radius, config.min_events, float(config.max_px_ms))
        self._rule = (*rule, config.emlb)
        border = 2 * config.radius
        self._head = np.full((resolution[1] + border, resolution[0] + border), -1, np.int64)
        self._times: NDArray[np.int64] = np.zeros(4096, np.int64)
        self._older: NDArray[np.int64] = np.zeros(4096, np.int64)
        self._span = np.zeros(2, np.int64)  # indices of the oldest event in the ring and the next

    def fill(self, events: Events, labels: Labels) -> None:
        """Label a chunk; enlarge the ring when it is full."""
        from evcrisp.kernels.filters.neighborhood.evflow import flow_labels

        done = 0
        while done < len(events):
            ring = (self._head, self._times, self._older, self._span)
            columns = (done, events.x, events.y, events.t)
            done = flow_labels(*columns, *ring, *self._rule, labels.signal, labels.score)
            if done < len(events):
                self._grow()

    def _grow(self) -> None:
        """Double the size of the ring."""
        indices = np.arange(*self._span)
        size = self._times.size
        times, older = np.zeros(2 * size, np.int64), np.zeros(2 * size, np.int64)
        times[indices % (2 * size)] = self._times[indices % size]
        older[indices % (2 * size)] = self._older[indices % size]
        self._times, self._older = times, older
