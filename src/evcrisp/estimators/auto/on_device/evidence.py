"""Evidence that each event of many windows is signal; see `estimators.auto.event_evidence`."""

from dataclasses import dataclass, replace

from evcrisp.estimators.auto.on_device.exposure import exposure_of
from evcrisp.estimators.auto.on_device.label_choice import (
    MotionEvidence,
    neighbors_instead,
    parts_to_test,
)
from evcrisp.estimators.auto.on_device.noise_density import (
    NoiseDensities,
    PointSupport,
    densities_of_noise,
)
from evcrisp.estimators.auto.on_device.noise_model import (
    Ranked,
    Weight,
    background_of,
    best_thresholds,
    of_polarity,
)
from evcrisp.estimators.auto.on_device.noise_samples import BatchSamples, live_areas
from evcrisp.estimators.auto.on_device.placement import MapPoints, paddings, placed
from evcrisp.estimators.auto.on_device.readiness import readiness_of_events, readiness_of_samples
from evcrisp.estimators.auto.on_device.self_support import (
    self_support_of_events,
    self_support_of_samples,
)
from evcrisp.estimators.auto.on_device.short_support import NeighborTimes, Readers
from evcrisp.estimators.auto.on_device.sources import SourceGrid, SourceOrder
from evcrisp.estimators.auto.on_device.window_batch import WindowBatch
from evcrisp.search.config import SearchConfig
from evcrisp.search.on_device.frame_constants import FrameConstants
from evcrisp.search.on_device.model_operations import ModelOperations
from evcrisp.search.on_device.problem import Points
from evcrisp.tensors.cuda.kernels import kernels_of
from evcrisp.tensors.hashing import ranks_in_rows
from evcrisp.tensors.lazy import Tensor, torch
from evcrisp.tensors.maps import MapLayout
from evcrisp.tensors.scatter import Scatter
from evcrisp.tensors.spline import accumulate, sample

#: As in `estimators.auto.aligned_maps`.
_FEW_EVENTS = 1000


@dataclass(frozen=True, slots=True, eq=False)
class IndexedBatch:
    """Windows whose events are linked to those of the same pixel, and noise samples."""

    batch: WindowBatch
    duration_s: Tensor  # (b,) above 0
    t: Tensor  # (n,) float32, in windows
    rank: Tensor  # (n,) int64, numbers that choose some of the events
    live: Tensor  # (b, 4) area of all but a few strays
    samples: BatchSamples
    grid: SourceGrid
    source: Tensor  # (n,) int64
    sources: SourceOrder
    sample_source: Tensor  # (m,) int64
    sample_after: Tensor  # (m,) int64, first place behind each sample in the order of sources

    @classmethod
    def of(cls, batch: WindowBatch) -> "IndexedBatch":
        """Link the events of each window."""
        rows, dt = batch.rows, batch.points.dt
        duration_s = torch.where(batch.duration_s > 0.0, batch.duration_s, 1.0)
        live = live_areas(batch)
        samples = BatchSamples.of(batch, live)
        middle_s = 0.5 * (rows.first(dt) + rows.last(dt))
        center = 0.5 * (batch.width - 1), 0.5 * (batch.height - 1), middle_s
        two = torch.full_like(middle_s, 2.0)
        points = batch.x.to(torch.float64), batch.y.to(torch.float64), dt
        rank = ranks_in_rows(*points, rows, center, (two, two, 2e6))
        grid = SourceGrid.of(batch.width, batch.height)
        t, source = _times_and_sources(batch, duration_s, grid)
        sources = SourceOrder.of(source, t, grid.size)
        sample_source = grid.of_pixels(samples.rows.row, samples.x, samples.y, samples.p)
        after = sources.after(sample_source, samples.t)
        return cls(
            batch, duration_s, t, rank, live, samples, grid, source, sources, sample_source, after
        )  # fmt: skip

    def taken(self, chosen: Tensor) -> "IndexedBatch":
        """Return some of the windows, by number."""
        return IndexedBatch.of(self.batch.taken(chosen))

    @property
    def views(self) -> Tensor:
        """The part of the sensor that counts as in view, (b, 4); few events have no border."""
        width, height = self.batch.width, self.batch.height
        beyond = torch.stack((-width, -height, 3 * width, 3 * height), 1)
        few = self.batch.rows.counts < _FEW_EVENTS
        return torch.where(few[:, None], beyond, self.live)


