"""Choose between evidence by motion and by neighbors, in many windows; see `estimators.auto.label_choice`."""

from dataclasses import dataclass

from evcrisp.estimators.auto.label_choice import (
    CLEARLY,
    CLUSTER,
    FEW_EVENTS,
    LEAST_KEPT,
    MIN_BEYOND,
    MIN_GAIN,
    MIN_LASTING,
    MOST_KEPT,
    REACHES_S,
    TESTED_EVENTS,
    TESTED_SAMPLES,
    TESTED_SHARE,
)
from evcrisp.estimators.auto.noise_model import LEAST_EVIDENCE
from evcrisp.estimators.auto.on_device.noise_model import (
    Ranked,
    Weight,
    best_thresholds,
    of_polarity,
)
from evcrisp.estimators.auto.on_device.short_support import (
    NeighborTimes,
    Readers,
    ShortSupport,
    near_times,
    reaches,
)
from evcrisp.tensors.cuda.kernels import kernels_of
from evcrisp.tensors.lazy import Tensor, torch
from evcrisp.tensors.rows import Rows, n_before

_LONGEST = len(REACHES_S) - 1


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """The part of each window that is tested, and what is tested there."""

    first: Tensor  # (b,) int64, number in the batch of the first event
    last: Tensor  # (b,) int64, of the event behind the last
    rows: Rows  # of the tested events
    events: Tensor  # (k,) int64
    sample_rows: Rows
    samples: Tensor  # (j,) int64


@dataclass(frozen=True, slots=True, eq=False)
class MotionEvidence:
    """Evidence by a motion, as far as the choice needs it."""

    parts: Parts
    support: Tensor  # (k,) of the tested events, before the background is subtracted
    evidence: Tensor  # (k,) of the tested events, from which the labels come
    threshold: Tensor  # (b,)
    sample_evidence: Tensor  # (m,)
    rates: Tensor  # (b, 2) of noise
    weight: Weight | None  # density of noise at the samples


@dataclass(frozen=True, slots=True, eq=False)
class NeighborEvidence:
    """Evidence by neighbors, of the windows where it is better."""

    windows: Tensor  # (w,) int64
    events: Tensor  # (e,) int64, their events in the batch
    rows: Rows  # of these events
    evidence: Tensor  # (e,) float32
    threshold: Tensor  # (w,)


