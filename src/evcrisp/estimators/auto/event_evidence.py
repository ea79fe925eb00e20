r"""Evidence that each event of a window is signal, from the other aligned events.

An edge passes a point of the scene in view of many pixels, one after the other; noise does not. The
support of an event is the contrast at its aligned position that comes from other pixels of its
polarity,

.. math:: m_k = \frac{1}{E(\mathbf{x}'_k)} \sum_{j: p_j = p_k,\, \mathbf{x}_j \ne \mathbf{x}_k}
          \kappa(\mathbf{x}'_j - \mathbf{x}'_k) ,

in events per pixel and window. The exposure E is the share of the window during which that position
was in view. Support above the background rate b is the rate at which pixels fire when they see this
point. A pixel that has just fired must first see the brightness change by a threshold again. Its
readiness is

.. math:: r = 1 - c \left(1 - r_0\right) \left(1 - \min(n / n_0, 1)^2\right)

where n is the number of events expected since its last one, and c the probability that this one was
signal. The evidence of the event is

.. math:: e_k = (m_k - b)\, r_k^{\mathrm{before}}\, r_k^{\mathrm{after}} ,

and the probability is :math:`(m - b) r / ((m - b) r + b)`, computed from event to event once forward
and once backward in time. The cost is linear in events and pixels.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events
from evcrisp.core.types import Bools, Floats, Integers, Singles
from evcrisp.estimators.auto.aligned_maps import AlignedMaps, IndexedWindow, Pixels
from evcrisp.estimators.auto.buffers import Buffers, thread_buffers
from evcrisp.estimators.auto.label_choice import (
    ByMotion,
    neighbors_instead,
    part_to_test,
)
from evcrisp.estimators.auto.noise_density import density_of_noise
from evcrisp.estimators.auto.noise_model import background_rates, best_threshold, quiet_support
from evcrisp.estimators.auto.short_evidence import in_time
from evcrisp.motion import Translation, prepare
from evcrisp.search.window_data import WindowData

#: Windows with more events are processed row by row of the sensor: in the order of time, the events
#: of a pixel would be too far apart for the cache.
_MANY_EVENTS = 1_500_000


class Labels(NamedTuple):
    """Labels of events; all arrays have shape (n,)."""

    score: Floats  # evidence over threshold; finite
    confidence: Floats  # w at lam = 0: 1 - A / e^2 with A = t0^2 / 2; 1/2 for a score of 1
    signal: Bools  # whether the score is above 1


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Labels of the events of a window, and from what they come."""

    labels: Labels  # from the evidence that separates best
    by_motion: Labels  # from the events that the motion aligns; mostly the same object
    threshold: float  # t0 by motion, events per px and window above the background
    background: Floats  # (2,) noise events per px and window, OFF and ON
    maps: AlignedMaps  # from which it was read; buffers
    order: Integers | None = None  # (n,) event of each point on the maps; None: the same order


def compute_evidence(
    data: WindowData, events: Events, theta: Floats, *, supporting: Bools, false_alarm: float
) -> Evidence:
    """Return the evidence of each event of a window, given its motion ``theta``, shape (m,).

    ``events`` have contiguous columns. Events in ``supporting``, shape (n,), may support others. At
    most a share ``false_alarm`` of uniform noise is labeled signal.
    """
    found = evidence_by_motion(data, events, theta, supporting=supporting, false_alarm=false_alarm)
    return found.best()


@dataclass(frozen=True, slots=True, eq=False)
class MotionEvidence:
    """Evidence by a motion, before a test whether neighbors separate better."""

    evidence: Evidence  # with the labels by the motion
    motion: ByMotion
    false_alarm: float

    def best(self) -> Evidence:
        """Return the evidence with the labels that separate best; buffers must still be as they were."""
        evidence = self.evidence
        better = neighbors_instead(
            evidence.maps.window, self.motion, self.false_alarm, evidence.order
        )
        if better is None:
            return evidence
        return replace(evidence, labels=labels_of(better.evidence, better.threshold))


def evidence_by_motion(
    data: WindowData, events: Events, theta: Floats, *, supporting: Bools, false_alarm: float
) -> MotionEvidence:
    """Return the evidence of each event by its motion alone; see `compute_evidence`."""
    if not data.duration_s > 0.0:
        data = replace(data, duration_s=1.0)
    buffers = thread_buffers()
    pixels, order = Pixels(events.x, events.y, events.p), None
    if len(data) > _MANY_EVENTS:
        data, pixels, order = _by_rows(data, pixels)
        supporting = supporting[order]
    maps, support, sample_support = _support(data, pixels, theta, supporting, buffers)
    part = part_to_test(maps.window, order)
    raw = part.of(support if order is None else in_time(support, order)).copy()
    noise = to_evidence(maps, support, sample_support)
    if order is not None:
        by_rows, support = support, buffers.time_order(support.size)
        support[order] = by_rows
    threshold, _ = best_threshold(support, sample_support, false_alarm, noise.weight)
    tested = part.of(support)
    motion = ByMotion(
        part, raw, tested > threshold, threshold, tested, sample_support,
        noise.rates.astype(np.float32), noise.weight, supporting,
    )  # fmt: skip
    labels = labels_of(support, threshold)
    evidence = Evidence(labels, labels, threshold, noise.rates, maps, order)
    return MotionEvidence(evidence, motion, false_alarm)