def _times_and_sources(
    batch: WindowBatch, duration_s: Tensor, grid: SourceGrid
) -> tuple[Tensor, Tensor]:
    """Return the times of events, in windows, and their sources."""
    rows, dt = batch.rows, batch.points.dt
    kernels = kernels_of("labels.cu", dt.device)
    if kernels is None:
        t = (dt / rows.spread(duration_s)).to(torch.float32)
        return t, grid.of_pixels(rows.row, batch.x, batch.y, batch.p)
    t = torch.empty(rows.size, dtype=torch.float32, device=dt.device)
    source = torch.empty_like(batch.x)
    kernels.launch_each(
        "times_and_sources", rows.size, rows.row, batch.x, batch.y, batch.p, dt.contiguous(), rows.size,
        duration_s, grid.start, grid.width, grid.height, t, source,
    )  # fmt: skip
    return t, source


@dataclass(frozen=True, slots=True, eq=False)
class BatchMaps:
    """Windows at a motion: positions, maps of both polarities, and support."""

    layout: MapLayout
    events: MapPoints
    samples: MapPoints
    images: Tensor  # flat maps
    support: Tensor  # (n,) float32; -1 off the map
    sample_support: Tensor  # (m,) likewise


@dataclass(frozen=True, slots=True, eq=False)
class BatchEvidence:
    """Evidence of the events of all windows, and thresholds above which they are signal."""

    evidence: Tensor  # (n,) float32, that which separates best
    threshold: Tensor  # (b,)
    by_motion: Tensor  # (n,) float32
    motion_threshold: Tensor  # (b,)
    by_neighbors: Tensor  # (b,) bool, where neighbors give the labels
    rates: Tensor  # (b, 2) of noise, events per px and window, OFF and ON
    maps: BatchMaps


def compute_evidence(
    batch: WindowBatch, theta: Tensor, supporting: Tensor, false_alarm: float, scatter: Scatter
) -> BatchEvidence:
    """Return the evidence of each event, given the motions ``theta``, (b, m), of the windows.

    Events in ``supporting``, (n,), may support others. At most a share ``false_alarm`` of uniform noise
    is labeled signal.
    """
    indexed = IndexedBatch.of(batch)
    rows, samples = batch.rows, indexed.samples
    maps = _with_unmoved(
        indexed, _maps_at(indexed, batch, theta, supporting, scatter), supporting, scatter
    )
    support, sample_support = maps.support, maps.sample_support
    parts = parts_to_test(indexed.t, rows, indexed.rank, samples.t, samples.group, samples.rows)
    raw = support.index_select(0, parts.events)
    live = indexed.live
    background = background_of(
        support, rows, batch.p, sample_support, samples.rows, live[:, 2] * live[:, 3]
    )
    rates = background.rates.to(torch.float32)
    rate = of_polarity(rates, rows.row, batch.p)
    sample_rate = of_polarity(rates, samples.rows.row, samples.p)
    points = PointSupport(rows, batch.x, batch.y, batch.p, support)
    noise = PointSupport(samples.rows, samples.x, samples.y, samples.p, sample_support)
    densities, is_dense = densities_of_noise(live, points, indexed.rank, noise, background.quiet)
    weight = None
    if bool(is_dense.any()):
        support, _ = _without_dense_noise(densities, is_dense, points, rate)
        sample_support, density = _without_dense_noise(densities, is_dense, noise, sample_rate)
        weight = Weight(density, is_dense)
    ready, chances = readiness_of_events(indexed.t, support, rate, indexed.sources)
    sample_ready = readiness_of_samples(
        samples.t, sample_support, sample_rate, indexed.sample_source, indexed.sample_after,
        indexed.sources, chances,
    )  # fmt: skip
    evidence = _evidence(support, rate, ready)
    sample_evidence = _evidence(sample_support, sample_rate, sample_ready)
    ranked = Ranked.of(sample_evidence, samples.rows, weight)
    threshold, _ = best_thresholds(evidence, rows, ranked, false_alarm)
    motion = MotionEvidence(
        parts, raw, evidence.index_select(0, parts.events), threshold, sample_evidence, rates, weight
    )  # fmt: skip
    times = NeighborTimes.of(indexed.grid, indexed.sources, indexed.t, supporting)
    better = neighbors_instead(
        motion, times, Readers(rows, batch.x, batch.y, batch.p, indexed.t),
        Readers(samples.rows, samples.x, samples.y, samples.p, samples.t),
        indexed.duration_s, false_alarm,
    )  # fmt: skip
    found = BatchEvidence(
        evidence, threshold, evidence, threshold,
        torch.zeros(len(batch), dtype=torch.bool, device=theta.device), background.rates, maps,
    )  # fmt: skip
    if better is None:
        return found
    is_better = found.by_neighbors.index_fill(0, better.windows, True)
    return replace(
        found, evidence=evidence.index_copy(0, better.events, better.evidence),
        threshold=threshold.index_copy(0, better.windows, better.threshold), by_neighbors=is_better,
    )  # fmt: skip


