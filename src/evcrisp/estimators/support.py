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

from evcrisp.estimators.alignment import WindowData
from evcrisp.estimators.background import (
    N_PROBES,
    background_rates,
    evidence_threshold,
    uniform_probes,
)
from evcrisp.estimators.view import View, scratch
from evcrisp.events import Events
from evcrisp.motion import MotionModel, PreparedWarp, Translation, prepare

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
    view: View  # the maps of which it was read; scratch

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
    data: WindowData, events: Events, theta: Floats, *, voting: Bools, false_alarm: float
) -> Evidence:
    """Return what speaks for each event of a window, given its motion.

    Parameters
    ----------
    data, events : WindowData, Events
        The window, as numbers and as events.
    theta : ndarray, shape (m,)
        The motion.
    voting : ndarray of bool, shape (n,)
        The events that may support others.
    false_alarm : float
        Largest share of uniform noise that may pass for signal.
    """
    from evcrisp.kernels.support import weigh

    if not data.duration_s > 0.0:
        data = replace(data, duration_s=1.0)
    marks = _Marks.of(data, events.contiguous())
    view, support, probe_support = marks.read(data, theta, voting)
    if min(float(support.min(initial=0.0)), float(probe_support.min())) < 0.0:
        # What the motion takes off the map is judged by the pixels around it.
        x, y = events.x.astype(np.float64), events.y.astype(np.float64)
        raw = replace(data, warp=prepare(Translation(), x, y, data.warp.dt))
        _, there, probes_there = marks.read(raw, np.zeros(2), voting)
        support = np.where(support < 0.0, there, support)
        probe_support = np.where(probe_support < 0.0, probes_there, probe_support)
        view, *_ = marks.read(data, theta, voting)  # the other one has overwritten its maps
    p, probe_p = marks.events.p, marks.probes.p
    n_pixels = data.resolution[0] * data.resolution[1]
    background = background_rates(support, p, probe_support, probe_p, n_pixels)
    ready, probe_ready = marks.readiness(support, probe_support, background)
    weigh(support, p, background, ready)
    weigh(probe_support, probe_p, background, probe_ready)
    threshold = evidence_threshold(support, probe_support, false_alarm)
    return Evidence(support, threshold, background, view)


@dataclass(frozen=True, slots=True, eq=False)
class _Marks:
    """The events of a window and probes among them, linked pixel by pixel."""

    events: "Pixels"
    probes: "Pixels"
    links: "Links"  # of the events
    probe_links: "Links"

    @classmethod
    def of(cls, data: WindowData, events: Events) -> "_Marks":
        from evcrisp.kernels.support import Links, Pixels, link_events, link_probes

        p = events.p.view(np.uint8)
        marks = cls(
            Pixels(events.x, events.y, data.warp.dt / data.duration_s, p),
            Pixels(*uniform_probes(data.resolution)),
            Links(*np.empty((2, p.size), np.int32)),
            Links(*np.empty((2, N_PROBES), np.int32)),
        )
        width, height = data.resolution
        table = scratch().floats("table", 2 * width * height).view(np.int32)
        table = table[: 2 * width * height].reshape(2, height, width)
        link_events(marks.events, table, *marks.links)
        for backward, link in zip((False, True), marks.probe_links, strict=True):
            link_probes(marks.probes, marks.events, backward, table, link)
        return marks

    def read(self, data: WindowData, theta: Floats, voting: Bools) -> tuple[View, Floats, Floats]:
        """Return the view at a motion, and the support of events and probes in it."""
        warp = _probe_warp(data.warp.model, data.resolution)
        x, y = replace(warp, dt=warp.dt * data.duration_s).warp(theta)
        view = View.of(data, theta, voting, (x, y))
        probe_support = view.probe_support(x, y, self.probes.p, self.probe_links, self.links)
        return view, view.event_support(self.links), probe_support

    def readiness(
        self, support: Floats, probe_support: Floats, background: Floats
    ) -> tuple[Floats, Floats]:
        """Return how ready the pixels of events and probes were, before and after, multiplied."""
        from evcrisp.kernels.support import follow_pixels, look_at_pixels

        t, p = self.events.t, self.events.p
        ready, probe_ready = np.ones(support.size), np.ones(probe_support.size)
        chance = np.empty(support.size)
        for backward, link, start in zip((False, True), self.links, self.probe_links, strict=True):
            follow_pixels(t, p, support, link, backward, background, chance, ready)
            look_at_pixels(
                self.probes,
                probe_support,
                start,
                self.events,
                support,
                link,
                background,
                chance,
                probe_ready,
            )
        return ready, probe_ready


@lru_cache(maxsize=8)
def _probe_warp(model: MotionModel, resolution: tuple[int, int]) -> PreparedWarp:
    """Return the warp of the probes for a window of one second."""
    probes = uniform_probes(resolution)
    return prepare(model, probes.x.astype(np.float64), probes.y.astype(np.float64), probes.t)
