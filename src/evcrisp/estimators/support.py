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

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evcrisp.contrast import ContrastMap
from evcrisp.estimators.alignment import WindowData
from evcrisp.estimators.background import (
    Probes,
    background_rate,
    evidence_threshold,
    uniform_probes,
)
from evcrisp.events import Events
from evcrisp.motion import MotionModel, PreparedWarp, prepare

if TYPE_CHECKING:
    from evcrisp.kernels.support import Marks, Pixels

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: Exposure is told from this grid of pixels, at so many times, on a map with tiles of that size.
_GRID_PX, _GRID_TIMES, _TILE_PX = 4, 8, 8

#: Places that were in view for a shorter share of the window are treated as if it were this.
_LEAST_EXPOSURE = 0.1


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
        """Confidence 0..1, shape (n,): w = 1 - A / e^2 with A = t0^2 / 2 for the threshold t0."""
        return confidence(self.value, self.threshold)


def confidence(evidence: Floats, threshold: float) -> Floats:
    """Return the paper's w for a lam of 0, with alpha such that w = 1/2 at the threshold.

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
    from evcrisp.kernels.support import Pixels, vote_by_polarity

    events = events.contiguous()
    duration_s = data.duration_s if data.duration_s > 0.0 else 1.0
    pixels = Pixels(events.x, events.y, data.warp.dt / duration_s, events.p.view(np.uint8))
    x, y = data.warp.warp(theta)
    contrast = ContrastMap(
        footprint="spline", sigma_px=0.0, padding_px=_padding_px(x, y, data.resolution)
    )
    u, v = contrast.to_map(x, y)
    maps = np.zeros((2, *contrast.shape(data.resolution)))
    keep = np.ones(x.size, np.bool_) if voting is None else voting
    vote_by_polarity(u, v, pixels.p, keep, maps)
    probes = uniform_probes(data.resolution)
    marks = _event_marks(pixels, u, v, data.resolution)
    probe_warp = _scaled(_probe_warp(data.warp.model, data.resolution), duration_s)
    probe_x, probe_y = probe_warp.warp(theta)
    probe_marks = _probe_marks(probes, pixels, contrast.to_map(probe_x, probe_y), data.resolution)
    ...
