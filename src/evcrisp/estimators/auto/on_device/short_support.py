"""Support from neighbors in space and time; see `estimators.auto.short_evidence`.

The latest event of a pixel before a reader, and the first one behind it, are found by binary searches
among the events sorted by source and time.
"""

from dataclasses import dataclass
from typing import NamedTuple

from evcrisp.estimators.auto.on_device.sources import SourceGrid, SourceOrder
from evcrisp.estimators.auto.short_evidence import NEAR_S, NEAR_SHARE
from evcrisp.tensors.cuda.kernels import Kernels, kernels_of
from evcrisp.tensors.lazy import Tensor, torch
from evcrisp.tensors.rows import Rows, row_keys

#: As in `kernels.auto.short_evidence`.
_BESIDE, _ACROSS, _BACK, _MAX_REACH = 66 * 26 / 120**2, 26 * 26 / 120**2, 16.0, 8.0
_NEVER = -1e6

_NEIGHBORS = [(dx, dy) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dx or dy]


class Readers(NamedTuple):
    """Points that read support; tensors of shape (m,)."""

    rows: Rows
    x: Tensor  # int64, px of the rectangle
    y: Tensor
    p: Tensor
    t: Tensor  # float32, in windows


class ShortSupport(NamedTuple):
    """Support by neighbors in space and time, in single precision."""

    support: Tensor  # (r, m) for each reach
    near: Tensor  # (m,) contrast of the neighbors at almost the same time
    n_near: Tensor  # (m,) their number


@dataclass(frozen=True, slots=True, eq=False)
class NeighborTimes:
    """Events that support others, sorted for searches forward and backward in time."""

    grid: SourceGrid
    source: Tensor  # (k,) int64, sorted
    t: Tensor  # (k,) float32, in windows
    event: Tensor  # (k,) int64, number of the event in the batch
    forward: Tensor  # (k,) int64, sorted keys of source and time
    backward: Tensor  # (k,) likewise, of the time as the backward pass rounds it
    first: Tensor | None = None  # (sources,) int32, first place of each source, or -1; for kernels

    @classmethod
    def of(
        cls, grid: SourceGrid, sources: SourceOrder, t: Tensor, supporting: Tensor
    ) -> "NeighborTimes":
        """Take the events that support others; ``sources`` and ``t``, (n,), are of all events."""
        source, event = sources.source, sources.order
        if not bool(supporting.all()):
            place = torch.nonzero(supporting.index_select(0, event)).reshape(-1)
            source, event = (column.index_select(0, place) for column in (source, event))
        t = t.index_select(0, event)
        kernels = kernels_of("labels.cu", source.device)
        if kernels is not None:
            n, none = source.numel(), torch.empty_like(source[:0])
            first = torch.full((grid.size,), -1, dtype=torch.int32, device=source.device)
            kernels.launch_each("first_of_sources", n, source, n, first)
            return cls(grid, source, t, event, none, none, first)
        return cls(grid, source, t, event, row_keys(t, source), row_keys(t - _BACK, source))

    def read(
        self, readers: Readers, reach: Tensor, near: Tensor, first: Tensor, last: Tensor
    ) -> ShortSupport:
        """Return the support of readers, which fades over each ``reach``, (b, r), in windows.

        Events before number ``first``, and from ``last`` on, both (b,), are as if they were not there.
        ``near``, (b,), is almost the same time.
        """
        rows = readers.rows
        rate = [rows.spread((1.0 / column).to(torch.float32)) for column in reach.unbind(1)]
        near_t = rows.spread(near.to(torch.float32))
        kernels = kernels_of("labels.cu", reach.device)
        if kernels is not None and self.first is not None:
            return self._read_by(
                kernels, readers, (1.0 / reach).to(torch.float32), near, first, last
            )
        limits = rows.spread(first), rows.spread(last)
        zero = torch.zeros_like(readers.t)
        support, contrast, number = [zero.clone() for _ in rate], zero.clone(), zero.clone()
        for dx, dy in _NEIGHBORS:
            source = self.grid.of_pixels(rows.row, readers.x + dx, readers.y + dy, readers.p)
            for now, latest in self._latest(source, readers.t, limits):
                for out, per in zip(support, rate, strict=True):
                    out += (1.0 - (now - latest) * per).clamp(min=0.0)
                is_near = (latest > now - near_t).to(torch.float32)
                contrast += is_near * (_ACROSS if dx and dy else _BESIDE)
                number += is_near
        return ShortSupport(torch.stack(support), contrast, number)

    def _read_by(
        self, kernels: Kernels, readers: Readers, rate: Tensor, near: Tensor, first: Tensor, last: Tensor
    ) -> ShortSupport:  # fmt: skip
        """Return the support of readers by a kernel."""
        n, n_reaches = readers.t.numel(), rate.shape[1]
        support = torch.zeros((n_reaches, n), dtype=torch.float32, device=rate.device)
        contrast, number = torch.empty_like(readers.t), torch.empty_like(readers.t)
        grid = self.grid
        kernels.launch_each(
            "neighbor_support", n, readers.rows.row, readers.x, readers.y, readers.p, readers.t, n,
            grid.start, grid.width, grid.height, self.first, self.source, self.t, self.event,
            self.source.numel(), rate.contiguous(), n_reaches, near.to(torch.float32), first, last,
            support, contrast, number,
        )  # fmt: skip
        return ShortSupport(support, contrast, number)

    def _latest(
        self, source: Tensor, t: Tensor, limits: tuple[Tensor, Tensor]
    ) -> list[tuple[Tensor, Tensor]]:
        """Return the time of readers, and that of the latest event of a source; for each direction.

        Times count backwards in the second direction, from 16 windows, and round as in its pass.
        """
        before = torch.searchsorted(self.forward, row_keys(t, source), right=True) - 1
        after = torch.searchsorted(self.backward, row_keys(t - _BACK, source), right=True)
        n, found = self.source.numel(), []
        for place, now, times in ((before, t, self.t), (after, _BACK - t, _BACK - self.t)):
            latest = torch.full_like(t, _NEVER)
            if n:
                at = place.clamp(0, n - 1)
                event = self.event.index_select(0, at)
                there = (place >= 0) & (place < n) & (self.source.index_select(0, at) == source)
                there &= (event >= limits[0]) & (event < limits[1])
                latest = torch.where(there, times.index_select(0, at), latest)
            found.append((now, latest))
        return found


def near_times(duration_s: Tensor) -> Tensor:
    """Return the time within which the events of a cluster of noise lie, in windows, (b,)."""
    return (NEAR_S / duration_s).clamp(max=NEAR_SHARE)


def reaches(reaches_s: tuple[float, ...], duration_s: Tensor) -> Tensor:
    """Return times over which support fades, in windows, (b, r)."""
    times = torch.tensor(reaches_s, dtype=torch.float64, device=duration_s.device)
    return (times / duration_s[:, None]).clamp(max=_MAX_REACH)
