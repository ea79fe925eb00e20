"""Competition of motions for the cells of many windows; see `estimators.layers.competition`."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from evcrisp.estimators.layers.competition import (
    AGREEMENT,
    BLUR_SUM,
    FIRST_SWEEPS,
    N_SWEEPS,
    REACH_PX,
    STRONG_PX,
    SUPPORT_SCALE,
    SURROUNDINGS_PX,
)
from evcrisp.estimators.layers.on_device.layer_batch import LayerBatch
from evcrisp.tensors.cuda.kernels import packed
from evcrisp.tensors.lazy import Tensor, torch
from evcrisp.tensors.maps import parts_that_fit
from evcrisp.tensors.rows import Rows
from evcrisp.tensors.scatter import WEIGHT_SCALE

#: Pixels of the maps that are built at a time.
_MAP_PIXELS = 1 << 28

#: Sums over cells in fixed point: units of 1, and threads of a block.
_UNIT, _THREADS = 2.0**30, 256

#: The table of `kernels.layers.cells`: log(1 + z) at z = i / 64, up to 64.
_TABLE_STEPS, _TABLE_END = 64, 64


@dataclass(frozen=True, slots=True, eq=False)
class BatchMotions:
    """Motions of windows, those of a window one after the other."""

    rows: Rows  # a row for each window
    values: Tensor  # (k, 8) float64, see `estimators.layers.fitting`

    @classmethod
    def of(cls, window: Tensor, values: Tensor, n_windows: int) -> "BatchMotions":
        """Return motions of given windows, (k,), in their order within each window."""
        order = torch.sort(window, stable=True).indices
        counts = torch.bincount(window, minlength=n_windows)
        return cls(Rows.of_counts(counts, window.numel()), values.index_select(0, order))

    def __len__(self) -> int:
        return self.values.shape[0]


@dataclass(frozen=True, slots=True, eq=False)
class BatchGains:
    """Support of events and gain of cells under the motions of their windows."""

    start: Tensor  # (k,) int64, first place of the support under each motion
    support: Tensor  # flat, float32
    gain: Tensor  # (k, n_cells) float32


@dataclass(frozen=True, slots=True, eq=False)
class BatchCompetition:
    """Motions that remain in each window, and the cells of each."""

    motions: BatchMotions
    gains: BatchGains
    label: Tensor  # (b, n_cells) int64, motion of every cell, from 0 in each window

    def of_events(self, batch: LayerBatch) -> Tensor:
        """Return the motion of the cell of every event, (n,)."""
        return self.label[batch.rows.row, batch.cell.to(torch.int64)]

    def own_support(self, batch: LayerBatch, layer: Tensor) -> Tensor:
        """Return the support of every event under its own motion, given `of_events`, (n,)."""
        motion = batch.rows.spread(self.motions.rows.starts) + layer
        at = self.gains.start.index_select(0, motion) + batch.rows.position()
        return self.gains.support.index_select(0, at)


def compete(
    batch: LayerBatch, motions: BatchMotions, cost: float, deterministic: bool = False
) -> BatchCompetition:
    """Let the motions of each window compete for its cells."""
    gains = gains_of_motions(batch, motions, deterministic)
    needed = cost * BLUR_SUM * batch.share
    moved_px = torch.linalg.vector_norm(motions.values[:, 2:6], dim=1) * SURROUNDINGS_PX
    handicap = motions.rows.spread(needed) * (moved_px / STRONG_PX).clamp(max=1.0)
    is_used, label = choose_motions(batch, motions, gains.gain, needed, handicap)
    n_before = torch.cumsum(is_used, 0) - motions.rows.spread(
        torch.cumsum(motions.rows.sum(is_used).to(torch.int64), 0)
        - motions.rows.sum(is_used).to(torch.int64)
    )
    number = n_before - 1
    at = motions.rows.starts[:, None] + label
    rows, kept = motions.rows.kept(is_used)
    left = BatchMotions(rows, motions.values.index_select(0, kept))
    start = gains.start.index_select(0, kept)
    gains = BatchGains(start, gains.support, gains.gain[:0])
    return BatchCompetition(left, gains, number[at])


def gains_of_motions(
    batch: LayerBatch, motions: BatchMotions, deterministic: bool = False
) -> BatchGains:
    """Return the support of every event, and the gain of every cell, under the motions of its window."""
    window, device = motions.rows.row, batch.x.device
    n_events = batch.rows.counts.index_select(0, window)
    start = torch.cumsum(n_events, 0) - n_events
    support = torch.empty(int(n_events.sum()), dtype=torch.float32, device=device)
    padding = paddings(motions, batch)
    wide = batch.width.index_select(0, window) + 2 * padding
    high = batch.height.index_select(0, window) + 2 * padding
    pixels = 2 * wide * high
    sums = torch.zeros((len(motions), batch.n_cells), dtype=torch.int64, device=device)
    scale = SUPPORT_SCALE * batch.share
    events, kept = batch.packed_events()
    table = _log_table(device)
    for part in parts_that_fit(pixels.tolist(), _MAP_PIXELS):
        chosen = slice(*part)
        size = pixels[chosen]
        map_start = torch.cumsum(size, 0) - size
        of_pair = [
            window[chosen], batch.rows.starts.index_select(0, window[chosen]), n_events[chosen], start[chosen],
            padding[chosen], map_start, batch.width, batch.height, motions.values[chosen].contiguous(),
        ]  # fmt: skip
        of_pair = [column.contiguous() for column in of_pair]
        pairs = packed(of_pair, device)
        kind = torch.int64 if deterministic else torch.float32
        image = torch.zeros(int(size.sum()), dtype=kind, device=device)
        targets = (None, image) if deterministic else (image, None)
        n_pairs = part[1] - part[0]
        batch.kernels.launch(
            "vote_by_motions", n_pairs, _THREADS, 0, events, pairs, WEIGHT_SCALE, *targets
        )
        if deterministic:
            image = (image.to(torch.float64) / WEIGHT_SCALE).to(torch.float32)
        batch.kernels.launch(
            "support_by_motions", n_pairs, _THREADS, 0, events, pairs, image, batch.cell, table, scale,
            _UNIT, support, sums[chosen], batch.n_cells,
        )  # fmt: skip
    gain = torch.empty((len(motions), batch.n_cells), dtype=torch.float32, device=device)
    n = len(motions)
    batch.kernels.launch_each(
        "blur_cells", gain.numel(), sums, window, batch.shape, n, batch.n_cells, _UNIT, gain
    )
    del kept
    return BatchGains(start, support, gain)


def choose_motions(
    batch: LayerBatch, motions: BatchMotions, gain: Tensor, cost: Tensor, handicap: Tensor
) -> tuple[Tensor, Tensor]:
    """Return which motions remain, (k,) bool, and the motion of every cell, (b, n_cells) int64."""
    b, device = len(batch), gain.device
    used = torch.empty(len(motions), dtype=torch.bool, device=device)
    label = torch.zeros((b, batch.n_cells), dtype=torch.int16, device=device)
    room = torch.empty(b * batch.n_cells * 12, dtype=torch.uint8, device=device)
    batch.kernels.launch(
        "choose_motions", b, 128, 0, gain, motions.rows.starts, motions.rows.counts, batch.shape, cost,
        handicap, float(AGREEMENT), FIRST_SWEEPS, N_SWEEPS, batch.n_cells, used, label, room,
    )  # fmt: skip
    return used, label.to(torch.int64)


def paddings(motions: BatchMotions, batch: LayerBatch) -> Tensor:
    """Return the padding that contains all positions during a window, (k,) int64, px."""
    m, window = motions.values, motions.rows.row
    right = (batch.width - 1).index_select(0, window).to(torch.float64)
    bottom = (batch.height - 1).index_select(0, window).to(torch.float64)
    largest = torch.maximum(right, bottom) + 1.0
    outside = torch.zeros_like(right)
    # A position is linear in x, in y and in time: the extremes are at corners.
    for corner in range(8):
        x, y = right * (corner & 1), bottom * ((corner >> 1) & 1)
        tau = 0.5 if corner & 4 else -0.5
        a, b = x - m[:, 6], y - m[:, 7]
        u = x - tau * (m[:, 0] + m[:, 2] * a + m[:, 3] * b)
        v = y - tau * (m[:, 1] + m[:, 4] * a + m[:, 5] * b)
        beyond = torch.maximum(torch.maximum(-u, u - right), torch.maximum(-v, v - bottom))
        # Positions that are no numbers get the largest padding.
        outside = torch.where(beyond <= outside, outside, beyond)
    outside = torch.where(outside < largest, outside, largest)
    return outside.to(torch.int64) + 1 + REACH_PX


@lru_cache(maxsize=4)
def _log_table(device: Any) -> Tensor:
    steps = np.arange(_TABLE_STEPS * _TABLE_END + 1) / _TABLE_STEPS
    return torch.from_numpy(np.log1p(steps).astype(np.float32)).to(device)
