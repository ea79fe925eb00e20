"""Metric: share of the ON events."""

import math
from dataclasses import dataclass
from typing import ClassVar

from evcrisp import Events


@dataclass(frozen=True, kw_only=True)
class OnShare:
    """ON events divided by all events."""

    name: ClassVar[str] = "on_share"
    title: ClassVar[str] = "ON share"

    def start(self, resolution: tuple[int, int]) -> "OnShareMeter":
        """Begin a recording of a sensor."""
        return OnShareMeter()


class OnShareMeter:
    """Counts over a recording."""

    def __init__(self) -> None:
        self.n_events = self.n_on = 0

    def add(self, events: Events) -> None:
        """Add a chunk."""
        self.n_events += len(events)
        self.n_on += int(events.p.sum())

    def value(self) -> float:
        """Return the share; NaN without events."""
        return self.n_on / self.n_events if self.n_events else math.nan
