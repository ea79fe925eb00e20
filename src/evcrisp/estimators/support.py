r"""How strongly the aligned events of a window speak for each of them.

An edge passes a point of the scene in view of many pixels, one after the other; noise does not. The
support of an event is therefore what other pixels have put at its aligned place, in its polarity,

.. math:: m_k = \frac{1}{E(\mathbf{x}'_k)} \sum_{j: p_j = p_k,\, \mathbf{x}_j \ne \mathbf{x}_k}
          \kappa(\mathbf{x}'_j - \mathbf{x}'_k) ,

in events per pixel and window, with the exposure E: how long that place was in view. Above the
background rate b it is the rate at which pixels fire when they see this place. A pixel that has
just fired must first see the brightness change by a threshold again: it is ready with a share
:math:`r^2` as long as fewer events were to be expected since its last one than it needs. What speaks
for the event is

.. math:: e_k = (m_k - b)\, r_k^{\mathrm{before}}\, r_k^{\mathrm{after}} .

As to whether the last events of the pixel were noise themselves, all possibilities are weighed, going
once forward and once backward through time. All of it takes time in proportion to events and pixels.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evcrisp.contrast import ContrastMap
from evcrisp.estimators.alignment import WindowData
from evcrisp.estimators.background import background_rates, evidence_threshold, uniform_probes
from evcrisp.estimators.view import View
from evcrisp.events import Events
from evcrisp.motion import MotionModel, PreparedWarp, prepare

if TYPE_CHECKING:
    from evcrisp.kernels.support import Links, Pixels

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What speaks for each event, and how much is enough."""

    value: Floats  # (n,) events per px and window above the background; finite
    threshold: float  # the evidence above which an event is signal; positive
    background: Floats  # (2,) noise events per px and window, OFF and ON
    contrast: ContrastMap
    maps: Floats  # (2, h, w) contrast maps of OFF and ON events

    @property
    def signal(self) -> Bools:
        """Which events are signal, shape (n,)."""
        return self.value > self.threshold

    @property
    def confidence(self) -> Floats:
        """Confidence in each event, shape (n,); see :func:`confidence`."""
        return confidence(self.value, self.threshold)


def confidence(evidence: Floats, threshold: float) -> Floats:
    """Return the paper's w at lam = 0: 1 - A / e^2 with A = t0^2 / 2, hence 1/2 at the threshold.

    Examples
    --------
    >>> confidence(np.array([-1.0, 1.0, 2.0, 4.0]), 2.0)
    array([0.   , 0.   , 0.5  , 0.875])
    """
    relative = np.maximum(evidence, 0.5 * threshold) / threshold
    return np.maximum(1.0 - 0.5 / (relative * relative), 0.0)


def weigh_evidence(
    data: WindowData,
    events: Events,
    theta: Floats,
    *,
    false_alarm: float,
    voting: Bools | None = None,
) -> Evidence:
    """Return what speaks for each event of a window, given its motion.

    Parameters
    ----------
    data, events : WindowData, Events
        The window, as numbers and as events.
    theta : ndarray, shape (m,)
        The motion.
    false_alarm : float
        Largest share of uniform noise that may pass for signal.
    voting : ndarray of bool, shape (n,), optional
        The events that may support others; all without it.
    """
    from evcrisp.kernels.support import Pixels

    resolution = data.resolution
    duration_s = data.duration_s if data.duration_s > 0.0 else 1.0
    probes = uniform_probes(resolution)
    probe_pixels = Pixels(probes.x, probes.y, probes.t, probes.p)
    events = events.contiguous()
    pixels = Pixels(events.x, events.y, data.warp.dt / duration_s, events.p.view(np.uint8))
    links = _event_links(pixels, resolution)
    probe_links = _probe_links(probe_pixels, pixels, resolution)
    probe_warp = _stretched(_probe_warp(data.warp.model, resolution), duration_s)

    view = View.aligned(data, pixels.p, theta, voting)
    support = view.event_support(pixels.p, links)
    probe_support = view.probe_support(*probe_warp.warp(theta), probes.p, probe_links, links)
    if min(support.min(initial=0.0), probe_support.min()) < 0.0:
        # Where the motion takes some off the map, the pixels around them have to do.
        raw = View.unaligned(events, voting)
        there = raw.event_support(pixels.p, links)
        support = np.where(support < 0.0, there, support)
        place = probes.x.astype(np.float64), probes.y.astype(np.float64)
        there = raw.probe_support(*place, probes.p, probe_links, links)
        probe_support = np.where(probe_support < 0.0, there, probe_support)

    n_pixels = resolution[0] * resolution[1]
    background = background_rates(support, pixels.p, probe_support, probes.p, n_pixels)
    excess = support - background[pixels.p]
    probe_excess = probe_support - background[probes.p]
    ready, probe_ready = _readiness(
        pixels,
        np.maximum(excess, 0.0),
        links,
        background,
        probe_pixels,
        np.maximum(probe_excess, 0.0),
        probe_links,
    )
    value = np.where(excess > 0.0, excess * ready, excess)
    probe_value = np.where(probe_excess > 0.0, probe_excess * probe_ready, probe_excess)
    threshold = evidence_threshold(value, probe_value, false_alarm)
    return Evidence(value, threshold, background, view.contrast, view.maps)


def _event_links(pixels: "Pixels", resolution: tuple[int, int]) -> "Links":
    from evcrisp.kernels.support import Links, link_events

    links = Links(*(np.empty(pixels.t.size, np.int64) for _ in range(2)))
    link_events(pixels, _empty_table(resolution), *links)
    return links


def _probe_links(probes: "Pixels", events: "Pixels", resolution: tuple[int, int]) -> "Links":
    from evcrisp.kernels.support import Links, link_probes

    links = Links(*(np.empty(probes.t.size, np.int64) for _ in range(2)))
    for backward, link in zip((False, True), links, strict=True):
        link_probes(probes, events, _empty_table(resolution), backward, link)
    return links


def _empty_table(resolution: tuple[int, int]) -> NDArray[np.int64]:
    return np.full((2, resolution[1], resolution[0]), -1, np.int64)


@lru_cache(maxsize=8)
def _probe_warp(model: MotionModel, resolution: tuple[int, int]) -> PreparedWarp:
    """Return the warp of the probes for a window of one second."""
    probes = uniform_probes(resolution)
    return prepare(model, probes.x.astype(np.float64), probes.y.astype(np.float64), probes.t)


def _stretched(warp: PreparedWarp, duration_s: float) -> PreparedWarp:
    return replace(warp, dt=warp.dt * duration_s)


def _readiness(
    pixels: "Pixels",
    excess: Floats,
    links: "Links",
    background: Floats,
    probe_pixels: "Pixels",
    probe_excess: Floats,
    probe_links: "Links",
) -> tuple[Floats, Floats]:
    """Return how ready the pixels of events and of probes were, before and after, multiplied."""
    from evcrisp.kernels.support import follow_pixels, look_at_pixels

    ready, probe_ready = np.ones(excess.size), np.ones(probe_excess.size)
    chance, factor = np.empty(excess.size), np.empty(excess.size)
    probe_factor = np.empty(probe_excess.size)
    for backward, link, start in zip((False, True), links, probe_links, strict=True):
        follow_pixels(pixels.t, pixels.p, excess, link, backward, background, chance, factor)
        look_at_pixels(
            probe_pixels.t, probe_excess, start, link, pixels.t, excess, chance, probe_factor
        )
        ready *= factor
        probe_ready *= probe_factor
    return ready, probe_ready
