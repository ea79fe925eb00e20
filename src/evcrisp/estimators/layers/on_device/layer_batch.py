"""Windows prepared for the search of layers, on tensors; see `estimators.layers.layer_window`."""

from dataclasses import dataclass

from evcrisp.estimators.auto.on_device.sources import SourceGrid, SourceOrder
from evcrisp.estimators.auto.on_device.window_batch import WindowBatch
from evcrisp.estimators.layers.find_layers import subsampling_step
from evcrisp.estimators.layers.layer_window import CELL_PX, N_SLICES
from evcrisp.tensors.cuda.kernels import Kernels, kernels_of, packed
from evcrisp.tensors.hashing import ranks_in_rows
from evcrisp.tensors.lazy import Tensor, torch
from evcrisp.tensors.rows import Rows


@dataclass(frozen=True, slots=True, eq=False)
class LayerBatch:
    """Events of windows; displacements are px per window, times windows since the middle."""

    rows: Rows
    x: Tensor  # (n,) float32, px of the rectangle
    y: Tensor
    tau: Tensor  # (n,) float32
    p: Tensor  # (n,) uint8
    cell: Tensor  # (n,) int32, cell of each event in its window
    supporting: Tensor  # (n,) bool
    rank: Tensor  # (n,) int64, numbers that choose some of the events
    sources: SourceOrder
    place: Tensor  # (n,) int64, of each event in the order of sources
    width: Tensor  # (b,) int64, px
    height: Tensor
    shape: Tensor  # (b, 3) int64, slices, rows and columns of cells
    n_cells: int  # most cells of a window
    share: Tensor  # (b,) float64, of the events of each window that are in it
    kernels: Kernels
    fits: Kernels

    @classmethod
    def of(
        cls, batch: WindowBatch, supporting: Tensor, n_events: int | None = None
    ) -> "LayerBatch":
        """Prepare about ``n_events`` per sensor of 346 x 260 px of each window, or all."""
        rows, dt = batch.rows, batch.points.dt
        if n_events is not None:
            columns = zip(rows.counts.tolist(), batch.sizes, strict=True)
            steps = [subsampling_step(n, size, n_events) for n, size in columns]
            step = torch.tensor(steps, device=dt.device)
            kept = _ranks(batch, rows, torch.arange(rows.size, device=dt.device)) < rows.spread(
                2**32 // step
            )
            part, index = rows.kept(kept | rows.spread(step < 2))
        else:
            part, index = rows, torch.arange(rows.size, device=dt.device)
        duration_s = batch.duration_s
        x, y, p = (column.index_select(0, index) for column in (batch.x, batch.y, batch.p))
        seconds = dt.index_select(0, index)
        tau = (seconds / part.spread(duration_s)).to(torch.float32)
        grid = SourceGrid.of(batch.width, batch.height)
        source = grid.of_pixels(part.row, x, y, p)
        sources = SourceOrder.of(source, tau, grid.size)
        place = torch.empty_like(sources.order)
        place[sources.order] = torch.arange(place.numel(), device=place.device)
        cell, shape = _cells(batch, part, x, y, seconds)
        kernels, fits = (kernels_of(name, dt.device) for name in ("layers.cu", "fits.cu"))
        assert kernels is not None
        assert fits is not None
        return cls(
            part, x.to(torch.float32), y.to(torch.float32), tau, p.to(torch.uint8), cell,
            supporting.index_select(0, index), _ranks(batch, part, index), sources, place, batch.width,
            batch.height, shape, int(shape.prod(1).max()), part.counts.double() / rows.counts.clamp(min=1),
            kernels, fits,
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def center(self) -> Tensor:
        """Middle of each rectangle, (b, 2), px."""
        return 0.5 * torch.stack((self.width - 1, self.height - 1), 1).to(torch.float64)

    def packed_events(self) -> tuple[Tensor, list[Tensor]]:
        """Return the events as kernels take them, and what must be kept until these have run."""
        sources = self.sources
        columns = [
            self.x, self.y, self.tau, self.p, self.supporting, sources.order, sources.number, sources.count,
            self.place,
        ]  # fmt: skip
        return packed(columns, self.x.device), columns


def has_layer_kernels(device: object) -> bool:
    """Return whether the search of layers can run on a device."""
    return kernels_of("layers.cu", device) is not None


def _ranks(batch: WindowBatch, rows: Rows, index: Tensor) -> Tensor:
    """Return numbers of chosen events; see `event_view.ranks_by_place`."""
    x, y, dt = (
        column.index_select(0, index).to(torch.float64)
        for column in (batch.x, batch.y, batch.points.dt)
    )
    center = [0.5 * (rows.min(column) + rows.max(column)) for column in (x, y, dt)]
    two = torch.full_like(center[0], 2.0)
    return ranks_in_rows(x, y, dt, rows, (center[0], center[1], center[2]), (two, two, 2e6))


def _cells(
    batch: WindowBatch, rows: Rows, x: Tensor, y: Tensor, seconds: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the cell of each event, and slices, rows and columns of each window."""
    length_us = torch.round(batch.duration_s * 1e6).to(torch.int64).clamp(min=1)
    start = (length_us // 2).to(torch.float64) / length_us.to(torch.float64)
    share = seconds / rows.spread(batch.duration_s) + rows.spread(start)
    # As `layer.slices_at`.
    slices = (share * N_SLICES + 1e-9).to(torch.int64).clamp(0, N_SLICES - 1)
    n_rows, n_columns = -(-batch.height // CELL_PX), -(-batch.width // CELL_PX)
    left = -((n_columns * CELL_PX - batch.width) // 2)
    top = -((n_rows * CELL_PX - batch.height) // 2)
    row, column = (y - rows.spread(top)) // CELL_PX, (x - rows.spread(left)) // CELL_PX
    cell = (slices * rows.spread(n_rows) + row) * rows.spread(n_columns) + column
    shape = torch.stack((torch.full_like(n_rows, N_SLICES), n_rows, n_columns), 1)
    return cell.to(torch.int32), shape