def parts_to_test(
    t: Tensor, rows: Rows, rank: Tensor, sample_t: Tensor, sample_group: Tensor, sample_rows: Rows
) -> Parts:
    """Return the parts that are tested: a share of the time, around the middle."""
    half = 0.5 * TESTED_SHARE
    first, last = (n_before(t, rows, end) for end in (-half, half))
    is_whole = (rows.counts < FEW_EVENTS) | (last - first < TESTED_SAMPLES)
    first = torch.where(is_whole, 0, first)
    last = torch.where(is_whole, rows.counts, last)
    chosen = (sample_t.abs() < half) | sample_rows.spread(is_whole)
    # Whole groups, so that a mirrored window has the mirrored samples.
    interval = (sample_rows.sum(chosen).to(torch.int64) // TESTED_SAMPLES).clamp(min=1)
    chosen &= sample_group % sample_rows.spread(interval) == 0
    limit = (2**32 - 1) // ((last - first) // TESTED_EVENTS).clamp(min=1)
    tested = _tested(rows, rank, first, last, limit)
    event_rows, events = rows.kept(tested)
    kept_rows, samples = sample_rows.kept(chosen)
    return Parts(rows.starts + first, rows.starts + last, event_rows, events, kept_rows, samples)


def _tested(rows: Rows, rank: Tensor, first: Tensor, last: Tensor, limit: Tensor) -> Tensor:
    """Return which events from ``first`` to ``last`` have a rank up to ``limit``, all (b,)."""
    kernels = kernels_of("labels.cu", rank.device)
    if kernels is None:
        position = rows.position()
        tested = (position >= rows.spread(first)) & (position < rows.spread(last))
        return tested & (rank <= rows.spread(limit))
    out = torch.empty(rows.size, dtype=torch.bool, device=rank.device)
    columns = rows.starts + first, rows.starts + last, limit
    kernels.launch_each("tested_events", rows.size, rows.row, rank, rows.size, *columns, out)
    return out


def neighbors_instead(
    motion: MotionEvidence,
    times: NeighborTimes,
    events: Readers,
    samples: Readers,
    duration_s: Tensor,
    false_alarm: float,
) -> NeighborEvidence | None:
    """Return the evidence by neighbors of the windows where it is better; None if there are none."""
    parts, near = motion.parts, near_times(duration_s)
    tested = _chosen(events, parts.rows, parts.events)
    tested_samples = _chosen(samples, parts.sample_rows, parts.samples)
    reach, span = reaches(REACHES_S, duration_s), (parts.first, parts.last)
    found = times.read(tested, reach, near, *span)
    noise = times.read(tested_samples, reach, near, *span)
    by_motion, separation, beyond = _separations(motion, found, noise, false_alarm)
    lasts = _lasts(motion, found.near, events.p)
    needed = torch.where(lasts, MIN_GAIN * by_motion, -1.0)
    most, most_beyond = separation.amax(1), beyond.amax(1)
    has_clusters = ~lasts | (most_beyond < MIN_BEYOND * most)
    # Few clusters do not show: what they do not have counts twice then.
    doubled = torch.where(has_clusters, most_beyond, 0.5 * (most_beyond + most))
    windows = torch.nonzero((most >= needed) & (doubled >= needed)).reshape(-1)
    if not windows.numel():
        return None
    score = torch.where(has_clusters[:, None], beyond, separation)
    best = (score == score.amax(1)[:, None]).to(torch.int8).argmax(1)
    return _of_windows(
        windows, best[windows], has_clusters[windows], reach, near,
        motion.weight, times, events, samples, false_alarm,
    )  # fmt: skip


def _of_windows(
    windows: Tensor, best: Tensor, has_clusters: Tensor, reach: Tensor, near: Tensor,
    weight: Weight | None, times: NeighborTimes, events: Readers, samples: Readers,
    false_alarm: float,
) -> NeighborEvidence:  # fmt: skip
    """Return the evidence of all events of some windows, by their best reach."""
    chosen, index = events.rows.taken(windows)
    sample_rows, sample_index = samples.rows.taken(windows)
    # Readers keep the numbers of their windows in the batch, to find their sources.
    n_windows = len(events.rows)
    reader_rows, sample_reader_rows = (
        _in_batch(part, windows, n_windows) for part in (chosen, sample_rows)
    )
    own = torch.zeros(n_windows, 1, dtype=reach.dtype, device=reach.device)
    own[windows] = reach[windows].gather(1, best[:, None])
    own = torch.where(own > 0.0, own, 1.0)
    n_events = events.rows.size
    whole = torch.zeros_like(events.rows.counts), torch.full_like(events.rows.counts, n_events)
    found, noise = (
        times.read(_chosen(part, rows, at), own, near, *whole)
        for part, rows, at in (
            (events, reader_rows, index), (samples, sample_reader_rows, sample_index),
        )
    )  # fmt: skip
    density = None
    if weight is not None:
        density = Weight(weight.of_samples[sample_index], weight.of_windows[windows])
    is_long = best == _LONGEST
    reduced = has_clusters & is_long
    evidence, of_noise = (
        torch.where(rows.spread(reduced), _without_clusters(part.support[0], part.n_near), part.support[0])
        for part, rows in ((found, chosen), (noise, sample_rows))
    )  # fmt: skip
    cluster = _cluster(noise.support[0], sample_rows, density)
    least = torch.where(has_clusters & ~is_long, cluster, LEAST_EVIDENCE)
    ranked = Ranked.of(of_noise, sample_rows, density)
    share = torch.full_like(least, false_alarm)
    shares = torch.cat((share, share.clamp(min=MOST_KEPT)))
    tried = best_thresholds(
        evidence.repeat(2), chosen.repeated(2), ranked.repeated(2), shares, least.repeat(2)
    )
    (strict, loose), (first, second) = (c.reshape(2, -1).unbind(0) for c in tried)
    threshold = torch.where(second > first + CLEARLY, loose, strict)
    return NeighborEvidence(windows, index, chosen, evidence, threshold)


def _separations(
    motion: MotionEvidence, found: ShortSupport, noise: ShortSupport, false_alarm: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Return how well windows separate by motion, (b,), by each reach, (b, r), and without clusters.

    All are computed at once: rows of the same events, one after the other.
    """
    parts, n = motion.parts, len(REACHES_S)
    weight = None if motion.weight is None else motion.weight.kept(parts.samples)
    events = torch.cat((motion.evidence[None], found.support, _beyond_clusters(found)))
    of_motion = motion.sample_evidence.index_select(0, parts.samples)
    samples = torch.cat((of_motion[None], noise.support, _beyond_clusters(noise)))
    usual = torch.full((1, len(parts.rows)), LEAST_EVIDENCE, device=events.device)
    clusters = [_cluster(noise.support[k], parts.sample_rows, weight) for k in range(_LONGEST)]
    least = torch.cat((usual.repeat(n + 1, 1), *(c[None] for c in clusters), usual))
    rows, sample_rows = (one.repeated(2 * n + 1) for one in (parts.rows, parts.sample_rows))
    heavy = None if weight is None else weight.repeated(2 * n + 1)
    ranked = Ranked.of(samples.reshape(-1), sample_rows, heavy)
    found_at = best_thresholds(events.reshape(-1), rows, ranked, false_alarm, least.reshape(-1))
    separation = found_at.separation.reshape(2 * n + 1, -1)
    return separation[0], separation[1 : n + 1].T, separation[n + 1 :].T


def _beyond_clusters(found: ShortSupport) -> Tensor:
    """Return the support of each reach, (r, m); that of the longest one without clusters."""
    last = _without_clusters(found.support[_LONGEST], found.n_near)
    return torch.cat((found.support[:_LONGEST], last[None]))


def _cluster(samples: Tensor, rows: Rows, weight: Weight | None) -> Tensor:
    """Return what noise samples have, (m,), on average, and a cluster beside them, (b,)."""
    heavy = torch.ones_like(samples)
    if weight is not None:
        heavy = torch.where(rows.spread(weight.of_windows), weight.of_samples, heavy)
    return rows.sum(samples.double() * heavy) / rows.sum(heavy) + CLUSTER


def _without_clusters(support: Tensor, n_near: Tensor) -> Tensor:
    """Return the support by neighbors at other times, or beyond what a cluster has."""
    return (support - n_near.clamp(max=CLUSTER)).clamp(min=0.0)


def _lasts(motion: MotionEvidence, near: Tensor, p: Tensor) -> Tensor:
    """Return whether the support by a motion comes from all over the window, (b,) bool."""
    parts = motion.parts
    rows = parts.rows
    threshold = rows.spread(motion.threshold).to(torch.float32)
    kept = motion.evidence > threshold
    rate = of_polarity(motion.rates, rows.row, p.index_select(0, parts.events))
    far = motion.support - near - rate.to(torch.float32)
    n_kept, n_far = rows.sum(kept), rows.sum(kept & (far > threshold))
    return (n_kept >= LEAST_KEPT) & (n_far / n_kept.clamp(min=1.0) > MIN_LASTING)


def _chosen(readers: Readers, rows: Rows, index: Tensor) -> Readers:
    """Return some of the readers, which are in ``rows``."""
    columns = (c.index_select(0, index) for c in (readers.x, readers.y, readers.p, readers.t))
    return Readers(rows, *columns)


def _in_batch(rows: Rows, windows: Tensor, n_windows: int) -> Rows:
    """Return rows of some windows as rows of the whole batch, the others without elements."""
    counts = torch.zeros(n_windows, dtype=torch.int64, device=windows.device)
    counts[windows] = rows.counts
    return Rows(counts, torch.cumsum(counts, 0) - counts, windows.index_select(0, rows.row))
