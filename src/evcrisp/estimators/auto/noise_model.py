"""Noise model of a window: noise samples, background rate, and evidence threshold.

A noise sample is an event that uniform noise could have made: a pixel, a time and a polarity. The
support that thousands of samples read shows what noise reads in this window, on edges and between
them. A false-alarm rate then holds without knowing the amount of noise.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from evcrisp.core.types import Bytes, Floats, Integers, Singles

Reals = Singles | Floats

#: Most samples. A false-alarm rate of 10 % is then known to within 0.3 %.
MAX_SAMPLES = 8192

#: Share of the samples with the least support that determine the background rate.
QUIET_SHARE = 0.2

#: Lowest threshold: the evidence that one event gives at a distance of 1.5 px.
LEAST_EVIDENCE = 0.02

#: Standard deviations by which the kept share of events must exceed that of samples.
_CERTAINTY = 3.0

#: Steps of a low-discrepancy sequence in four dimensions: powers of the root of g^5 = g + 1.
_STEPS = 1.1673039782614187 ** -np.arange(1.0, 5.0)


class NoiseSamples(NamedTuple):
    """Noise samples sorted by source; all arrays have shape (n,)."""

    x: Floats  # px
    y: Floats  # px
    t: Singles  # -0.5 to 0.5, in windows from the reference time
    p: Bytes
    source: Integers  # pixel and polarity: (p * height + y) * width + x


def n_noise_samples_for(n_events: int) -> int:
    """Return the number of samples: about a twentieth of the events, 2048 to 8192."""
    n = MAX_SAMPLES // 4
    while n < MAX_SAMPLES and 20 * n < n_events:
        n *= 2
    return n


@lru_cache(maxsize=32)
def uniform_noise_samples(resolution: tuple[int, int], n: int) -> NoiseSamples:
    """Return n samples for a sensor, always the same ones.

    >>> samples = uniform_noise_samples((346, 260), 8192)
    >>> bool(abs(samples.t.mean()) < 0.001), bool(abs(samples.x.mean() - 172.5) < 0.5)
    (True, True)
    """
    unit = np.mod(0.5 + np.arange(1, n + 1)[:, None] * _STEPS, 1.0)
    width, height = resolution
    x, y, p = (np.floor(unit[:, i] * n) for i, n in enumerate((width, height, 2)))
    source = ((p * height + y) * width + x).astype(np.int32)
    order = np.argsort(source, kind="stable")
    t = (unit[order, 3] - 0.5).astype(np.float32)
    columns = x[order], y[order], t, p[order].astype(np.uint8), source[order]
    for column in columns:
        column.flags.writeable = False
    return NoiseSamples(*columns)


def background_rates(
    support: Reals, p: Bytes, sample_support: Reals, sample_p: Bytes, n_pixels: int
) -> Floats:
    """Return the noise events per pixel and window, OFF and ON, shape (2,); above 0.

    Where samples read the least support there is hardly any signal: events there are noise. Samples
    add nothing to the maps, and neither does an event to its own support. Taking the quietest
    positions therefore does not bias the rate. OFF samples come first.
    """
    from evcrisp.kernels.auto.event_evidence import count_quiet

    quiet, share = np.empty(2, support.dtype), np.empty(2)
    first_on = int(np.searchsorted(sample_p, 1))
    for q, part in enumerate((sample_support[:first_on], sample_support[first_on:])):
        ranked = np.sort(part)  # with many equal numbers, `partition` takes ten times as long
        quiet[q] = ranked[int(QUIET_SHARE * ranked.size)]
        share[q] = np.searchsorted(ranked, quiet[q], side="right") / ranked.size
    counts = np.empty(2, np.int64)
    count_quiet(support, p, quiet, counts)
    return np.maximum(counts, 0.5 * share) / (share * n_pixels)


def evidence_threshold(evidence: Reals, sample_evidence: Reals, false_alarm: float) -> float:
    """Return the evidence above which an event is signal; see `best_threshold`."""
    return best_threshold(evidence, sample_evidence, false_alarm)[0]


def best_threshold(
    evidence: Reals, sample_evidence: Reals, false_alarm: float
) -> tuple[float, float]:
    """Return the evidence above which an event is signal, and how well it separates.

    Among the thresholds that keep at most ``false_alarm`` of the samples, it maximizes the difference
    between the kept shares of events and of samples. That difference is proportional to sensitivity +
    specificity - 1, whatever the amount of noise. Of thresholds that do not differ significantly from
    the best one, the median is taken, which changes least from window to window. Differences within
    chance do not count, so that of pure noise almost nothing is kept. Events beyond twice the number
    of samples are subsampled. The separation is that difference.
    """
    if not evidence.size:
        return LEAST_EVIDENCE, 0.0
    n_samples = sample_evidence.size
    subsample = np.sort(evidence[:: -(-evidence.size // (2 * n_samples))])
    first = min(int((1.0 - false_alarm) * n_samples), n_samples - 1)
    top = np.sort(sample_evidence)[first:]
    steps = np.maximum(top, LEAST_EVIDENCE)
    kept_samples = (top.size - np.searchsorted(top, steps, side="right")) / n_samples
    kept = 1.0 - np.searchsorted(subsample, steps, side="right") / subsample.size
    variance = np.maximum(kept_samples, 1.0 / n_samples) * (1.0 / subsample.size + 1.0 / n_samples)
    deviation = np.sqrt(variance)
    gain = kept - kept_samples - _CERTAINTY * deviation
    best = int(np.argmax(gain))
    similar = np.flatnonzero(gain >= gain[best] - deviation[best])
    return float(steps[similar[similar.size // 2]]), float(gain[best])
