"""No filter at all: the baseline that keeps every event."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evcrisp.events import Events
from evcrisp.filters._protocol import Labels


@dataclass(frozen=True, slots=True)
class Raw:
    """Keep every event."""

    name: ClassVar[str] = "raw"

    def start(self, resolution: tuple[int, int]) -> "Raw":
        """Return itself: there is no state."""
        return self

    def label(self, events: Events) -> Labels:
        """Label every event as signal."""
        return Labels(np.ones(len(events), np.bool_), np.ones(len(events)))
