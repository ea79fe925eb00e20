"""Filter: keep an event if its cell of the sensor had another event lately."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evcrisp import Events
from evcrisp.filters import Labels


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Keep an event if its cell of ``cell_px`` pixels had another one within ``tau_us``.

    Parameters
    ----------
    cell_px : int
        Side of a cell, px.
    tau_us : int
        Longest time between the two events, us.
    """

    name: ClassVar[str] = "grid"
    is_causal: ClassVar[bool] = True

    cell_px: int = 4
    tau_us: int = 5_000

    def start(self, resolution: tuple[int, int]) -> "GridStream":
        """Begin a recording of a sensor."""
        return GridStream(self, resolution)


class GridStream:
    """State over a recording: the last event of every cell."""

    def __init__(self, config: Grid, resolution: tuple[int, int]) -> None:
        self.config = config
        self.columns = -(-resolution[0] // config.cell_px)
        rows = -(-resolution[1] // config.cell_px)
        self.last = np.full(rows * self.columns, np.iinfo(np.int64).min // 2)

    def label(self, events: Events) -> Labels:
        """Label the next events."""
        side = self.config.cell_px
        cells = (events.y // side).astype(np.int64) * self.columns + events.x // side
        age = np.empty(len(events))
        for k, (cell, t) in enumerate(zip(cells.tolist(), events.t.tolist(), strict=True)):
            age[k] = t - self.last[cell]
            self.last[cell] = t
        return Labels(age <= self.config.tau_us, self.config.tau_us / (self.config.tau_us + age))

    def finish(self) -> Labels:
        """Return no labels: none were held back."""
        return Labels(np.empty(0, np.bool_), np.empty(0))
