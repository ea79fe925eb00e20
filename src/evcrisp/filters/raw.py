"""No filter at all: the baseline that keeps every event."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evcrisp.core.events import Events
from evcrisp.filters.protocol import About, Causal, Labels


@dataclass(frozen=True, slots=True)
class Raw(Causal):
    """Keep every event."""

    name: ClassVar[str] = "raw"
    about: ClassVar[About] = About("no filter", "none", "none")
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {}

    def start(self, resolution: tuple[int, int]) -> "Raw":
        """Return itself: there is no state."""
        return self

    def label(self, events: Events) -> Labels:
        """Label every event as signal."""
        return Labels(np.ones(len(events), np.bool_), np.ones(len(events)))
