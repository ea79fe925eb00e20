"""A window prepared for the search of layers: events, links, and cells in space and time."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events
from evcrisp.core.types import Bools, Bytes, Integers, Singles
from evcrisp.estimators.auto.aligned_maps import IndexedWindow, Pixels
from evcrisp.estimators.auto.buffers import thread_buffers
from evcrisp.estimators.layer import slices_at
from evcrisp.search.event_view import middle_of, ranks_by_place
from evcrisp.search.window_data import WindowData

if TYPE_CHECKING:
    from evcrisp.kernels.auto.self_support import Links

#: Side of a cell, px, and slices of a window: a layer holds in a cell for a third of the window.
CELL_PX, N_SLICES = 8, 3


class Supporters(NamedTuple):
    """Events on a map, and which of them support others; see `CellEvents`."""

    x: Singles
    y: Singles
    tau: Singles
    p: Bytes
    supporting: Bools


@dataclass(frozen=True, slots=True, eq=False)
class CellEvents:
    """Events in cells. Displacements are px per window, times windows since the middle."""

    x: Singles  # (n,) px
    y: Singles  # (n,) px
    tau: Singles  # (n,) -0.5 to 0.5
    p: Bytes  # (n,)
    supporting: Bools  # (n,) events that support others: not of hot pixels
    cell: Integers  # (n,) cell of each event
    links: "Links"  # between events of the same pixel
    rank: NDArray[np.uint32]  # (n,) numbers that choose some of the events; see `ranks_by_place`
    resolution: tuple[int, int]  # width and height of the sensor, px
    density: float = 1.0  # share of the events of the window that support these
    share: float = 1.0  # share of the events of the window that are these
    others: Supporters | None = None  # the events that support these, if not these themselves

    @property
    def supporters(self) -> Supporters:
        """Events that support these."""
        if self.others is not None:
            return self.others
        return Supporters(self.x, self.y, self.tau, self.p, self.supporting)

    def some(self, events: NDArray[np.intp], n_events: int) -> NDArray[np.intp]:
        """Return about ``n_events`` or all of some events, whatever their order and direction."""
        interval = events.size // max(n_events, 1)
        return events if interval < 2 else events[self.rank[events] < 2**32 // interval]

    @property
    def cells_shape(self) -> tuple[int, int, int]:
        """Slices, rows and columns of the cells."""
        return (N_SLICES, *cells_of(self.resolution))

    def __len__(self) -> int:
        return self.p.size


@dataclass(frozen=True, slots=True, eq=False)
class LayerWindow(CellEvents):
    """Events of a window in cells, linked to those of the same pixel; with noise samples."""

    indexed: IndexedWindow = field(kw_only=True)

    @classmethod
    def of(
        cls, data: WindowData, events: Events, supporting: Bools, step: int = 1
    ) -> "LayerWindow":
        """Prepare one in ``step`` events of a window with contiguous columns."""
        n_all = len(events)
        if step > 1:
            rank = np.empty(n_all, np.uint32)
            ranks_by_place(events.x, events.y, data.warp.dt, middle_of(events), rank)
            chosen = rank < 2**32 // step
            data, events = data.subset(chosen), events[chosen].contiguous()
            supporting = np.ascontiguousarray(supporting[chosen])
        pixels = Pixels(events.x, events.y, events.p)
        indexed = IndexedWindow.of(data, pixels, thread_buffers())
        tau = indexed.t[: len(data)].copy()
        # As `Estimate` computes it: in double precision, and since the start, not the middle.
        length_us = max(round(data.duration_s * 1e6), 1)
        share = data.warp.dt / data.duration_s + (length_us // 2) / length_us
        slices = slices_at(share, N_SLICES)
        (rows, columns), (left, top) = cells_of(data.resolution), first_cell(data.resolution)
        row, column = (events.y - np.int32(top)) // CELL_PX, (events.x - np.int32(left)) // CELL_PX
        cell = ((slices * rows + row) * columns + column).astype(np.int32)
        x, y = events.x.astype(np.float32), events.y.astype(np.float32)
        share = len(events) / max(n_all, 1)
        return cls(
            x, y, tau, indexed.p, supporting, cell, indexed.links, indexed.rank, data.resolution,
            share, share, indexed=indexed,
        )  # fmt: skip

    def of_half_of_pixels(self) -> CellEvents:
        """Return the events of half of the pixels, supported by the events of all."""
        from evcrisp.kernels.auto.self_support import Links, link_events

        pixels, extent = self.indexed.pixels, self.indexed.extent
        middle = extent.left + 0.5 * (extent.width - 1), extent.top + 0.5 * (extent.height - 1)
        rank = np.empty(len(self), np.uint32)
        ranks_by_place(pixels.x, pixels.y, np.zeros(len(self)), middle, rank)
        chosen = np.flatnonzero(rank < 2**31)
        width, height = self.resolution
        before, after, number = np.empty((3, chosen.size + 1), np.int32)
        links = Links(before, after, number, np.empty(2 * height * width, np.int32))
        p = self.p.take(chosen)
        link_events(pixels.x.take(chosen), pixels.y.take(chosen), p, height, width, links)
        share = self.share * chosen.size / max(len(self), 1)
        return CellEvents(
            self.x.take(chosen), self.y.take(chosen), self.tau.take(chosen), p,
            self.supporting.take(chosen), self.cell.take(chosen), links, self.rank.take(chosen),
            self.resolution, self.density, share, self.supporters,
        )  # fmt: skip


def first_cell(resolution: tuple[int, int]) -> tuple[int, int]:
    """Return left and top of the first cell, px: cells are centered on the view.

    >>> first_cell((346, 260))
    (-3, -2)
    """
    rows, columns = cells_of(resolution)
    width, height = resolution
    return -((columns * CELL_PX - width) // 2), -((rows * CELL_PX - height) // 2)


class Parts(NamedTuple):
    """Square parts that cover a view, centered on it."""

    rows: int
    columns: int
    side: int  # px
    left: float  # of the first part, px
    top: float

    @classmethod
    def of(cls, resolution: tuple[int, int], side: int) -> "Parts":
        """Return the parts of a view, given their side, px."""
        columns, rows = (-(-size // side) for size in resolution)
        left, top = (
            0.5 * (size - n * side) for size, n in zip(resolution, (columns, rows), strict=True)
        )
        return cls(rows, columns, side, left, top)

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of all parts, px."""
        return self.rows * self.side, self.columns * self.side


#: Margin of a map with two px per pixel around `Parts`, px: so that it is the same from either side.
MARGIN_PX = 40.5


def cells_of(resolution: tuple[int, int]) -> tuple[int, int]:
    """Return the rows and columns of cells that cover a sensor.

    >>> cells_of((346, 260))
    (33, 44)
    """
    width, height = resolution
    return -(-height // CELL_PX), -(-width // CELL_PX)