class Noise(NamedTuple):
    """Background of a window."""

    rates: Floats  # (2,) noise events per px and window where noise is least, OFF and ON
    weight: Singles | None  # (m,) density of noise at the samples; None if it is uniform


def to_evidence(maps: AlignedMaps, support: Singles, sample_support: Singles) -> Noise:
    """Turn the support of events and noise samples into evidence, in place."""
    from evcrisp.kernels.auto.event_evidence import evidence_from_support

    window = maps.window
    p, sample_p = window.p, window.samples.p
    quiet, share = quiet_support(sample_support, sample_p)
    background = background_rates(support, p, quiet, share, window.live.area)
    rates = background.astype(np.float32)
    weight = _subtract_dense_noise(maps, support, sample_support, quiet, rates)
    readiness, sample_readiness = _readiness(maps, support, sample_support, rates)
    evidence_from_support(support, p, rates, readiness)
    evidence_from_support(sample_support, sample_p, rates, sample_readiness)
    return Noise(background, weight)


def _subtract_dense_noise(
    maps: AlignedMaps, support: Singles, sample_support: Singles, quiet: NDArray, rates: Singles
) -> Singles | None:
    """Subtract from support what dense noise adds to it; return the density at the samples."""
    window = maps.window
    pixels, samples = window.pixels, window.samples
    density = density_of_noise(window, support, sample_support, quiet)
    if density is None:
        return None
    of_events, of_samples = density.at(pixels.x, pixels.y), density.at(samples.x, samples.y)
    support -= (of_events - 1.0) * rates[window.p]
    sample_support -= (of_samples - 1.0) * rates[samples.p]
    return of_samples


def labels_of(evidence: Singles, threshold: float) -> Labels:
    """Return the labels of events, given their evidence and its threshold."""
    from evcrisp.kernels.auto.event_evidence import score_and_label

    score, confidence = np.empty(evidence.size), np.empty(evidence.size)
    signal = np.empty(evidence.size, np.bool_)
    score_and_label(evidence, threshold, score, confidence, signal)
    return Labels(score, confidence, signal)


def _by_rows(data: WindowData, pixels: Pixels) -> tuple[WindowData, Pixels, Integers]:
    """Sort events by rows of the sensor; return the order, shape (n,), too."""
    from evcrisp.kernels.search.array_ops import stable_order

    order = np.empty(len(data), np.int32)
    stable_order(pixels.y, data.resolution[1], order)
    pixels = Pixels(pixels.x[order], pixels.y[order], pixels.p[order])
    columns = (column[order] for column in (data.warp.x, data.warp.y, data.warp.dt))
    return replace(data, warp=data.warp.of(*columns), p=pixels.p), pixels, order


def _support(
    data: WindowData, pixels: Pixels, theta: Floats, supporting: Bools, buffers: Buffers
) -> tuple[AlignedMaps, Singles, Singles]:
    """Return the maps of the window, and the support of events and of noise samples."""
    window = IndexedWindow.of(data, pixels, buffers)
    maps = window.at(data.warp, theta, supporting)
    support, sample_support = maps.support()
    if min(float(support.min(initial=0.0)), float(sample_support.min())) < 0.0:
        # Events that the motion moves off the map are judged by the pixels around them.
        x, y = pixels.x.astype(np.float64), pixels.y.astype(np.float64)
        unmoved = prepare(Translation(), x, y, data.warp.dt)
        unaligned = window.at(unmoved, np.zeros(2), supporting).support(aligned=False)
        support = np.where(support < 0.0, unaligned[0], support)
        sample_support = np.where(sample_support < 0.0, unaligned[1], sample_support)
        maps = window.at(data.warp, theta, supporting)  # the unaligned maps use the same buffers
    return maps, support, sample_support


def _readiness(
    maps: AlignedMaps, support: Singles, sample_support: Singles, rates: Singles
) -> tuple[Singles, Singles]:
    """Return the readiness of events and of noise samples, before and after, multiplied."""
    from evcrisp.kernels.auto.event_evidence import forward_backward_readiness, readiness_of_samples

    window, buffers, n = maps.window, maps.window.buffers, support.size
    readiness = buffers.events.readiness(n)
    sample_readiness = buffers.samples.readiness(sample_support.size)
    excess, chance = buffers.excess(n + 1), buffers.chance(2, n + 1)
    forward_backward_readiness(
        window.t, window.p, window.links, support, rates, excess, chance, readiness
    )
    readiness_of_samples(
        maps.samples, window.sample_before, window.sample_after, sample_support,
        window.t, rates, excess, chance, sample_readiness,
    )  # fmt: skip
    return readiness, sample_readiness
