"""A window prepared for the search of layers: events, links, and cells in space and time."""

from dataclasses import dataclass

import numpy as np

from evcrisp.core.events import Events
from evcrisp.core.types import Bools, Bytes, Integers, Singles
from evcrisp.estimators.auto.aligned_maps import IndexedWindow, Pixels
from evcrisp.estimators.auto.buffers import thread_buffers
from evcrisp.estimators.layer import slices_at
from evcrisp.search.window_data import WindowData

#: Side of a cell, px, and slices of a window: a layer holds in a cell for a third of the window.
CELL_PX, N_SLICES = 8, 3


@dataclass(frozen=True, slots=True, eq=False)
class LayerWindow:
    """Events of a window. Displacements are px per window, times windows since the middle."""

    x: Singles  # (n,) px
    y: Singles  # (n,) px
    tau: Singles  # (n,) -0.5 to 0.5
    p: Bytes  # (n,)
    cell: Integers  # (n,) cell of each event
    indexed: IndexedWindow
    supporting: Bools  # (n,) events that support others: not of hot pixels
    share: float = 1.0  # of the events of the window that are in it

    @classmethod
    def of(
        cls, data: WindowData, events: Events, supporting: Bools, step: int = 1
    ) -> "LayerWindow":
        """Prepare every ``step``-th event of a window with contiguous columns."""
        if step > 1:
            data, events, supporting = (
                data.subset(slice(None, None, step)),
                events[::step],
                supporting[::step],
            )
            events = events.contiguous()
            supporting = np.ascontiguousarray(supporting)
        pixels = Pixels(events.x, events.y, events.p)
        indexed = IndexedWindow.of(data, pixels, thread_buffers())
        tau = indexed.t[: len(data)].copy()
        # As `Estimate` computes it: in double precision, and since the start, not the middle.
        length_us = max(round(data.duration_s * 1e6), 1)
        share = data.warp.dt / data.duration_s + (length_us // 2) / length_us
        slices = slices_at(share, N_SLICES)
        rows, columns = cells_of(data.resolution)
        cell = (slices * rows + events.y // CELL_PX) * columns + events.x // CELL_PX
        x, y = events.x.astype(np.float32), events.y.astype(np.float32)
        return cls(x, y, tau, indexed.p, cell.astype(np.int32), indexed, supporting, 1.0 / step)

    @property
    def resolution(self) -> tuple[int, int]:
        """``(width, height)`` of the sensor, px."""
        return self.indexed.data.resolution

    @property
    def cells_shape(self) -> tuple[int, int, int]:
        """Slices, rows and columns of the cells."""
        return (N_SLICES, *cells_of(self.resolution))

    def __len__(self) -> int:
        return self.p.size


def cells_of(resolution: tuple[int, int]) -> tuple[int, int]:
    """Return the rows and columns of cells that cover a sensor.

    >>> cells_of((346, 260))
    (33, 44)
    """
    width, height = resolution
    return -(-height // CELL_PX), -(-width // CELL_PX)
