"""No filtering: the baseline that keeps every event."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evcrisp.core.events import Events
from evcrisp.filters.protocol import About, Filter, Labels


@dataclass(frozen=True, slots=True)
class Raw(Filter):
    """Keep every event."""

    name: ClassVar[str] = "raw"
    about: ClassVar[About] = About("no filter", "none", "none")

    def start(self, resolution: tuple[int, int]) -> "Raw":
        """Return the filter itself, which has no state."""
        return self

    def label(self, events: Events) -> Labels:
        """Label every event as signal."""
        return Labels(np.ones(len(events), np.bool_), np.ones(len(events)))

    def finish(self) -> Labels:
        """Return no labels: all are final already."""
        return Labels.empty(0)
