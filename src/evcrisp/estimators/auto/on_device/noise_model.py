"""Background and thresholds of many windows; see `estimators.auto.noise_model`."""

from dataclasses import dataclass
from typing import NamedTuple

from evcrisp.estimators.auto.noise_model import (
    CERTAINTY,
    CHANCE,
    DENSITY_ERROR,
    LEAST_EVIDENCE,
    NOISE_PART,
    QUIET_SHARE,
)
from evcrisp.tensors.cuda.kernels import kernels_of
from evcrisp.tensors.lazy import Tensor, torch
from evcrisp.tensors.rows import Rows, row_keys, sorted_rows

#: Weights in fixed point, whose sums do not depend on the order.
_FIXED = 2.0**36


class Background(NamedTuple):
    """What noise reads in each window, OFF and ON."""

    quiet: Tensor  # (b, 2) support up to which samples are quiet
    rates: Tensor  # (b, 2) noise events per px and window, double precision


def background_of(
    support: Tensor, rows: Rows, p: Tensor, sample_support: Tensor, sample_rows: Rows, area: Tensor
) -> Background:
    """Return the background of windows with a live area, (b,) px; see `background_rates`."""
    # Samples of both polarities are equally many, and OFF comes first.
    half = Rows.of_counts(torch.repeat_interleave(sample_rows.counts // 2, 2), sample_rows.size)
    order, _ = sorted_rows(sample_support, half.row)
    ranked = sample_support.index_select(0, order)
    rank = torch.floor(QUIET_SHARE * half.counts.double()).to(torch.int64)
    quiet = ranked.index_select(0, half.starts + rank)
    share = half.sum(sample_support <= half.spread(quiet)) / half.counts
    counts = _up_to_quiet(support, rows, p, quiet)
    share = share.reshape(-1, 2)
    rates = torch.maximum(counts, 0.5 * share) / (share * area[:, None])
    return Background(quiet.reshape(-1, 2), rates)


def _up_to_quiet(support: Tensor, rows: Rows, p: Tensor, quiet: Tensor) -> Tensor:
    """Count the events of each window and polarity with at most the quiet support, (b, 2)."""
    kernels = kernels_of("labels.cu", support.device)
    if kernels is None:
        least = [quiet.index_select(0, rows.row * 2 + q) for q in range(2)]
        return torch.stack([rows.sum((p == q) & (support <= least[q])) for q in range(2)], 1)
    out = torch.empty((len(rows), 2), dtype=torch.float64, device=support.device)
    columns = support.contiguous(), p, rows.starts, rows.counts
    kernels.launch("count_up_to_quiet", len(rows), 256, 0, *columns, quiet.contiguous(), out)
    return out


def of_polarity(values: Tensor, row: Tensor, p: Tensor) -> Tensor:
    """Return the value of its window and polarity, (b, 2), for each point, (n,)."""
    kernels = kernels_of("labels.cu", values.device)
    if kernels is not None and values.dtype == torch.float32:
        out, n = torch.empty(row.numel(), dtype=values.dtype, device=values.device), row.numel()
        columns = values.contiguous(), row.contiguous(), p.contiguous()
        kernels.launch_each("values_of_polarity", n, *columns, n, out)
        return out
    return values.reshape(-1).index_select(0, 2 * row + p)


class Weight(NamedTuple):
    """Density of noise at the samples, where it is not uniform."""

    of_samples: Tensor  # (m,)
    of_windows: Tensor  # (b,) bool, whether it counts

    def kept(self, index: Tensor) -> "Weight":
        """Return that of some of the samples."""
        return Weight(self.of_samples.index_select(0, index), self.of_windows)

    def repeated(self, n: int) -> "Weight":
        """Return that of all samples ``n`` times."""
        return Weight(self.of_samples.repeat(n), self.of_windows.repeat(n))


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """Noise samples of each window in the order of their evidence, with their thresholds.

    Tensors have shape (b, m); windows with fewer samples end with infinity.
    """

    evidence: Tensor  # float32, increasing
    counts: Tensor  # (b,) int64
    weight: Tensor | None = None  # float64, density of noise; 0 beyond the last
    weighted: Tensor | None = None  # (b,) bool, windows whose noise is not uniform

    @classmethod
    def of(cls, evidence: Tensor, rows: Rows, density: "Weight | None") -> "Ranked":
        """Sort the samples of each window."""
        order, _ = sorted_rows(evidence, rows.row)
        most = int(rows.counts.max())
        place = rows.row * most + rows.position()
        out = torch.full((len(rows) * most,), torch.inf, device=evidence.device)
        out[place] = evidence.index_select(0, order)
        if density is None:
            return cls(out.reshape(-1, most), rows.counts)
        heavy = torch.zeros(len(rows) * most, dtype=torch.float64, device=evidence.device)
        heavy[place] = density.of_samples.index_select(0, order).to(torch.float64)
        heavy = heavy.reshape(-1, most)
        return cls(out.reshape(-1, most), rows.counts, heavy, density.of_windows)

    def repeated(self, n: int) -> "Ranked":
        """Return the samples of all windows ``n`` times."""
        weight = None if self.weight is None else self.weight.repeat(n, 1)
        weighted = None if self.weighted is None else self.weighted.repeat(n)
        return Ranked(self.evidence.repeat(n, 1), self.counts.repeat(n), weight, weighted)

    @property
    def exists(self) -> Tensor:
        """Which places hold a sample, (b, m) bool."""
        at = torch.arange(self.evidence.shape[1], device=self.counts.device)
        return at < self.counts[:, None]


class Thresholds(NamedTuple):
    """Evidence above which an event is signal, and how well it separates, of each window."""

    threshold: Tensor  # (b,) float64
    separation: Tensor  # (b,) float64


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """Values in rows whose ranks are asked for: sorted, or counted by kernels."""

    rows: Rows
    values: Tensor  # (n,) float32
    keys: Tensor | None  # (n,) sorted; see `row_keys`

    @classmethod
    def of(cls, values: Tensor, rows: Rows) -> "Counted":
        """Sort the values, unless there are kernels."""
        if kernels_of("labels.cu", values.device) is not None:
            return cls(rows, values.contiguous(), None)
        return cls(rows, values, sorted_rows(values, rows.row)[1])

    def up_to(self, steps: Tensor) -> Tensor:
        """Return how many values of its row are at most each step, (b, m) increasing."""
        rows = self.rows
        kernels = kernels_of("labels.cu", steps.device)
        if kernels is None or self.keys is not None:
            assert self.keys is not None
            keys = row_keys(steps, _numbers(rows)[:, None])
            return torch.searchsorted(self.keys, keys, right=True) - rows.starts[:, None]
        b, m = steps.shape
        out = torch.empty((b, m), dtype=torch.int32, device=steps.device)
        kernels.launch(
            "count_up_to", b, 512, 0, self.values, rows.starts, rows.counts, steps.contiguous(), m, out
        )  # fmt: skip
        return torch.cumsum(out, 1)

    def at(self, rank: Tensor, asked: Tensor) -> Tensor:
        """Return the values with ranks, (b,), of the rows that are ``asked``, (b,); of others any."""
        rows = self.rows
        kernels = kernels_of("labels.cu", rank.device)
        if kernels is None or self.keys is not None:
            assert self.keys is not None
            return value_of_keys(self.keys.index_select(0, rows.starts + rank))
        out = torch.zeros(len(rows), dtype=torch.float32, device=rank.device)
        kernels.launch(
            "value_at_rank", len(rows), 256, 0, self.values, rows.starts, rows.counts, rank, asked, out
        )  # fmt: skip
        return out


def best_thresholds(
    evidence: Tensor,
    rows: Rows,
    samples: Ranked,
    false_alarm: Tensor | float,
    least: Tensor | float = LEAST_EVIDENCE,
) -> Thresholds:
    """Return thresholds from evidence in single precision, (n,); see `best_threshold`.

    ``false_alarm`` and ``least`` may differ between windows, (b,).
    """
    n, n_samples = rows.counts, samples.counts
    counted = Counted.of(evidence, rows)
    # Of the sorted events, one in each interval, around the middle.
    interval = (-(-n // (2 * n_samples))).clamp(min=1)
    offset = (n - 1) % interval // 2
    size = (-(-(n - offset) // interval)).clamp(min=1)
    steps, first, kept_samples, n_effective = _steps(samples, n, false_alarm, least)
    n_below = counted.up_to(steps)
    below = (-(-(n_below - offset[:, None]) // interval[:, None])).clamp(min=0)
    kept = 1.0 - torch.minimum(below, size[:, None]).double() / size[:, None]
    variance = torch.maximum(kept_samples, 1.0 / n_effective[:, None])
    deviation = torch.sqrt(variance * (1.0 / size.double() + 1.0 / n_effective)[:, None])
    gain = kept - kept_samples - CERTAINTY * deviation
    at = torch.arange(steps.shape[1], device=steps.device)
    valid = samples.exists & (at >= first[:, None])
    gain = torch.where(valid, gain, -torch.inf)
    highest = gain.amax(1)
    best = (gain == highest[:, None]).to(torch.int8).argmax(1)
    similar = valid & (gain >= (highest - _one(deviation, best))[:, None])
    rank = torch.cumsum(similar.to(torch.int64), 1)
    middle = similar.sum(1) // 2 + 1
    k = (similar & (rank == middle[:, None])).to(torch.int8).argmax(1)
    threshold, share, noise = _one(steps, k).double(), _one(kept, k), _one(kept_samples, k)
    least_count = torch.minimum(n.to(torch.float64), n_effective)
    scale = torch.sqrt(torch.maximum(noise, 1.0 / n_effective) / least_count)
    is_chance = (share > false_alarm) & (share - noise < CHANCE * scale)
    # As in noise alone, of which the events themselves must not keep more either.
    top = offset + interval * torch.floor((1.0 - false_alarm) * size.double()).to(torch.int64)
    ranked = counted.at(torch.minimum(top, n - 1), is_chance)
    threshold = torch.where(is_chance, torch.maximum(threshold, ranked.double()), threshold)
    return Thresholds(threshold, highest)


def _steps(
    samples: Ranked, n: Tensor, false_alarm: Tensor | float, least: Tensor | float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return thresholds to try, (b, m); the first valid one, (b,); the kept share of noise; its size.

    ``n``, shape (b,), are the events. A window with a density of noise weighs its samples by it.
    """
    ranked, counts = samples.evidence, samples.counts
    bound = torch.as_tensor(least, dtype=ranked.dtype, device=ranked.device).reshape(-1, 1)
    steps = torch.maximum(ranked, bound)
    n_below = torch.searchsorted(ranked, steps, right=True)
    n_below = torch.minimum(n_below, counts[:, None])
    n_effective, n_events = counts.to(torch.float64), n.clamp(min=1).to(torch.float64)
    first = torch.floor((1.0 - _sure(false_alarm, n_effective, n_events)) * n_effective)
    first = torch.minimum(first.to(torch.int64), counts - 1)
    kept = (counts[:, None] - n_below).to(torch.float64) / counts[:, None]
    weight, weighted = samples.weight, samples.weighted
    if weight is None or weighted is None:
        return steps, first, kept, n_effective
    # Share of the noise that lies above each sample. In fixed point: the same from run to run.
    whole = torch.round(weight * _FIXED).to(torch.int64)
    total = whole.sum(1, keepdim=True)
    beyond = torch.cat((total, total - torch.cumsum(whole, 1)), 1).to(torch.float64)
    beyond = beyond * (DENSITY_ERROR / beyond[:, :1])
    n_weighted = weight.sum(1) ** 2 / (weight * weight).sum(1)
    most = _sure(false_alarm, n_weighted, n_events)
    start = torch.searchsorted(-beyond[:, 1:].contiguous(), -most[:, None])[:, 0]
    return (
        steps, torch.where(weighted, torch.minimum(start, counts - 1), first),
        torch.where(weighted[:, None], beyond.gather(1, n_below), kept),
        torch.where(weighted, n_weighted, n_effective),
    )  # fmt: skip


def _sure(share: Tensor | float, n_samples: Tensor, n_events: Tensor) -> Tensor:
    """Return a share of samples that is below that of the noise of a window by a standard deviation."""
    variance = share * (1.0 - share) * (1.0 / n_samples + 1.0 / (NOISE_PART * n_events))
    return (share - torch.sqrt(variance)).clamp(min=0.5 * share)


def _numbers(rows: Rows) -> Tensor:
    return torch.arange(len(rows), device=rows.counts.device)


def _one(values: Tensor, k: Tensor) -> Tensor:
    """Return one value of each row: (b, m) to (b,)."""
    return values.gather(1, k[:, None])[:, 0]


def value_of_keys(keys: Tensor) -> Tensor:
    """Return the single-precision values of `row_keys`."""
    ordered = ((keys & 0xFFFFFFFF) - (1 << 31)).to(torch.int32)
    return (ordered ^ ((ordered >> 31) & 0x7FFFFFFF)).view(torch.float32)
