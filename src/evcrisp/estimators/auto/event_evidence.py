r"""How strongly the aligned events of a window speak for each of them.

An edge passes a point of the scene in view of many pixels, one after the other; noise does not. The
support of an event is therefore what other pixels have put at its aligned place, in its polarity,

.. math:: m_k = \frac{1}{E(\mathbf{x}'_k)} \sum_{j: p_j = p_k,\, \mathbf{x}_j \ne \mathbf{x}_k}
          \kappa(\mathbf{x}'_j - \mathbf{x}'_k) ,

in events per pixel and window, with the exposure E: how long that place was in view. Above the
background rate b it is the rate at which pixels fire when they see this place. A pixel that has
just fired must first see the brightness change by a threshold again, and is ready with a share

.. math:: r = 1 - c \left(1 - r_0\right) \left(1 - \min(n / n_0, 1)^2\right)

where n is the number of events to be expected since its last one, and c the chance that this one
was signal. What speaks for the event is

.. math:: e_k = (m_k - b)\, r_k^{\mathrm{before}}\, r_k^{\mathrm{after}} ,

and the chance is :math:`(m - b) r / ((m - b) r + b)`, going from event to event once forward and
once backward through time. All of it takes time in proportion to events and pixels.
"""

from dataclasses import dataclass, replace

import numpy as np

from evcrisp.core.events import Events
from evcrisp.core.types import Bools, Floats, Integers, Singles
from evcrisp.estimators.auto.aligned_maps import LinkedWindow, Pixels, View
from evcrisp.estimators.auto.buffers import scratch_singles
from evcrisp.estimators.auto.noise_model import background_rates, evidence_threshold
from evcrisp.motion import Translation, prepare
from evcrisp.search.alignment import WindowData

#: Of more events than this, those of a pixel are too far apart for the cache: another order is faster.
_MANY_EVENTS = 1_500_000


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What speaks for each event, and how much is enough."""

    score: Floats  # (n,) evidence over threshold; finite
    confidence: (
        Floats  # (n,) the paper's w at lam = 0: 1 - A / e^2, A = t0^2 / 2; 1/2 for a score of 1
    )
    signal: Bools  # (n,) whether the score is above 1
    threshold: float  # t0, events per px and window above the background
    background: Floats  # (2,) noise events per px and window, OFF and ON
    view: View  # the maps of which it was read; scratch


def weigh_evidence(
    data: WindowData, events: Events, theta: Floats, *, voting: Bools, false_alarm: float
) -> Evidence:
    """Return what speaks for each event of a window, given its motion.

    Parameters
    ----------
    data, events : WindowData, Events
        The window, as numbers and as events with contiguous columns.
    theta : ndarray, shape (m,)
        The motion.
    voting : ndarray of bool, shape (n,)
        The events that may support others.
    false_alarm : float
        Largest share of uniform noise that may pass for signal.
    """
    from evcrisp.kernels.auto.event_evidence import conclude, weigh

    if not data.duration_s > 0.0:
        data = replace(data, duration_s=1.0)
    pixels, order = Pixels(events.x, events.y, events.p), None
    if len(data) > _MANY_EVENTS:
        data, pixels, order = _by_rows(data, pixels)
        voting = voting[order]
    view, support, probe_support = _support(data, pixels, theta, voting)
    window = view.window
    n_pixels = data.resolution[0] * data.resolution[1]
    p, probe_p = window.p, window.probes.p
    background = background_rates(support, p, probe_support, probe_p, n_pixels)
    rates = background.astype(np.float32)
    ready, probe_ready = _readiness(view, support, probe_support, rates)
    weigh(support, p, rates, ready)
    weigh(probe_support, probe_p, rates, probe_ready)
    if order is not None:
        support = _put_back(support, order)
    threshold = evidence_threshold(support, probe_support, false_alarm)
    score, confidence = np.empty(len(data)), np.empty(len(data))
    signal = np.empty(len(data), np.bool_)
    conclude(support, threshold, score, confidence, signal)
    return Evidence(score, confidence, signal, threshold, background, view)


def _by_rows(data: WindowData, pixels: Pixels) -> tuple[WindowData, Pixels, Integers]:
    """Bring events into the order of rows of the sensor; return that order, shape (n,), too.

    The events of a pixel, which are looked at together, are then near to each other in memory.
    """
    from evcrisp.kernels.search.array_ops import stable_order

    order = np.empty(len(data), np.int32)
    stable_order(pixels.y, data.resolution[1], order)
    pixels = Pixels(pixels.x[order], pixels.y[order], pixels.p[order])
    columns = (column[order] for column in (data.warp.x, data.warp.y, data.warp.dt))
    return replace(data, warp=data.warp.of(*columns), p=pixels.p), pixels, order


def _put_back(values: Singles, order: Integers) -> Singles:
    """Undo an order."""
    out = scratch_singles("put back", values.size)
    out[order] = values
    return out


def _support(
    data: WindowData, pixels: Pixels, theta: Floats, voting: Bools
) -> tuple[View, Singles, Singles]:
    """Return a view of the window, and the support of events and of probes; all is scratch."""
    window = LinkedWindow.of(data, pixels)
    view = window.at(data.warp, theta, voting)
    support, probe_support = view.support()
    if min(float(support.min(initial=0.0)), float(probe_support.min())) < 0.0:
        # What the motion takes off the map is judged by the pixels around it.
        x, y = pixels.x.astype(np.float64), pixels.y.astype(np.float64)
        raw = prepare(Translation(), x, y, data.warp.dt)
        there, probes_there = window.at(raw, np.zeros(2), voting).support("raw")
        support = np.where(support < 0.0, there, support)
        probe_support = np.where(probe_support < 0.0, probes_there, probe_support)
        view = window.at(data.warp, theta, voting)  # the other one has overwritten it
    return view, support, probe_support


def _readiness(
    view: View, support: Singles, probe_support: Singles, rates: Singles
) -> tuple[Singles, Singles]:
    """Return how ready the pixels of events and probes were, before and after, multiplied."""
    from evcrisp.kernels.auto.event_evidence import follow_pixels, look_at_pixels

    window, n = view.window, support.size
    ready = scratch_singles("ready", n)
    probe_ready = scratch_singles("probe ready", probe_support.size)
    excess, chance = scratch_singles("excess", n + 1), scratch_singles("chance", 2, n + 1)
    follow_pixels(window.t, window.p, window.links, support, rates, excess, chance, ready)
    look_at_pixels(
        view.probes, window.probe_before, window.probe_after, probe_support,
        window.t, rates, excess, chance, probe_ready,
    )  # fmt: skip
    return ready, probe_ready
