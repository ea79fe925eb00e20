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

import numpy as np

from evcrisp.core.events import Events
from evcrisp.core.types import Bools, Floats, Integers, Singles
from evcrisp.estimators.auto.aligned_maps import AlignedMaps, IndexedWindow, Pixels
from evcrisp.estimators.auto.buffers import Buffers, thread_buffers
from evcrisp.estimators.auto.noise_model import background_rates, evidence_threshold
from evcrisp.motion import Translation, prepare
from evcrisp.search.window_data import WindowData

#: Windows with more events are processed row by row of the sensor: in the order of time, the events
#: of a pixel would be too far apart for the cache.
_MANY_EVENTS = 1_500_000


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Evidence of each event, and the threshold of signal."""

    score: Floats  # (n,) evidence over threshold; finite
    confidence: Floats  # (n,) w at lam = 0: 1 - A / e^2 with A = t0^2 / 2; 1/2 for a score of 1
    signal: Bools  # (n,) whether the score is above 1
    threshold: float  # t0, events per px and window above the background
    background: Floats  # (2,) noise events per px and window, OFF and ON
    maps: AlignedMaps  # from which it was read; buffers


def compute_evidence(
    data: WindowData, events: Events, theta: Floats, *, supporting: Bools, false_alarm: float
) -> Evidence:
    """Return the evidence of each event of a window, given its motion ``theta``, shape (m,).

    ``events`` have contiguous columns. Events in ``supporting``, shape (n,), may support others. At
    most a share ``false_alarm`` of uniform noise is labeled signal.
    """
    if not data.duration_s > 0.0:
        data = replace(data, duration_s=1.0)
    buffers = thread_buffers()
    pixels, order = Pixels(events.x, events.y, events.p), None
    if len(data) > _MANY_EVENTS:
        data, pixels, order = _by_rows(data, pixels)
        supporting = supporting[order]
    maps, support, sample_support = _support(data, pixels, theta, supporting, buffers)
    background = to_evidence(maps, support, sample_support)
    if order is not None:
        by_rows, support = support, buffers.time_order(support.size)
        support[order] = by_rows
    threshold = evidence_threshold(support, sample_support, false_alarm)
    return labeled(support, threshold, background, maps)


def to_evidence(maps: AlignedMaps, support: Singles, sample_support: Singles) -> Floats:
    """Turn the support of events and noise samples into evidence, in place.

    Returns the background: noise events per px and window, OFF and ON.
    """
    from evcrisp.kernels.auto.event_evidence import evidence_from_support

    window = maps.window
    n_pixels = window.data.resolution[0] * window.data.resolution[1]
    p, sample_p = window.p, window.samples.p
    background = background_rates(support, p, sample_support, sample_p, n_pixels)
    rates = background.astype(np.float32)
    readiness, sample_readiness = _readiness(maps, support, sample_support, rates)
    evidence_from_support(support, p, rates, readiness)
    evidence_from_support(sample_support, sample_p, rates, sample_readiness)
    return background


def labeled(evidence: Singles, threshold: float, background: Floats, maps: AlignedMaps) -> Evidence:
    """Return score, confidence and label of events, given their evidence and its threshold."""
    from evcrisp.kernels.auto.event_evidence import score_and_label

    score, confidence = np.empty(evidence.size), np.empty(evidence.size)
    signal = np.empty(evidence.size, np.bool_)
    score_and_label(evidence, threshold, score, confidence, signal)
    return Evidence(score, confidence, signal, threshold, background, maps)


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
