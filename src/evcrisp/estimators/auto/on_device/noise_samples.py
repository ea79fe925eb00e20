"""Noise samples of many windows; see `estimators.auto.noise_model` and `estimators.auto.live_area`."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from evcrisp.core.live_area import STRAY_SHARE, Box
from evcrisp.estimators.auto.live_area import area_of_samples
from evcrisp.estimators.auto.noise_model import n_noise_samples_for, uniform_noise_samples
from evcrisp.estimators.auto.on_device.window_batch import WindowBatch
from evcrisp.tensors.cuda.kernels import kernels_of
from evcrisp.tensors.lazy import Tensor, torch
from evcrisp.tensors.rows import Rows


@dataclass(frozen=True, slots=True, eq=False)
class BatchSamples:
    """Noise samples; tensors of shape (m,), in rows of windows, OFF before ON."""

    rows: Rows
    x: Tensor  # int64, px of the rectangle
    y: Tensor
    t: Tensor  # float32, -0.5 to 0.5, in windows
    p: Tensor  # int64
    group: Tensor  # int64

    @classmethod
    def of(cls, batch: WindowBatch, live: Tensor) -> "BatchSamples":
        """Return the samples of the live areas, (b, 4): left, top, width and height, px."""
        counts = batch.rows.counts.tolist()
        kinds: dict[tuple[tuple[int, int], int], int] = {}
        known: dict[tuple[int, ...], tuple[int, tuple[int, int]]] = {}
        number, corners = [], []
        for box, n_events in zip(map(tuple, live.tolist()), counts, strict=True):
            key = *box, n_noise_samples_for(n_events)
            if key not in known:
                area = area_of_samples(Box(*box))
                kind = area.resolution, key[-1]
                known[key] = kinds.setdefault(kind, len(kinds)), area[:2]
            number.append(known[key][0])
            corners.append(known[key][1])
        device = live.device
        tables = [_table(*kind, str(device)) for kind in kinds]
        sizes = [table[0].numel() for table in tables]
        starts = np.cumsum([0, *sizes[:-1]])
        rows = Rows.of_lengths([sizes[k] for k in number], device)
        first = torch.tensor([int(starts[k]) for k in number], device=device)
        at = rows.spread(first) + rows.position()
        x, y, t, p, group = (torch.cat(parts)[at] for parts in zip(*tables, strict=True))
        left, top = torch.tensor(corners, device=device).unbind(1)
        return cls(rows, x + rows.spread(left), y + rows.spread(top), t, p, group)

    def taken(self, chosen: Tensor) -> "BatchSamples":
        """Return the samples of some of the windows, by number."""
        rows, index = self.rows.taken(chosen)
        columns = self.x, self.y, self.t, self.p, self.group
        return BatchSamples(rows, *(column.index_select(0, index) for column in columns))


def live_areas(batch: WindowBatch) -> Tensor:
    """Return left, top, width and height of the events of each window but for a few strays, (b, 4)."""
    n_stray = torch.floor(STRAY_SHARE * batch.rows.counts.double())
    ends = []
    for position, size in ((batch.x, batch.width), (batch.y, batch.height)):
        most = int(size.max())
        counts = _counts_at(position, batch.rows, most)
        first = (counts.cumsum(1) <= n_stray[:, None]).sum(1)
        last = most - (counts.flip(1).cumsum(1) <= n_stray[:, None]).sum(1)
        ends.append((first, last - first))
    (left, width), (top, height) = ends
    return torch.stack((left, top, width, height), 1)


def _counts_at(position: Tensor, rows: Rows, most: int) -> Tensor:
    """Count the events of each window at positions below ``most``, (b, most)."""
    kernels = kernels_of("windows.cu", position.device)
    if kernels is None or 4 * most > kernels.shared_bytes:
        place = rows.row * most + position
        counts = torch.zeros(len(rows) * most, dtype=torch.int64, device=place.device)
        return counts.index_add_(0, place, torch.ones_like(place)).reshape(-1, most)
    out = torch.empty((len(rows), most), dtype=torch.int32, device=position.device)
    columns = position.contiguous(), rows.starts, rows.counts
    kernels.launch("count_places", len(rows), 256, 4 * most, *columns, most, out)
    return out


@lru_cache(maxsize=64)
def _table(resolution: tuple[int, int], n: int, device: str) -> tuple[Any, ...]:
    """Return x, y, t, p and group of the samples of an area, on a device."""
    samples = uniform_noise_samples(resolution, n)
    kinds = np.int64, np.int64, np.float32, np.int64, np.int64
    columns = samples.x, samples.y, samples.t, samples.p, samples.group
    return tuple(
        torch.from_numpy(column.astype(kind)).to(device)
        for column, kind in zip(columns, kinds, strict=True)
    )
