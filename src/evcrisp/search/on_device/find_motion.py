"""Find the motions of many windows by coarse-to-fine search; see `search.search`.

Every window has the scales, events and passes that it would have alone. A cold search ends with
fewer passes in some windows than in others; all windows share the evaluations of a pass.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from evcrisp.core.status import Status
from evcrisp.search.coarse_search import (
    SECOND_SHARE,
    SECOND_STEPS,
    START_STEP,
    coarse_events_for,
)
from evcrisp.search.config import SearchConfig
from evcrisp.search.on_device.border_bias import BorderBiases
from evcrisp.search.on_device.level import Level
from evcrisp.search.on_device.problem import Points, Problem
from evcrisp.search.search import FINEST_GROWTH, FLAT_CURVATURE, LAST_STEP_PX
from evcrisp.tensors.ascent import Ascents, code_of
from evcrisp.tensors.lazy import Tensor, torch
from evcrisp.tensors.scatter import Scatter


@dataclass(frozen=True, slots=True)
class BatchSearch:
    """How a batch is searched."""

    config: SearchConfig = field(default_factory=SearchConfig)
    scatter: Scatter = field(default_factory=Scatter)
    kind: Any = None  # torch type of maps and footprints; default: double precision

    @property
    def dtype(self) -> "torch.dtype":
        """Type of maps and footprints."""
        return torch.float64 if self.kind is None else self.kind


@dataclass(frozen=True, slots=True, eq=False)
class Motions:
    """Result of a search; tensors have a row for each window."""

    theta: Tensor  # (b, m)
    value: Tensor  # (b,) log of the mean contrast per event on the finest map
    n_eval: Tensor  # (b,) int64
    status: Tensor  # (b,) int64, see `tensors.ascent.statuses`
    inverse_hessian: Tensor  # (b, m, m) of scaled parameters

    def put(self, windows: Tensor, found: "Motions") -> "Motions":
        """Return these motions with those of some windows replaced."""
        names = self.__slots__
        columns = {n: getattr(self, n).index_copy(0, windows, getattr(found, n)) for n in names}
        return Motions(**columns)


def has_evidence(status: Tensor) -> Tensor:
    """Return whether events suffice to determine a motion, (b,) bool; see `Status`."""
    without = [code_of(one) for one in Status if not one.has_evidence]
    return ~torch.isin(status, torch.tensor(without, device=status.device))


def status_without_evidence(points: Points, least_events: int) -> Tensor:
    """Return the status of windows without evidence of motion, -1 of the others, (b,) int64."""
    rows, x, y, dt = points.rows, points.x, points.y, points.dt
    few = rows.counts < least_events
    moves = (rows.min(x) != rows.max(x)) | (rows.min(y) != rows.max(y))
    at_once = rows.first(dt) == rows.last(dt)
    status = torch.where(moves, -1, code_of(Status.TOO_FEW_EVENTS))
    status = torch.where(at_once, code_of(Status.FLAT), status)
    return torch.where(few, code_of(Status.TOO_FEW_EVENTS), status)


def find_motions(problem: Problem, sizes: list[tuple[int, int]], search: BatchSearch) -> Motions:
    """Return the motions with the highest contrast, found without a start.

    ``sizes`` are the rectangles of the windows, px. Every window has evidence of motion, see
    `status_without_evidence`.
    """
    config, frames = search.config, problem.frames
    scale, device = frames.scale, frames.scale.device
    scales = scale.tolist()
    wanted = [
        coarse_events_for(size, one, 1.0, config) for size, one in zip(sizes, scales, strict=True)
    ]
    points = problem.subsample(torch.tensor(wanted, device=device))
    zero = torch.zeros_like(frames.rates[:, 0])
    level = Level.around(
        problem, zero, scale, points, margin_px=0.5 * frames.bound_px + 2.0 * scale,
        scatter=search.scatter, kind=search.dtype,
    )  # fmt: skip
    best, n_eval = _coarse_motions(level)
    passes = _Passes.of(scale // 2, 2 * points.rows.counts, problem.points.rows.counts, config)
    return _coarse_to_fine(problem, search, passes, best, n_eval, None)


def refine_motions(problem: Problem, near: Motions, search: BatchSearch) -> Motions:
    """Refine motions that are nearly right, on the finest map with all events."""
    start, config = problem.scaled(near.theta), search.config
    trace = near.inverse_hessian.diagonal(dim1=1, dim2=2).sum(1)
    is_flat = trace > FLAT_CURVATURE * start.shape[1] * config.finest_scale**2
    n = problem.points.rows.counts
    passes = _Passes(
        torch.full_like(n, config.finest_scale), n, torch.ones_like(n, dtype=torch.bool), True
    )
    curvature = torch.where(is_flat[:, None, None], torch.nan, near.inverse_hessian)
    return _coarse_to_fine(problem, search, [passes], start, torch.zeros_like(n), curvature)


def _coarse_motions(level: Level) -> tuple[Tensor, Tensor]:
    """Return the best motion on the coarsest level, scaled, and the number of evaluations."""
    frames, scale = level.problem.frames, level.scale
    first, second, has_second = _best_starts(level)
    n_trials = 5 * (frames.directions[:, 2:] != 0.0).any(2).sum(1)
    n_starts = (~torch.isnan(frames.shifts[:, :, 0])).sum(1)
    n_eval = n_starts + n_trials * (1 + has_second.to(torch.int64))
    first = _turned(level, first)
    tol = 0.1 * scale.double()
    end = _coarse_ascent(level, first, tol)
    theta, value, n_eval = end.theta, end.value, n_eval + end.n_eval
    others = torch.nonzero(has_second).reshape(-1)
    if others.numel():
        part = level.taken(others)
        other = _coarse_ascent(part, _turned(part, second[others]), tol[others])
        better = others[other.value > value[others]]
        theta = theta.index_copy(0, better, other.theta[other.value > value[others]])
        n_eval = n_eval.index_add(0, others, other.n_eval)
    return theta, n_eval


def _best_starts(level: Level) -> tuple[Tensor, Tensor, Tensor]:
    """Return the best start of a grid, a second one, (b, m), and whether there is one, (b,)."""
    shifts = level.problem.frames.shifts
    missing = torch.isnan(shifts[:, :, 0])
    shifts = torch.where(missing[:, :, None], 0.0, shifts)
    values = level.trial_values(shifts)
    median = torch.nanquantile(torch.where(missing, torch.nan, values), 0.5, 1)
    values = torch.where(missing, -torch.inf, values)
    best, number = _highest(values)
    start = _chosen(shifts, number)
    # A second start counts if its value is close to the best, relative to the median.
    least = best - SECOND_SHARE * (best - median)
    far = ((shifts - start[:, None]) ** 2).sum(2) > (
        (SECOND_STEPS * START_STEP) * level.scale.double()[:, None]
    ) ** 2
    fits = far & ~(values < least[:, None]) & ~missing
    other = torch.where(fits, values, -torch.inf)
    _, second = _highest(other)
    return start, _chosen(shifts, second), fits.any(1)


def _turned(level: Level, start: Tensor) -> Tensor:
    """Return starts with the best of five rotations, and then of five zooms."""
    step = (START_STEP * level.scale)[:, None]
    for k in range(2, level.problem.frames.directions.shape[1]):
        row = level.problem.frames.directions[:, k]
        if not bool((row != 0.0).any()):
            break
        trials = torch.stack([start + f * step * row for f in (0.0, -1.0, 1.0, -2.0, 2.0)], 1)
        values = level.trial_values(trials)
        start = _chosen(trials, _highest(values)[1])
    return start


def _highest(values: Tensor) -> tuple[Tensor, Tensor]:
    """Return the highest value of each row, and where it is first."""
    best = values.amax(1)
    return best, (values == best[:, None]).to(torch.int8).argmax(1)


def _chosen(rows: Tensor, number: Tensor) -> Tensor:
    """Return one of several vectors of each window: rows (b, k, m) to (b, m)."""
    index = number[:, None, None].expand(-1, 1, rows.shape[2])
    return rows.gather(1, index)[:, 0]


def _coarse_ascent(level: Level, start: Tensor, tol_px: Tensor) -> Ascents:
    """Run an ascent on an intermediate level, with bounded steps where noise flattens it."""
    least = torch.ones_like(tol_px)
    return level.ascend(start, None, least, tol_px, 2.0 * level.scale)


@dataclass(frozen=True, slots=True, eq=False)
class _Passes:
    """One pass of a coarse-to-fine search, of each window; all tensors have shape (b,)."""

    scale: Tensor  # int64, px of the sensor per px of the map
    n_events: Tensor  # int64
    is_last: Tensor  # bool
    has_last: bool  # whether it is the last one of any window

    @classmethod
    def of(
        cls, scale: Tensor, n_events: Tensor, n_all: Tensor, config: SearchConfig
    ) -> "list[_Passes]":
        """Return the passes from a scale to the finest map with all events, in their order.

        Windows whose search has ended have the scale 0.
        """
        columns = zip(scale.tolist(), n_events.tolist(), n_all.tolist(), strict=True)
        plans = [_plan(*numbers, config) for numbers in columns]
        most = max(map(len, plans))
        plans = [plan + [(0, 0, False)] * (most - len(plan)) for plan in plans]
        kinds = torch.int64, torch.int64, torch.bool
        return [
            cls(
                *(
                    torch.tensor([plan[k][i] for plan in plans], dtype=kind, device=scale.device)
                    for i, kind in enumerate(kinds)
                ),
                any(plan[k][2] for plan in plans),
            )
            for k in range(most)
        ]

    def taken(self, chosen: Tensor) -> "_Passes":
        """Return the pass of some of the windows."""
        columns = self.scale, self.n_events, self.is_last
        taken = (column.index_select(0, chosen) for column in columns)
        return _Passes(*taken, self.has_last)


def _plan(
    scale: int, n_events: int, n_all: int, config: SearchConfig
) -> list[tuple[int, int, bool]]:
    """Return scale, events and whether it is the last of every pass of a window."""
    passes = []
    while scale > config.finest_scale:
        passes.append((scale, n_events, False))
        scale, n_events = scale // 2, 2 * n_events
    n_events *= FINEST_GROWTH
    while n_events * FINEST_GROWTH < n_all:
        passes.append((config.finest_scale, n_events, False))
        n_events *= FINEST_GROWTH
    return [*passes, (config.finest_scale, n_all, True)]


def _coarse_to_fine(
    problem: Problem,
    search: BatchSearch,
    passes: list[_Passes],
    start: Tensor,
    n_eval: Tensor,
    curvature: Tensor | None,
) -> Motions:
    """Run gradient ascent on finer and finer levels; the last one corrects the border bias.

    ``curvature``, (b, m, m), is the inverse one of the last level where it is known, else NaN.
    """
    eye = torch.eye(start.shape[1], dtype=start.dtype, device=start.device)
    found = Motions(
        start, torch.zeros_like(problem.first_s), n_eval,
        torch.full_like(n_eval, code_of(Status.CONVERGED)), eye.expand(len(start), -1, -1).clone(),
    )  # fmt: skip
    for one in passes:
        windows = torch.nonzero(one.scale > 0).reshape(-1)
        all_windows = len(windows) == len(problem)
        if all_windows:
            end = _run_pass(problem, search, one, found.theta, curvature)
            found = replace(end, n_eval=end.n_eval + found.n_eval)
            continue
        near = None if curvature is None else curvature.index_select(0, windows)
        start = found.theta.index_select(0, windows)
        end = _run_pass(problem.taken(windows), search, one.taken(windows), start, near)
        end = replace(end, n_eval=end.n_eval + found.n_eval.index_select(0, windows))
        found = found.put(windows, end)
    theta = problem.theta(found.theta)
    lost = (found.status == code_of(Status.NOT_FINITE)) | ~torch.isfinite(theta).all(1)
    return replace(
        found, theta=torch.where(lost[:, None], 0.0, theta),
        value=torch.where(lost, 0.0, found.value),
        status=torch.where(lost, code_of(Status.NOT_FINITE), found.status),
    )  # fmt: skip


def _run_pass(
    problem: Problem, search: BatchSearch, one: _Passes, start: Tensor, near: Tensor | None
) -> Motions:
    """Run one pass of all windows; the motions are scaled parameters."""
    scale, is_last = one.scale, one.is_last
    level = Level.around(
        problem, start, scale, problem.subsample(one.n_events), margin_px=3.0 * scale,
        scatter=search.scatter, kind=search.dtype,
    )  # fmt: skip
    if one.has_last:
        level.bias = BorderBiases.of(problem, scale).where(is_last)
    tol = torch.where(is_last, search.config.tol_px, 0.05 * scale.double())
    least = torch.where(is_last, 0.0, 1.0).to(tol.dtype)

    end = level.ascend(start, near, least, tol, 2.0 * scale)
    value = end.value if level.bias is None else end.value - level.bias.loss(end.theta)[0]
    step = (end.inverse_hessian @ end.gradient[:, :, None])[:, :, 0]
    length = torch.sqrt((step * step).sum(1)).clamp(min=1e-30)
    scaled = end.theta + step * (LAST_STEP_PX / length).clamp(max=1.0)[:, None]
    return Motions(scaled, value, end.n_eval, end.status, end.inverse_hessian)
