"""Values and ascents of a level by CUDA kernels, one block of threads per window.

The twin are the operations of `search.on_device.level` and `tensors.ascent`: same steps, same tests.
Maps have whole numbers in fixed point, so that results are the same from run to run.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evcrisp.search.curvature import (
    ISOLATED_ENERGY,
    ISOLATED_SHARE,
    MIN_RELATIVE,
    MIN_TYPICAL,
    SLOPE_FACTOR,
    TYPICAL_CURVATURE,
)
from evcrisp.search.on_device.curvature import Tiles, tiles_of
from evcrisp.tensors.ascent import Ascents
from evcrisp.tensors.cuda.kernels import Kernels, kernels_of, packed
from evcrisp.tensors.lazy import Tensor, torch
from evcrisp.tensors.maps import MapLayout

if TYPE_CHECKING:
    from evcrisp.search.on_device.level import Level

#: Bytes of shared memory beside the map, as `tensors/cuda/search.cu` lays it out.
_STATE_BYTES, _ROOM_BYTES, _VALUE_BYTES = 1536, 32 * 8 * 38, 64 * 8

#: Blocks with small maps have fewer threads, so that more of them run at once.
_SMALL_MAP, _FEW_THREADS, _MANY_THREADS = 32 * 1024, 256, 512


def search_kernels(level: "Level") -> Kernels | None:
    """Return the kernels of the motion model of a level, or None for torch operations."""
    model, n_params = level.problem.model.kernel_name, level.problem.frames.rates.shape[1]
    device = level.scale.device
    return kernels_of("search.cu", device, MODEL=model.capitalize(), M=str(n_params))


@dataclass(frozen=True, slots=True, eq=False)
class BlockSearch:
    """A level whose windows are searched by kernels."""

    level: "Level"
    kernels: Kernels

    def values(self, trials: Tensor) -> Tensor:
        """Return the objective at trials, (b, k, m), without a border correction; (b, k)."""
        b, k, _ = trials.shape
        zero = torch.zeros(b, dtype=torch.float64, device=trials.device)
        out = torch.empty((b, k), dtype=torch.float64, device=trials.device)
        trials = trials.contiguous()
        most = int(4 * (self.level.layout.width * self.level.layout.height).max())
        fits = most + _VALUE_BYTES <= self.kernels.shared_bytes
        scratch = None if fits else (k, most // 4)
        problem, kept = self._problem(zero, zero, zero, _no_tiles(self.level), scratch)
        shared = _VALUE_BYTES + (most if fits else 0)
        threads = _FEW_THREADS if most <= _SMALL_MAP else _MANY_THREADS
        self.kernels.launch("contrast_values", b * k, threads, shared, problem, trials, k, out)
        del kept
        return out

    def ascend(
        self, start: Tensor, near: Tensor | None, least: Tensor, tol_step: Tensor, max_step: Tensor
    ) -> Ascents:
        """Maximize from ``start``, (b, m).

        ``near``, (b, m, m), is the inverse curvature where it is known, else NaN; ``least`` bounds
        that of the others, as in `search.curvature`.
        """
        b, m = start.shape
        layout, device = self.level.layout, start.device
        most = int(4 * (layout.width * layout.height).max())
        beside = _STATE_BYTES + _ROOM_BYTES
        fits = most + beside <= self.kernels.shared_bytes
        scratch = None if fits else (1, most // 4)
        problem, kept = self._problem(tol_step, max_step, least, tiles_of(self.level), scratch)
        theta = start.to(torch.float64).clone().contiguous()
        near = None if near is None else near.contiguous()
        value, gradient = torch.empty_like(theta[:, 0]), torch.empty_like(theta)
        matrix = torch.empty((b, m, m), dtype=torch.float64, device=device)
        n_eval, status = (torch.empty(b, dtype=torch.int64, device=device) for _ in range(2))
        factors = torch.tensor(
            (TYPICAL_CURVATURE, MIN_RELATIVE, MIN_TYPICAL, SLOPE_FACTOR, ISOLATED_ENERGY, ISOLATED_SHARE),
            dtype=torch.float64, device=device,
        )  # fmt: skip
        threads = _FEW_THREADS if most <= _SMALL_MAP else _MANY_THREADS
        self.kernels.launch(
            "ascend", b, threads, beside + (most if fits else 0), problem, near, factors, theta, value,
            gradient, matrix, n_eval, status,
        )  # fmt: skip
        del kept
        return Ascents(theta, value, gradient, matrix, n_eval, status)

    def _problem(
        self, tol_step: Tensor, max_step: Tensor, least: Tensor, tiles: Tiles,
        scratch: tuple[int, int] | None,
    ) -> tuple[Tensor, list[Any]]:  # fmt: skip
        """Return the structure `Problem` of the kernels, and what it points to.

        ``scratch`` are the maps of a window in global memory, and pixels of each.
        """
        level = self.level
        problem, points, layout = level.problem, level.points, level.layout
        frames, model, rows = problem.frames, problem.model, points.rows
        b, m = frames.rates.shape[:2]
        device = frames.rates.device
        bias_rows = torch.zeros((b, 0, m), dtype=torch.float64, device=device)
        bias_rate = soft = torch.zeros((b, 0), dtype=torch.float64, device=device)
        if level.bias is not None:
            bias_rows, bias_rate, soft = level.bias.rows, level.bias.loss_per_px, level.bias.soft_px
        else:
            soft = torch.ones(b, dtype=torch.float64, device=device)
        numbers = torch.stack(
            [c.to(torch.float64) for c in (*level.shift, problem.span_s, tol_step, max_step, least, frames.penalty_free_px, soft)], 1
        )  # fmt: skip
        n_maps, pixels = scratch or (0, 0)
        # Trials of a window follow each other: all maps have one size.
        starts = (
            torch.arange(b, device=device) * pixels
            if n_maps == 1
            else torch.full_like(rows.starts, pixels)
        )
        whole = torch.stack(
            (rows.starts, rows.counts, layout.width, layout.height, level.scale, tiles.side, *tiles.lead,
             tiles.layout.width, tiles.layout.starts, starts), 1
        )  # fmt: skip
        maps = None
        if scratch:
            maps = torch.empty(b * n_maps * pixels, dtype=torch.int32, device=device)
        along = torch.stack((tiles.along_x, tiles.along_y), 1)
        penalty_rows = frames.penalty_rows
        pointers = [
            points.x, points.y, points.dt, model.constants, frames.inverse_rates, penalty_rows,
            bias_rows, bias_rate, along, numbers, whole,
        ]  # fmt: skip
        pointers = [tensor.contiguous() for tensor in pointers]
        fields = [
            *pointers, maps, float(frames.penalty_bound), model.n_fixed, model.constants.shape[1],
            penalty_rows.shape[1], bias_rows.shape[1], int(model.can_collapse),
        ]  # fmt: skip
        return packed(fields, device), [pointers, maps]


def _no_tiles(level: "Level") -> Tiles:
    """Return tiles without displacements, where no curvature is computed."""
    zero, none = torch.zeros_like(level.scale), level.problem.frames.rates[:0, 0]
    return Tiles(zero, (zero, zero), MapLayout(zero, zero, zero, 0), none, none)
