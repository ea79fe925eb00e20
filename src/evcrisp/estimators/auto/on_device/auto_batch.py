"""Method `auto` with one given motion, for a batch of windows; see `estimators.auto.auto`."""

from dataclasses import dataclass, field, replace
from typing import Any

from evcrisp.core.status import Status
from evcrisp.estimators.auto.auto import (
    FIRST_SHARE,
    MAX_CORRECTION_PX,
    MAX_FIRST,
    MIN_FIRST,
    REFINE_SCORE,
)
from evcrisp.estimators.auto.on_device.evidence import BatchEvidence, compute_evidence
from evcrisp.estimators.auto.on_device.hot_pixels import events_at_hot_pixels
from evcrisp.estimators.auto.on_device.objectives import JointObjectives, joint_objectives
from evcrisp.estimators.auto.on_device.window_batch import WindowBatch
from evcrisp.estimators.significance import MIN_SIGNAL
from evcrisp.search.config import SearchConfig
from evcrisp.search.on_device.find_motion import (
    BatchSearch,
    Motions,
    find_motions,
    has_evidence,
    refine_motions,
    status_without_evidence,
)
from evcrisp.search.on_device.frame_constants import FrameConstants
from evcrisp.search.on_device.model_operations import ModelOperations
from evcrisp.search.on_device.problem import Points, Problem
from evcrisp.search.search import MIN_EVENTS
from evcrisp.tensors.ascent import code_of
from evcrisp.tensors.cuda.kernels import kernels_of
from evcrisp.tensors.lazy import Tensor, torch
from evcrisp.tensors.rows import Rows
from evcrisp.tensors.scatter import Scatter


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceOptions:
    """How a device computes.

    Parameters
    ----------
    deterministic : bool
        Add in fixed point, so that results are the same from run to run, bit for bit. Without it, a
        GPU adds in any order, and the last digits differ.
    search_in_single : bool
        Build the maps of the search in single precision, not in double precision as the compiled
        kernels do.
    w_maps : bool
        Compute the objectives of the joint problem and the confidence maps W too.
    """

    deterministic: bool = False
    search_in_single: bool = False
    w_maps: bool = True

    @property
    def scatter(self) -> Scatter:
        """How values are added by index."""
        return Scatter(self.deterministic)

    def search(self) -> BatchSearch:
        """Return how motions are searched."""
        kind: Any = torch.float32 if self.search_in_single else torch.float64
        return BatchSearch(SearchConfig(), self.scatter, kind)


