"""Refractory period: an event stays if its pixel was silent for a while."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events
from evcrisp.filters.checks import at_least
from evcrisp.filters.protocol import About, Causal, Labels, checked


@dataclass(frozen=True, slots=True, kw_only=True)
class Refractory:
    r"""Keep an event if more than ``period_us`` have passed since the last one of its pixel.

    It thins bursts and silences pixels that fire all the time; it does not know noise from signal.
    The score is :math:`a / (a + T + 1)` with the age :math:`a` of the pixel's last event and the
    period :math:`T` in us, and 1 for the first event of a pixel.

    Parameters
    ----------
    period_us : int
        Refractory period, us.
    since_kept : bool
        Count from the last event that was kept, as a sensor with dead time would; by default from
        the last event, kept or not, so that a pixel that never rests stays silent.
    """

    name: ClassVar[str] = "refractory"
    about: ClassVar[About] = About("jAER, dv-processing, tonic", "1 pixel", "1 time per pixel")
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {
        "eventcv": {"since_kept": True},
        "tonic": {"since_kept": False},
    }

    period_us: int = 1_000
    since_kept: bool = False

    def __post_init__(self) -> None:
        at_least("period_us", self.period_us, 1)

    def start(self, resolution: tuple[int, int]) -> "RefractoryStream":
        """Begin a recording in which no pixel has fired."""
        from evcrisp.kernels.filters.recent_neighbors import NEVER

        last = np.full((resolution[1], resolution[0]), NEVER, np.int64)
        return RefractoryStream(self, resolution, last)


@dataclass(frozen=True, slots=True, eq=False)
class RefractoryStream(Causal):
    """The filter at work; ``last`` holds the time of the last event that counts."""

    config: Refractory
    resolution: tuple[int, int]
    last: NDArray[np.int64]  # (h, w) us

    def label(self, events: Events) -> Labels:
        """Label the next chunk."""
        from evcrisp.kernels.filters.refractory import own_age

        events = checked(events, self.resolution)
        labels = Labels.room(len(events))
        settings = (self.config.period_us, self.config.since_kept)
        own_age(events.x, events.y, events.t, self.last, *settings, labels.signal, labels.score)
        return labels
