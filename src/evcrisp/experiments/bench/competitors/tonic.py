"""`Denoise` of tonic."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evcrisp.core.events import Events
from evcrisp.core.types import Bools
from evcrisp.experiments.bench.competitors.live import LiveFilter, kept_of


@dataclass(frozen=True, slots=True, kw_only=True)
class TonicDenoise(LiveFilter):
    """`transforms.Denoise` of tonic; it has no default time, and the one of its examples is used."""

    name: ClassVar[str] = "tonic-denoise"
    title: ClassVar[str] = "Denoise of tonic"
    module: ClassVar[str] = "tonic.transforms"
    distribution: ClassVar[str] = "tonic"
    filter_time_us: float = 10_000.0

    def signal_of(self, events: Events) -> Bools:
        """Return which events of a whole recording are kept."""
        dtype = np.dtype([("x", "<i4"), ("y", "<i4"), ("t", "<i8"), ("p", "<i4")])
        columns = (events.x, events.y, events.t, events.p)
        table = np.rec.fromarrays(columns, dtype=dtype).view(dtype)
        kept = self.library().Denoise(filter_time=self.filter_time_us)(table)
        found = Events(
            x=kept["x"], y=kept["y"], t=kept["t"], p=kept["p"] > 0, resolution=events.resolution
        )
        return kept_of(events, found)