@dataclass(frozen=True, slots=True, eq=False)
class BatchLabels:
    """Labels of events; tensors of shape (n,)."""

    score: Tensor  # float64, evidence over threshold
    confidence: Tensor  # float64, w at lam = 0
    signal: Tensor  # bool

    @classmethod
    def of(cls, evidence: Tensor, threshold: Tensor, rows: Rows) -> "BatchLabels":
        """Return the labels of evidence, (n,), with a threshold for each window, (b,)."""
        kernels = kernels_of("labels.cu", evidence.device)
        if kernels is not None:
            score = torch.empty(rows.size, dtype=torch.float64, device=evidence.device)
            labels = cls(
                score, torch.empty_like(score), torch.empty_like(rows.row, dtype=torch.bool)
            )
            columns = labels.score, labels.confidence, labels.signal
            kernels.launch_each(
                "labels_of_evidence", rows.size, evidence.contiguous(), rows.row, rows.size,
                threshold.to(torch.float64), *columns,
            )  # fmt: skip
            return labels
        score = evidence.to(torch.float64) / rows.spread(threshold)
        square = score * score
        sure = (score > 0.0) & (square > 0.5)
        confidence = torch.where(sure, 1.0 - 0.5 / square, 0.0)
        return cls(score, confidence, score > 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class BatchResult:
    """Motions and labels of a batch of windows."""

    batch: WindowBatch
    motions: Motions  # on the rectangles of the events
    labels: BatchLabels
    by_motion: BatchLabels
    evidence: BatchEvidence
    n_signal: Tensor  # (b,) events that are signal by the motion
    objectives: JointObjectives | None = field(default=None)

    def aligned(self) -> tuple[Tensor, Tensor]:
        """Return the positions of the events at the reference time, px of the sensor, both (n,)."""
        batch, rows = self.batch, self.batch.rows
        model = ModelOperations.of([f.model for f in batch.frames], self.n_signal.device)
        points = batch.points
        x, y = model.warp(self.motions.theta, points.x, points.y, points.dt, rows)
        return x + rows.spread(batch.left), y + rows.spread(batch.top)


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoBatch:
    """Method `auto` with a given motion for many windows at once.

    The labels and motions are those of :class:`~evcrisp.estimators.auto.auto.AutoRegret` with a cold
    search in every window.
    """

    false_alarm: float = 0.1
    options: DeviceOptions = field(default_factory=DeviceOptions)

    def run(self, batch: WindowBatch) -> BatchResult:
        """Estimate motion and labels of all windows."""
        with torch.inference_mode():
            return self._run(batch)

    def _run(self, batch: WindowBatch) -> BatchResult:
        rows = batch.rows
        supporting = ~events_at_hot_pixels(batch)
        model = ModelOperations.of([f.model for f in batch.frames], rows.counts.device)
        frames = FrameConstants.of(batch.frames, SearchConfig(), rows.counts.device)
        candidates = batch.points
        if not bool(supporting.all()):
            candidates = candidates.chosen(supporting)
        windows = _Windows(batch, model, frames, self.options.search())
        start = windows.find(candidates)
        scatter = self.options.scatter
        found = compute_evidence(batch, start.theta, supporting, self.false_alarm, scatter)
        by_motion = BatchLabels.of(found.by_motion, found.motion_threshold, rows)
        labels = by_motion
        if found.evidence is not found.by_motion:
            labels = BatchLabels.of(found.evidence, found.threshold, rows)
        # Events of other motions have neighbors too, but tell nothing about this one.
        end = windows.refined(start, candidates, by_motion.score > REFINE_SCORE)
        objectives = None
        if self.options.w_maps:
            objectives = joint_objectives(batch, found, labels.confidence, supporting, scatter)
        n_signal = rows.sum(by_motion.signal)
        return BatchResult(batch, end, labels, by_motion, found, n_signal, objectives)


@dataclass(frozen=True, slots=True, eq=False)
class _Windows:
    """The searches of a batch."""

    batch: WindowBatch
    model: ModelOperations
    frames: FrameConstants
    search: BatchSearch

    def find(self, candidates: Points) -> Motions:
        """Return the first motions, from a share of the events."""
        problem = self._problem(candidates)
        n_first = torch.round(FIRST_SHARE * candidates.rows.counts.double()).to(torch.int64)
        part = problem.subsample(n_first.clamp(MIN_FIRST, MAX_FIRST))
        return self._searched(part, None)

    def refined(self, start: Motions, candidates: Points, chosen: Tensor) -> Motions:
        """Refine motions with the chosen events, (n,); with all candidates if they move too far."""
        tried = torch.nonzero(has_evidence(start.status)).reshape(-1)
        if not tried.numel():
            return start
        n_chosen = self.batch.rows.sum(chosen)
        usable = tried[n_chosen[tried] >= MIN_SIGNAL]
        found, rest = start, tried
        if usable.numel():
            part = self.batch.points.chosen(chosen).taken(usable)
            end = self._of(usable)._searched(part, _taken(start, usable))
            n_eval = end.n_eval + start.n_eval[usable]
            moved = self._displacement_px(end.theta - start.theta[usable], usable)
            good = (end.status == code_of(Status.CONVERGED)) & (moved < MAX_CORRECTION_PX)
            end = replace(end, n_eval=n_eval)
            # Of the others, the evaluations count too.
            found = found.put(usable[good], _taken(end, torch.nonzero(good).reshape(-1)))
            n_all = found.n_eval.index_copy(0, usable, n_eval)
            found = replace(found, n_eval=n_all)
            is_done = torch.zeros(len(self.batch), dtype=torch.bool, device=good.device)
            is_done[usable[good]] = True
            rest = tried[~is_done[tried]]
        if not rest.numel():
            return found
        end = self._of(rest)._searched(candidates.taken(rest), _taken(start, rest))
        return found.put(rest, replace(end, n_eval=end.n_eval + found.n_eval[rest]))

    def _of(self, chosen: Tensor) -> "_Windows":
        if chosen.numel() == len(self.batch):
            return self
        return _Windows(
            self.batch.taken(chosen), self.model.taken(chosen), self.frames.taken(chosen), self.search
        )  # fmt: skip

    def _problem(self, points: Points) -> Problem:
        batch = self.batch
        return Problem.of(points, self.model, self.frames, batch.width, batch.height)

    def _searched(self, points: Points, near: Motions | None) -> Motions:
        """Search all windows with evidence of motion; the others keep ``near``, or are at rest."""
        status = status_without_evidence(points, MIN_EVENTS)
        m, b = self.frames.rates.shape[1], len(self.batch)
        zero = torch.zeros((b, m), dtype=torch.float64, device=status.device)
        theta = zero if near is None else torch.nan_to_num(near.theta, posinf=0.0, neginf=0.0)
        found = Motions(
            theta, zero[:, 0], torch.zeros_like(status), status,
            torch.full((b, m, m), torch.nan, dtype=torch.float64, device=status.device),
        )  # fmt: skip
        windows = torch.nonzero(status < 0).reshape(-1)
        if not windows.numel():
            return found
        part = self if windows.numel() == b else self._of(windows)
        problem = part._problem(points if part is self else points.taken(windows))
        if near is None:
            end = find_motions(problem, part.batch.sizes, self.search)
        else:
            end = refine_motions(problem, _taken(near, windows), self.search)
        return found.put(windows, part._with_collapse(end, problem.last_s - problem.first_s))

    def _with_collapse(self, found: Motions, span_s: Tensor) -> Motions:
        """Mark motions at the bound on growth."""
        if not self.model.can_collapse:
            return found
        from evcrisp.search.collapse_penalty import has_collapsed

        bound, status = self.search.config.max_log_area, found.status.clone()
        columns = zip(
            self.batch.frames, found.theta.cpu().numpy(), span_s.tolist(), status.tolist(),
            strict=True,
        )  # fmt: skip
        for k, (frame, theta, span, code) in enumerate(columns):
            is_lost = code == code_of(Status.NOT_FINITE)
            if not is_lost and has_collapsed(frame.model, theta, frame.resolution, span, bound):
                status[k] = code_of(Status.COLLAPSED)
        return replace(found, status=status)

    def _displacement_px(self, theta: Tensor, windows: Tensor) -> Tensor:
        """Return the length of scaled parameters over the whole window, px."""
        rates = self.frames.rates[windows] * self.batch.duration_s[windows][:, None, None]
        return torch.sqrt(((rates @ theta[:, :, None])[:, :, 0] ** 2).sum(1))


def _taken(motions: Motions, chosen: Tensor) -> Motions:
    """Return the motions of some of the windows, by number."""
    names = motions.__slots__
    return Motions(**{name: getattr(motions, name).index_select(0, chosen) for name in names})
