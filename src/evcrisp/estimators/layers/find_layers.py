"""Find the layers of a window: propose motions, let them compete, refine, and repeat."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.types import Floats
from evcrisp.estimators.layers.competition import LAYER_COST, Competition, compete
from evcrisp.estimators.layers.fitting import fit_motion
from evcrisp.estimators.layers.layer_window import LayerWindow
from evcrisp.estimators.layers.proposals import MIN_EVENTS, propose

#: Competitions, each but the last followed by a fit.
N_ROUNDS = 5

#: Least support of the events that refine a motion.
_LEAST_SUPPORT = 0.15

#: Most events that refine a motion in the first rounds, over all layers, and least per layer.
_FIRST_EVENTS, _LEAST_EVENTS = (12_000, 25_000), 2_500


@dataclass(frozen=True, slots=True, eq=False)
class FoundLayers:
    """Motions of a window, most events first, and where each of them holds."""

    motions: Floats  # (n_layers, 8), see `fitting`
    label: NDArray[np.int16]  # (n_slices, rows, columns)

    def __len__(self) -> int:
        return len(self.motions)


def find_layers(
    window: LayerWindow,
    known: Floats | None = None,
    *,
    cost: float = LAYER_COST,
    n_rounds: int = N_ROUNDS,
) -> FoundLayers:
    """Return the layers of a window.

    ``known``, shape (k, 8), are motions of the window before; they replace the proposals.
    """
    motions = np.array(propose(window)) if known is None else known
    for step in range(n_rounds - 1):
        motions = _refined(window, compete(window, motions, cost), step)
    return _sorted(window, compete(window, motions, cost))


def _refined(window: LayerWindow, found: Competition, step: int) -> Floats:
    """Fit each motion to the supported events of its cells; drop motions of few events."""
    layer = found.of_events(window)
    own_support = np.take_along_axis(found.support, layer[None].astype(np.intp), axis=0)[0]
    is_used = (own_support > _LEAST_SUPPORT * window.share) & window.supporting
    most = _FIRST_EVENTS[step] if step < len(_FIRST_EVENTS) else len(window)
    refined = []
    for k, motion in enumerate(found.motions):
        events = np.flatnonzero((layer == k) & is_used)
        if events.size < MIN_EVENTS * window.share:
            continue
        n = max(most * events.size / len(window), _LEAST_EVENTS)
        events = events[:: max(int(events.size / n), 1)]
        refined.append(fit_motion(window, events, motion, n_free=6, scales=(2.0,))[0])
    return np.array(refined) if refined else found.motions


def _sorted(window: LayerWindow, found: Competition) -> FoundLayers:
    """Order layers by their number of supported events; layers without a cell are dropped."""
    layer = found.of_events(window)
    own_support = np.take_along_axis(found.support, layer[None].astype(np.intp), axis=0)[0]
    n_layers = len(found.motions)
    counts = np.bincount(layer[own_support > _LEAST_SUPPORT * window.share], minlength=n_layers)
    present = np.bincount(found.label.reshape(-1), minlength=n_layers) > 0
    order = [int(k) for k in np.argsort(-counts, kind="stable") if present[k]]
    position = np.zeros(n_layers, np.int16)
    position[order] = np.arange(len(order), dtype=np.int16)
    return FoundLayers(found.motions[order], position[found.label])
