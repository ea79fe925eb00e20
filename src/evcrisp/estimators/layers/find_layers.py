"""Find the layers of a window: propose motions, let them compete, refine, and repeat."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.types import Bools, Floats
from evcrisp.estimators.layers.competition import LAYER_COST, Competition, compete
from evcrisp.estimators.layers.fitting import (
    displacements,
    fit_motion,
    fit_simplest,
    without_sliding,
)
from evcrisp.estimators.layers.layer_window import LayerWindow
from evcrisp.estimators.layers.proposals import MIN_EVENTS, propose
from evcrisp.estimators.layers.splitting import region_proposals, split_proposals
from evcrisp.estimators.significance import MIN_GAIN_SIGMAS, pair_gain_sigmas

#: Rounds of competition and fit with a subsample, and then with all events.
COARSE_ROUNDS, FINE_ROUNDS = 3, 1

#: Events of the subsample on a sensor of 346 x 260 px; larger sensors have more.
_COARSE_EVENTS, _REFERENCE_PIXELS = 18_000, 346 * 260

#: Least support of the events that refine a motion.
_LEAST_SUPPORT = 0.15

#: Steps of a fit in all rounds but the last.
_FIRST_STEPS = 5

#: Most events that refine a motion.
_MAX_FIT_EVENTS = 50_000

#: Motions that are slower (root mean square) need no test, px per window; events of the test.
_TESTED_PX, _TEST_EVENTS = 1.0, 16_384


@dataclass(frozen=True, slots=True, eq=False)
class FoundLayers:
    """Motions of a window, most events first, and where each of them holds."""

    motions: Floats  # (n_layers, 8), see `fitting`
    label: NDArray[np.int16]  # (n_slices, rows, columns)
    is_supported: Bools  # (n,) events with support under the motion of their cell

    def __len__(self) -> int:
        return len(self.motions)


def coarse_step(n_events: int, resolution: tuple[int, int]) -> int:
    """Return the interval of the events that the first rounds use.

    >>> coarse_step(36_000, (346, 260)), coarse_step(1_000_000, (1280, 720))
    (2, 5)
    """
    area = max(resolution[0] * resolution[1] / _REFERENCE_PIXELS, 1.0)
    return max(round(n_events / (_COARSE_EVENTS * area)), 1)


def find_motions(
    window: LayerWindow,
    known: Floats | None = None,
    *,
    cost: float = LAYER_COST,
    n_rounds: int = COARSE_ROUNDS,
) -> Floats:
    """Return motions of a window, shape (k, 8), from a subsample of its events.

    ``known``, shape (k, 8), are motions of the window before; they replace the proposals.
    """
    motions = np.array(propose(window)) if known is None else known
    for step in range(n_rounds):
        found = compete(window, motions, cost)
        motions = _refined(window, found)
        if step == 0:
            least = _LEAST_SUPPORT * window.share
            more = region_proposals(window, found, least, MIN_EVENTS * window.share)
            more += split_proposals(window, found, least) if known is None else []
            motions = np.concatenate((motions, more)) if more else motions
    return motions


def settle_layers(
    window: LayerWindow, motions: Floats, *, cost: float = LAYER_COST, n_rounds: int = FINE_ROUNDS
) -> FoundLayers:
    """Return the layers of a window, from motions that are nearly right."""
    for _ in range(n_rounds):
        motions = _refined(window, compete(window, motions, cost), is_last=True)
    return _sorted(window, compete(window, motions, cost))


def _refined(window: LayerWindow, found: Competition, *, is_last: bool = False) -> Floats:
    """Fit each motion to the supported events of its cells; drop motions of few events."""
    layer = found.of_events(window)
    own_support = found.own_support(layer)
    is_used = (own_support > _LEAST_SUPPORT * window.share) & window.supporting
    refined = []
    largest = int(np.bincount(layer[is_used], minlength=len(found.motions)).argmax())
    for k, motion in enumerate(found.motions):
        events = np.flatnonzero((layer == k) & is_used)
        if events.size < MIN_EVENTS * window.share:
            continue
        events = events[:: max(events.size // _MAX_FIT_EVENTS, 1)]
        if not is_last:
            motion, _ = fit_motion(
                window, events, motion, n_free=6, scales=(2.0,), n_steps=_FIRST_STEPS
            )
        else:
            motion = fit_simplest(window, events, motion)
            other = None if k == largest else found.motions[largest]
            motion = without_sliding(window, events, motion, other)
        refined.append(motion)
    return np.array(refined) if refined else found.motions


def at_rest_without_gain(
    window: LayerWindow, found: FoundLayers, *, cost: float = LAYER_COST
) -> FoundLayers:
    """Set layers to rest whose motion does not align their events significantly.

    The cells compete anew then.
    """
    layer, rest = found.label.reshape(-1)[window.cell], found.motions.copy()
    for k, motion in enumerate(found.motions):
        # All events: those with support were chosen by this motion, and would favor it.
        events = np.flatnonzero((layer == k) & window.supporting)
        events = events[:: max(events.size // _TEST_EVENTS, 1)]
        x, y = window.x[events].astype(np.float64), window.y[events].astype(np.float64)
        moved = displacements(motion, x, y)
        if not events.size or float((moved**2).sum(axis=1).mean()) < _TESTED_PX**2:
            continue
        along = moved * window.tau[events, None]
        aligned = x - along[:, 0], y - along[:, 1]
        if pair_gain_sigmas(aligned, (x, y), window.resolution) < MIN_GAIN_SIGMAS:
            rest[k, :6] = 0.0
    if np.array_equal(rest, found.motions):
        return found
    moving = rest[np.abs(rest[:, :6]).max(axis=1) > 0.0]
    still = rest[np.abs(rest[:, :6]).max(axis=1) == 0.0][:1]
    return _sorted(window, compete(window, np.concatenate((moving, still)), cost))


def _sorted(window: LayerWindow, found: Competition) -> FoundLayers:
    """Order layers by their number of supported events; layers without a cell are dropped."""
    layer = found.of_events(window)
    own_support = found.own_support(layer)
    n_layers = len(found.motions)
    is_supported = own_support > _LEAST_SUPPORT * window.share
    counts = np.bincount(layer[is_supported], minlength=n_layers)
    present = np.bincount(found.label.reshape(-1), minlength=n_layers) > 0
    order = [int(k) for k in np.argsort(-counts, kind="stable") if present[k]]
    position = np.zeros(n_layers, np.int16)
    position[order] = np.arange(len(order), dtype=np.int16)
    return FoundLayers(found.motions[order], position[found.label], is_supported)