def _maps_at(
    indexed: IndexedBatch, batch: WindowBatch, theta: Tensor, supporting: Tensor, scatter: Scatter
) -> BatchMaps:
    """Return maps and support at motions; ``batch`` has the model and its points."""
    samples, device = indexed.samples, theta.device
    models = [frame.model for frame in batch.frames]
    model = ModelOperations.of(models, device)
    frames = FrameConstants.of(batch.frames, SearchConfig(), device)
    padding = paddings(model, frames, theta, indexed.duration_s, batch.width, batch.height)
    layout = MapLayout.of(batch.width + 2 * padding, batch.height + 2 * padding, planes=2)
    events = placed(model, theta, batch.points, indexed.t, batch.p, padding, layout)
    sample_dt = samples.t.to(torch.float64) * samples.rows.spread(indexed.duration_s)
    at = batch.kernel_points(samples.rows.row, samples.x, samples.y)
    places = Points(samples.rows, *at, sample_dt)
    noise = placed(model, theta, places, samples.t, samples.p, padding, layout)
    images = accumulate(events.places, layout.size, scatter, supporting.to(torch.float32))
    views = indexed.views.to(torch.float64)
    left, top = views[:, 0] + padding - 0.5, views[:, 1] + padding - 0.5
    sides = torch.stack((left, top, left + views[:, 2], top + views[:, 3]), 1)
    divide = exposure_of(
        model, theta, indexed.duration_s, batch.width, batch.height, padding, sides
    )
    own = self_support_of_events(events, indexed.sources, scatter)
    sample_own = self_support_of_samples(
        noise, events, indexed.sources, indexed.sample_source, indexed.sample_after
    )
    support = divide(sample(images, events.places), own, events)
    sample_support = divide(sample(images, noise.places), sample_own, noise)
    return BatchMaps(layout, events, noise, images, support, sample_support)


def _with_unmoved(
    indexed: IndexedBatch, maps: BatchMaps, supporting: Tensor, scatter: Scatter
) -> BatchMaps:
    """Judge points that the motion moves off the map by the pixels around them."""
    rows, sample_rows = indexed.batch.rows, indexed.samples.rows
    lost = (rows.min(maps.support) < 0.0) | (sample_rows.min(maps.sample_support) < 0.0)
    windows = torch.nonzero(lost).reshape(-1)
    if not windows.numel():
        return maps
    part = indexed.batch.taken(windows).unmoved()
    _, index = rows.taken(windows)
    _, sample_index = sample_rows.taken(windows)
    zero = torch.zeros((windows.numel(), 2), dtype=torch.float64, device=windows.device)
    still = _maps_at(IndexedBatch.of(part), part, zero, supporting.index_select(0, index), scatter)
    support = maps.support.index_copy(0, index, still.support)
    sample_support = maps.sample_support.index_copy(0, sample_index, still.sample_support)
    return replace(
        maps, support=torch.where(maps.support < 0.0, support, maps.support),
        sample_support=torch.where(maps.sample_support < 0.0, sample_support, maps.sample_support),
    )  # fmt: skip


def _without_dense_noise(
    densities: NoiseDensities, is_dense: Tensor, points: PointSupport, rate: Tensor
) -> tuple[Tensor, Tensor]:
    """Return support without what dense noise adds to it, and the density, 1 where it is uniform."""
    there = points.rows.spread(is_dense)
    density = torch.where(there, densities.at(points), 1.0)
    return points.support - (density - 1.0) * rate, density


def _evidence(support: Tensor, rate: Tensor, ready: Tensor) -> Tensor:
    """Return support above the background, times readiness."""
    kernels = kernels_of("labels.cu", support.device)
    if kernels is not None:
        out, n = torch.empty_like(support), support.numel()
        kernels.launch_each("evidence_of_events", n, support, rate, ready, n, out)
        return out
    excess = support - rate
    return torch.where(excess > 0.0, excess * ready, excess)
