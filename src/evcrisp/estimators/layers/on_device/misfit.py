"""What translations leave unexplained in many windows; see `estimators.layers.misfit`."""

from dataclasses import dataclass
from typing import NamedTuple

from evcrisp.estimators.auto.on_device.auto_batch import BatchResult
from evcrisp.estimators.auto.on_device.window_batch import WindowBatch
from evcrisp.estimators.layers.layer_window import MARGIN_PX
from evcrisp.estimators.layers.misfit import (
    COUNT_PX,
    LEAST_IN_SPOT,
    LEAST_SHARE,
    LOCAL_PX,
    MAX_EVENTS,
    OFF_PX,
    SPOT_SIGNAL,
    USUAL_SHARE,
    Misfit,
    events_for,
)
from evcrisp.tensors import spline
from evcrisp.tensors.hashing import ranks_in_rows
from evcrisp.tensors.lazy import Tensor, torch
from evcrisp.tensors.rows import Rows
from evcrisp.tensors.scatter import Scatter

#: Pixels of the sensor per pixel of the map.
_SCALE = 2.0


class Parts(NamedTuple):
    """Square parts that cover the view of each window; see `layer_window.Parts`."""

    rows: Tensor  # (b,) int64
    columns: Tensor
    side: int  # px
    left: Tensor  # (b,) of the first part, px
    top: Tensor

    @classmethod
    def of(cls, batch: WindowBatch, side: int) -> "Parts":
        """Return the parts of the views, given their side, px."""
        columns, rows = (-(-size // side) for size in (batch.width, batch.height))
        left, top = (
            0.5 * (size - n * side).to(torch.float64)
            for size, n in ((batch.width, columns), (batch.height, rows))
        )
        return cls(rows, columns, side, left, top)

    @property
    def most(self) -> tuple[int, int]:
        """Most rows and columns of a window."""
        return int(self.rows.max()), int(self.columns.max())

    def present(self) -> Tensor:
        """Return which of the most rows and columns a window has, (b, rows, columns) bool."""
        rows, columns = self.most
        row = torch.arange(rows, device=self.rows.device)
        column = torch.arange(columns, device=self.rows.device)
        return (row[:, None] < self.rows[:, None, None]) & (column < self.columns[:, None, None])


def misfits_of(found: BatchResult, scatter: Scatter) -> list[Misfit]:
    """Return the misfit of the translation of each window; the labels are those by the motion."""
    batch, signal = found.batch, found.by_motion.signal
    n_signal = batch.rows.sum(signal)
    counts = _Counts.of(batch, signal)
    share = misaligned_shares(batch, found.motions.theta, signal, scatter)
    columns = zip(
        (counts.unexplained() / n_signal.clamp(min=1.0)).tolist(), share.tolist(),
        counts.spot().tolist(), n_signal.tolist(), strict=True,
    )  # fmt: skip
    return [Misfit(*numbers) if n else Misfit(0.0, 0.0) for *numbers, n in columns]


@dataclass(frozen=True, slots=True, eq=False)
class _Counts:
    """Events in cells; tensors have shape (b, rows, columns), 0 beyond the cells of a window."""

    beyond: Tensor  # without support, beyond noise
    signal: Tensor
    present: Tensor  # bool
    quiet: Tensor  # (b,) noise per cell

    @classmethod
    def of(cls, batch: WindowBatch, signal: Tensor) -> "_Counts":
        parts, row = Parts.of(batch, COUNT_PX), batch.rows
        rows, columns = parts.most
        # Whole pixels: of an odd number of lines, one more is at the upper left.
        x, y = (
            (at + row.spread(-torch.floor(start).to(torch.int64))) // COUNT_PX
            for at, start in ((batch.x, parts.left), (batch.y, parts.top))
        )
        cell = (row.row * rows + y) * columns + x
        size = len(batch) * rows * columns
        # Whole numbers: exact in any order.
        all_events = torch.bincount(cell, minlength=size).to(torch.float64)
        with_support = torch.bincount(cell[signal], minlength=size).to(torch.float64)
        present = parts.present()
        without = (all_events - with_support).reshape(present.shape)
        n_cells = parts.rows * parts.columns
        half = (n_cells // 2).clamp(min=1)
        ordered = torch.where(present, without, torch.inf).flatten(1).sort(1).values
        lower = torch.arange(ordered.shape[1], device=half.device) < half[:, None]
        quiet = 1.1 * (torch.where(lower, ordered, 0.0).sum(1) / half)
        beyond = torch.where(present, without - quiet[:, None, None], 0.0)
        return cls(beyond, with_support.reshape(present.shape), present, quiet)

    def unexplained(self) -> Tensor:
        """Return the events without support where noise is not so dense, (b,)."""
        quiet = self.quiet[:, None, None]
        return (self.beyond - 3.0 * torch.sqrt(quiet + 1.0)).clamp(min=0.0).sum((1, 2))

    def spot(self) -> Tensor:
        """Return by how many standard deviations such events stand out in one spot, (b,)."""
        present = self.present.to(torch.float64)
        beyond, signal, size = map(_around, (self.beyond, self.signal, present))
        has_signal = (signal > SPOT_SIGNAL) & self.present
        shares = torch.where(has_signal, beyond / signal.clamp(min=1.0), torch.inf)
        usual = _median(shares.flatten(1), has_signal.sum((1, 2)))
        usual = usual.clamp(min=USUAL_SHARE)[:, None, None]
        more = beyond - usual * signal
        noise = torch.sqrt(self.quiet[:, None, None] * size + usual * signal + 1.0)
        share = beyond / (beyond + signal).clamp(min=1.0)
        is_object = (more >= LEAST_IN_SPOT) & (share > LEAST_SHARE) & self.present
        return torch.where(is_object, more / noise, 0.0).amax((1, 2)).clamp(min=0.0)


def misaligned_shares(
    batch: WindowBatch, theta: Tensor, signal: Tensor, scatter: Scatter
) -> Tensor:
    """Return the share of the signal in cells that another displacement would sharpen, (b,)."""
    rows, kept = batch.rows.kept(_compared(batch, signal))
    parts = Parts.of(batch, LOCAL_PX)
    moved = rows.spread(theta) * batch.points.dt.index_select(0, kept)[:, None]
    x, y = (
        column.index_select(0, kept).to(torch.float64) - moved[:, k] - rows.spread(start)
        for k, (column, start) in enumerate(((batch.x, parts.left), (batch.y, parts.top)))
    )
    tau = batch.points.dt.index_select(0, kept) / rows.spread(batch.duration_s.clamp(min=1e-6))
    events = _Events(rows, x, y, tau.to(torch.float32), batch.p.index_select(0, kept))
    pull, tensor, count = local_terms(events, parts, scatter)
    n_cells = (parts.rows * parts.columns).to(torch.float64)
    mean = (tensor[..., 0] + tensor[..., 2]).sum((1, 2)) / n_cells
    # As in `misfit.misaligned_share`: along an edge, which any displacement keeps sharp, a step means
    # nothing.
    floor = (0.02 * mean + 1e-3)[:, None, None]
    xx, xy, yy = tensor[..., 0] + floor, tensor[..., 1], tensor[..., 2] + floor
    across, down = pull[..., 0], pull[..., 1]
    gain = (yy * across**2 - 2.0 * xy * across * down + xx * down**2) / (xx * yy - xy * xy)
    is_off = gain > OFF_PX**2 * 0.5 * (xx + yy)
    total = count.sum((1, 2)).clamp(min=1.0)
    return torch.where(is_off, count, 0.0).sum((1, 2)) / total


class _Events(NamedTuple):
    """Aligned events of windows; tensors of shape (n,)."""

    rows: Rows
    x: Tensor  # float64, px from the first part
    y: Tensor
    tau: Tensor  # float32, windows
    p: Tensor  # int64


def local_terms(events: _Events, parts: Parts, scatter: Scatter) -> tuple[Tensor, Tensor, Tensor]:
    """Return gradient, (b, r, c, 2), minus curvature, (b, r, c, 3), and events of each part, (b, r, c).

    Double precision; see `kernels.layers.local_misfit.local_terms`.
    """
    rows, (n_rows, n_columns), side = events.rows, parts.most, parts.side
    start, gain = MARGIN_PX / _SCALE + 1.5, 1.0 / _SCALE
    high, wide = (
        ((n * side + 2.0 * MARGIN_PX) / _SCALE).to(torch.int64) + 4
        for n in (parts.rows, parts.columns)
    )
    # Maps of equal size, so that they can be summed along lines; each window uses its own part.
    most_high, most_wide = int(high.max()), int(wide.max())
    u, v = events.x * gain + start, events.y * gain + start
    inside = (u < rows.spread(wide) - 1.5) & (v < rows.spread(high) - 1.5)
    across = torch.full_like(events.p, most_wide)
    plane = (rows.row * 2 + events.p) * (most_high * most_wide)
    places = spline.locate(
        torch.where(inside, u, -1.0), v, across, torch.full_like(across, most_high), plane,
        torch.float32,
    )  # fmt: skip
    image = spline.accumulate(places, len(rows) * 2 * most_high * most_wide, scatter)
    along_x, along_y = spline.slopes(image, places)
    column, row = ((at.clamp(min=0.0) / side).to(torch.int64) for at in (events.x, events.y))
    counts = places.inside & (row < rows.spread(parts.rows)) & (column < rows.spread(parts.columns))
    cell = (rows.row * n_rows + row) * n_columns + column
    cell, shape = torch.where(counts, cell, 0), (len(rows), n_rows, n_columns)
    factor = torch.where(counts, -2.0 * gain * events.tau.to(torch.float64), 0.0)
    size = len(rows) * n_rows * n_columns
    pull = [scatter.sums(cell, factor * slope, size).reshape(shape) for slope in (along_x, along_y)]
    count = torch.bincount(cell[counts], minlength=size).to(torch.float64).reshape(shape)
    tensor = _curvature(image.reshape(len(rows), 2, most_high, most_wide), parts, start)
    return torch.stack(pull, 3), tensor, count


def _curvature(image: Tensor, parts: Parts, start: float) -> Tensor:
    """Return minus the curvature xx, xy, yy of each part, (b, rows, columns, 3)."""
    n_rows, n_columns = parts.most
    across = 0.5 * (image[:, :, 1:-1, 2:] - image[:, :, 1:-1, :-2])
    down = 0.5 * (image[:, :, 2:, 1:-1] - image[:, :, :-2, 1:-1])
    of_row = _membership(image.shape[2], n_rows, parts.side, start, image)
    of_column = _membership(image.shape[3], n_columns, parts.side, start, image)
    present = parts.present()
    # Times spread evenly over the window have a variance of 1/12.
    factor = 2.0 / (_SCALE * _SCALE) / 12.0
    sums = []
    for one, other in ((across, across), (across, down), (down, down)):
        lines = (one * other).sum(1) @ of_column
        cells = of_row.T.to(torch.float64) @ lines.to(torch.float64)
        sums.append(torch.where(present, factor * cells, 0.0))
    return torch.stack(sums, 3)


def _membership(n_pixels: int, n_parts: int, side: int, start: float, like: Tensor) -> Tensor:
    """Return which pixels, but the first and last, lie in which part, (n_pixels - 2, n_parts)."""
    pixel = torch.arange(1, n_pixels - 1, device=like.device).to(torch.float64)
    part = (((pixel - start) * _SCALE).clamp(min=0.0) / side).to(torch.int64)
    return (part[:, None] == torch.arange(n_parts, device=like.device)).to(like.dtype)


def _compared(batch: WindowBatch, signal: Tensor) -> Tensor:
    """Return which signal events are compared, (n,) bool; see `event_view.some_events`."""
    rows, kept = batch.rows.kept(signal)
    most = [events_for(size, MAX_EVENTS) for size in batch.sizes]
    interval = -(-rows.counts // torch.tensor(most, device=rows.counts.device))
    if not bool((interval >= 2).any()):
        return signal
    x, y, dt = (
        column.index_select(0, kept).to(torch.float64)
        for column in (batch.x, batch.y, batch.points.dt)
    )
    center = [0.5 * (rows.min(column) + rows.max(column)) for column in (x, y, dt)]
    center = [torch.where(rows.counts > 0, middle, 0.0) for middle in center]
    two = torch.full_like(center[0], 2.0)
    rank = ranks_in_rows(x, y, dt, rows, (center[0], center[1], center[2]), (two, two, 2e6))
    few = rows.spread(interval < 2)
    chosen = few | (rank < rows.spread(2**32 // interval.clamp(min=1)))
    out = torch.zeros_like(signal)
    out[kept[chosen]] = True
    return out


def _median(values: Tensor, counts: Tensor) -> Tensor:
    """Return the median of the finite values of each row, (b, k), of which there are ``counts``; else 0."""
    ordered = values.sort(1).values
    middle = [((counts - k) // 2).clamp(0, values.shape[1] - 1)[:, None] for k in (1, 0)]
    low, high = (ordered.gather(1, at)[:, 0] for at in middle)
    return torch.where(counts > 0, 0.5 * (low + high), 0.0)


def _around(cells: Tensor) -> Tensor:
    """Return sums over 3 x 3 cells around each cell, (b, rows, columns)."""
    padded = torch.nn.functional.pad(cells, (1, 1, 1, 1))
    rows = padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:]
    return rows[:, :, :-2] + rows[:, :, 1:-1] + rows[:, :, 2:]
