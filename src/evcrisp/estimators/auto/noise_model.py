"""Noise model of a window: noise samples, background rate, and evidence threshold.

A noise sample is an event that uniform noise could have made: a pixel, a time and a polarity. The
support that thousands of samples read shows what noise reads in this window, on edges and between
them. A false-alarm rate then holds without knowing the amount of noise.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.live_area import Box
from evcrisp.core.types import Bytes, Floats, Integers, Singles

Reals = Singles | Floats

#: Most samples. A false-alarm rate of 10 % is then known to within 0.3 %.
MAX_SAMPLES = 8192

#: Share of the samples with the least support that determine the background rate.
QUIET_SHARE = 0.2

#: Lowest threshold: the evidence that one event gives at a distance of 1.5 px.
LEAST_EVIDENCE = 0.02

#: Standard deviations by which the kept share of events must exceed that of samples.
CERTAINTY = 3.0

#: Share of the events of a window that may be its noise: of so few, more than the bound may be kept by chance.
NOISE_PART = 0.25

#: Standard deviations, of the smaller number of events or samples, that chance reaches: a search finds
#: the motion at which most events of noise meet. In noise alone they are at most 9, in signal of 15 % or
#: more at least 10.
CHANCE = 9.5

#: Factor on the kept share of samples that are weighted by the density of noise: where noise is dense,
#: more of it is kept, and the density of a tile is known to about a fifth.
DENSITY_ERROR = 1.25

#: Steps of a low-discrepancy sequence in three dimensions: powers of the root of g^4 = g + 1.
_STEPS = 1.2207440846057596 ** -np.arange(1.0, 4.0)


class NoiseSamples(NamedTuple):
    """Noise samples sorted by source; all arrays have shape (n,)."""

    x: Floats  # px
    y: Floats  # px
    t: Singles  # -0.5 to 0.5, in windows from the reference time
    p: Bytes
    source: Integers  # pixel and polarity: (p * height + y) * width + x
    group: Integers  # number of its group of 32: mirrored, transposed, reversed, other polarity


def n_noise_samples_for(n_events: int) -> int:
    """Return the number of samples: about a twentieth of the events, 2048 to 8192."""
    n = MAX_SAMPLES // 4
    while n < MAX_SAMPLES and 20 * n < n_events:
        n *= 2
    return n


@lru_cache(maxsize=32)
def uniform_noise_samples(resolution: tuple[int, int], n: int) -> NoiseSamples:
    """Return n samples for a sensor, always the same ones; n is a multiple of 32.

    Mirrored along x or y, with swapped polarity, in reversed time, or on the transposed sensor, the
    samples are the same: what they measure does not depend on the direction of anything.

    >>> samples = uniform_noise_samples((346, 260), 8192)
    >>> bool(abs(samples.t.mean()) < 0.01), float(samples.x.mean())
    (True, 172.5)
    """
    unit = np.mod(0.5 + np.arange(1, n // 32 + 1)[:, None] * _STEPS, 1.0)
    unit = np.concatenate((unit, unit[:, [1, 0, 2]]))
    unit = np.concatenate((unit, unit * (1.0, 1.0, -1.0) + (0.0, 0.0, 1.0)))
    width, height = resolution
    # A quarter of the sensor; its mirror images are the rest.
    x, y = (np.floor(0.5 * unit[:, i] * side) for i, side in enumerate((width, height)))
    ends = (0.0, 1.0)
    mirror_x, mirror_y, p = (side.reshape(-1, 1) for side in np.meshgrid(*(ends,) * 3))
    x = np.where(mirror_x, width - 1 - x, x).ravel()
    y = np.where(mirror_y, height - 1 - y, y).ravel()
    t = np.tile((unit[:, 2] - 0.5).astype(np.float32), p.size)
    group = np.tile(np.arange(len(unit)) % (n // 32), p.size).astype(np.int32)
    p = np.broadcast_to(p, (p.size, len(unit))).ravel()
    source = ((p * height + y) * width + x).astype(np.int32)
    order = np.argsort(source, kind="stable")
    columns = x[order], y[order], t[order], p[order].astype(np.uint8), source[order], group[order]
    for column in columns:
        column.flags.writeable = False
    return NoiseSamples(*columns)


@lru_cache(maxsize=32)
def noise_samples_in(box: Box, resolution: tuple[int, int], n: int) -> NoiseSamples:
    """Return n samples for a part of a sensor, always the same ones."""
    samples = uniform_noise_samples(box.resolution, n)
    if box == Box.whole(resolution):
        return samples
    x, y = samples.x + box.left, samples.y + box.top
    width, height = resolution
    source = ((samples.p * float(height) + y) * width + x).astype(np.int32)
    for column in (x, y, source):
        column.flags.writeable = False
    return NoiseSamples(x, y, samples.t, samples.p, source, samples.group)


def quiet_support(sample_support: Reals, sample_p: Bytes) -> tuple[NDArray, Floats]:
    """Return the support up to which samples are quiet, and their share, OFF and ON, both (2,).

    OFF samples come first.
    """
    quiet, share = np.empty(2, sample_support.dtype), np.empty(2)
    first_on = int(np.searchsorted(sample_p, 1))
    for q, part in enumerate((sample_support[:first_on], sample_support[first_on:])):
        ranked = np.sort(part)  # with many equal numbers, `partition` takes ten times as long
        quiet[q] = ranked[int(QUIET_SHARE * ranked.size)]
        share[q] = np.searchsorted(ranked, quiet[q], side="right") / ranked.size
    return quiet, share


def background_rates(
    support: Reals, p: Bytes, quiet: NDArray, share: Floats, n_pixels: int
) -> Floats:
    """Return the noise events per pixel and window, OFF and ON, shape (2,); above 0.

    Where samples read the least support there is hardly any signal: events there are noise. Samples
    add nothing to the maps, and neither does an event to its own support. Taking the quietest
    positions therefore does not bias the rate. ``quiet`` and ``share`` are from `quiet_support`.
    """
    from evcrisp.kernels.auto.event_evidence import count_quiet

    counts = np.empty(2, np.int64)
    count_quiet(support, p, quiet, counts)
    return np.maximum(counts, 0.5 * share) / (share * n_pixels)


def best_threshold(
    evidence: Reals,
    sample_evidence: Reals,
    false_alarm: float,
    weight: Reals | None = None,
    least: float = LEAST_EVIDENCE,
) -> tuple[float, float]:
    """Return the evidence above which an event is signal, and how well it separates.

    Among the thresholds that keep at most ``false_alarm`` of the samples, it maximizes the difference
    between the kept shares of events and of samples. That difference is proportional to sensitivity +
    specificity - 1, whatever the amount of noise. Of thresholds that do not differ significantly from
    the best one, the median is taken, which changes least from window to window. Differences within
    chance do not count, so that of pure noise almost nothing is kept. Events beyond twice the number
    of samples count as so many. The separation is that difference.

    ``weight``, shape (m,), is the density of noise at the samples; default: the same everywhere. No
    threshold is below ``least``.
    """
    if not evidence.size:
        return least, 0.0
    from evcrisp.kernels.auto.noise_model import best_step

    n_samples = sample_evidence.size
    # Of the sorted events, so that their order in time does not matter; around the middle.
    interval = -(-evidence.size // (2 * n_samples))
    ranked, start = np.sort(evidence), (evidence.size - 1) % interval // 2
    if weight is None:
        n_effective = float(n_samples)
        most = _sure(false_alarm, n_effective, evidence.size)
        first = min(int((1.0 - most) * n_samples), n_samples - 1)
        top = np.sort(sample_evidence)[first:]
        steps = np.maximum(top, least)
        kept_samples = (top.size - np.searchsorted(top, steps, side="right")) / n_samples
    else:
        order = np.argsort(sample_evidence, kind="stable")
        # Share of the noise that lies above each sample.
        beyond = np.append(np.cumsum(weight[order][::-1], dtype=np.float64)[::-1], 0.0)
        beyond *= DENSITY_ERROR / beyond[0]
        ranked_samples = sample_evidence[order]
        n_effective = float(
            weight.sum(dtype=np.float64) ** 2 / np.square(weight, dtype=np.float64).sum()
        )
        most = _sure(false_alarm, n_effective, evidence.size)
        first = min(int(np.searchsorted(-beyond[1:], -most)), n_samples - 1)
        steps = np.maximum(ranked_samples[first:], least)
        kept_samples = beyond[np.searchsorted(ranked_samples, steps, side="right")]
    k, kept, gain = best_step(ranked, start, interval, steps, kept_samples, n_effective, CERTAINTY)
    threshold, above = float(steps[k]), float(kept_samples[k])
    scale = math.sqrt(max(above, 1.0 / n_effective) / min(evidence.size, n_effective))
    if kept > false_alarm and kept - above < CHANCE * scale:
        # As in noise alone, of which the events themselves must not keep more either.
        subsample = ranked[start::interval]
        threshold = max(threshold, float(subsample[int((1.0 - false_alarm) * subsample.size)]))
    return threshold, gain


def _sure(share: float, n_samples: float, n_events: int) -> float:
    """Return a share of samples that is below that of the noise of a window by a standard deviation.

    Samples differ from noise by chance, and so does the noise of a window with few events.
    """
    variance = share * (1.0 - share) * (1.0 / n_samples + 1.0 / (NOISE_PART * n_events))
    return max(share - math.sqrt(variance), 0.5 * share)


def evidence_threshold(evidence: Reals, sample_evidence: Reals, false_alarm: float) -> float:
    """Return the evidence above which an event is signal; see `best_threshold`."""
    return best_threshold(evidence, sample_evidence, false_alarm)[0]
