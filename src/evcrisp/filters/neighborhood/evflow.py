"""Event flow: an event stays if the events around it lie on a plane that moves at a possible speed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events
from evcrisp.filters.checks import at_least, positive
from evcrisp.filters.protocol import About, Causal, Labels, checked


@dataclass(frozen=True, slots=True, kw_only=True)
class EvFlow:
    r"""Keep an event if the plane through the recent events around it is that of a moving edge.

    An edge that moves draws a plane :math:`t = a x + b y + c`. It is fitted to the events of the last
    ``tau_us`` in a square of pixels, of any polarity and without the event itself. The edge then
    moves at :math:`v = 1 / \sqrt{a^2 + b^2}` across itself; events stay if v is at most
    ``max_px_ms``. Without ``min_events``, or if these lie on one line, there is no plane. The score
    is :math:`1 / (1 + v / v_\mathrm{max})`, at least 0.5 for kept events and 0 without a plane.

    Parameters
    ----------
    tau_us : int
        Events older than this, or as old, are not fitted, us.
    radius : int
        How far they may be away in x and in y, px.
    max_px_ms : float
        Highest speed, px/ms.
    min_events : int
        How many events a fit takes, 3 or more.
    emlb : bool
        Take :math:`\sqrt{1/a^2 + 1/b^2}` for the speed, which rejects edges along an axis of the
        sensor, fit in coordinates of the sensor, keep fits through events on one line, and forget
        old events one event late.

    Notes
    -----
    The preset "emlb" gives the labels of E-MLB. Only the pixels of the square are looked at, each
    with a list of its recent events.

    References
    ----------
    Y. Wang et al., "EV-Gait: event-based robust gait recognition using dynamic vision sensors",
    CVPR, 2019.
    """

    name: ClassVar[str] = "evflow"
    about: ClassVar[About] = About(
        "Wang et al. 2019; E-MLB", "9 pixels and their recent events", "the events of tau"
    )
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {
        "emlb": {"tau_us": 2_000, "radius": 1, "max_px_ms": 20.0, "min_events": 4, "emlb": True}
    }

    tau_us: int = 5_000
    radius: int = 1
    max_px_ms: float = 20.0
    min_events: int = 4
    emlb: bool = False

    def __post_init__(self) -> None:
        at_least("tau_us", self.tau_us, 1)
        at_least("radius", self.radius, 1, most=100)
        at_least("min_events", self.min_events, 3)
        positive("max_px_ms", self.max_px_ms)

    def start(self, resolution: tuple[int, int]) -> "EvFlowStream":
        """Begin a recording without earlier events."""
        return EvFlowStream(self, resolution)


class EvFlowStream(Causal):
    """The filter at work; events of one pixel are linked, newest first, in a ring of recent ones."""

    __slots__ = ("_config", "_head", "_older", "_resolution", "_span", "_times")

    def __init__(self, config: EvFlow, resolution: tuple[int, int]) -> None:
        self._config = config
        self._resolution = resolution
        border = 2 * config.radius
        self._head = np.full((resolution[1] + border, resolution[0] + border), -1, np.int64)
        self._times: NDArray[np.int64] = np.zeros(4096, np.int64)
        self._older: NDArray[np.int64] = np.zeros(4096, np.int64)
        self._span = np.zeros(2, np.int64)  # numbers of the oldest event in the ring and the next

    def label(self, events: Events) -> Labels:
        """Label the next chunk."""
        from evcrisp.kernels.filters.evflow import flow_labels

        events = checked(events, self._resolution)
        labels = Labels.room(len(events))
        config = self._config
        rule = (config.tau_us, config.radius, config.min_events, float(config.max_px_ms))
        done = 0
        while done < len(events):
            ring = (self._head, self._times, self._older, self._span)
            done = flow_labels(
                done, events.x, events.y, events.t, *ring, *rule, config.emlb,
                labels.signal, labels.score,
            )  # fmt: skip
            if done < len(events):
                self._grow()
        return labels

    def _grow(self) -> None:
        """Make room for twice as many recent events."""
        numbers = np.arange(*self._span)
        size = self._times.size
        times, older = np.zeros(2 * size, np.int64), np.zeros(2 * size, np.int64)
        times[numbers % (2 * size)] = self._times[numbers % size]
        older[numbers % (2 * size)] = self._older[numbers % size]
        self._times, self._older = times, older
