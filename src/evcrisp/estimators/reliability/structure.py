"""Share of the structured events that the motions leave unexplained.

Events of a moving edge have the polarity of the latest event beside them; those of noise do so by chance
only. Among the events that the motions call noise, the excess over chance counts those of edges.
"""

import numpy as np

from evcrisp.core.events import Events
from evcrisp.core.types import Bools
from evcrisp.estimators.result import Estimate

#: Consecutive events that suffice.
_MAX_EVENTS = 8_192

#: Fewer events with a neighbor, or polarities that nearly all agree by chance, tell nothing.
_LEAST_PAIRS, _LEAST_CHANCE = 50, 0.1

#: Share of the signal that another layer holds in another third of the window, of a motion that changes.
MAX_RELABELED = 0.15

#: Layers whose displacements differ by less are the same for a point, px.
_SAME_PX = 2.0


def relabeled_share(result: Estimate) -> float:
    """Return the share of the signal whose point is of another layer in the middle of the window.

    A motion that changes is found as several layers, one after the other at the same place. Layers
    that are different things move on with their points.
    """
    layer_map, window = result.layer_map, result.window
    if layer_map is None or len(layer_map.index) < 3 or len(result.layer_motions) < 2:
        return 0.0
    length = max(window.t_end - window.t_start, 1)
    chosen = np.flatnonzero(result.signal)[:: max(int(result.signal.sum()) // _MAX_EVENTS, 1)]
    share = (window.events.t[chosen] - window.t_start) / length
    chosen = chosen[np.abs(share - 0.5) > 1.0 / 6.0]
    x, y = result.aligned_x[chosen], result.aligned_y[chosen]
    width, height = window.events.resolution
    is_inside = (x >= 0.0) & (x < width - 0.5) & (y >= 0.0) & (y < height - 0.5)
    x, y, own = x[is_inside], y[is_inside], result.layer[chosen][is_inside]
    if not own.size:
        return 0.0
    other = layer_map.at(x.round(), y.round(), np.full(own.size, 0.5))
    moved = np.array([part.theta[:2] for part in result.layer_motions]) * length / 1e6
    differs = np.linalg.norm(moved[:, None] - moved, axis=2) > _SAME_PX
    return float(differs[own, other].mean())


def unexplained_share(events: Events, signal: Bools) -> float:
    """Return structured events without label signal, over those and the signal, 0 to 1."""
    from evcrisp.kernels.reliability.neighbor_polarity import count_agreement

    first = max((len(events) - _MAX_EVENTS) // 2, 0)
    part = slice(first, first + _MAX_EVENTS)
    x, y = np.ascontiguousarray(events.x[part]), np.ascontiguousarray(events.y[part])
    p = np.ascontiguousarray(events.p[part]).view(np.uint8)
    counts = np.empty(4, np.int64)
    count_agreement(x, y, p, ~signal[part], *events.resolution, counts)
    n_pairs, n_equal, n_on, n_neighbors_on = counts.tolist()
    if n_pairs < _LEAST_PAIRS:
        return 0.0
    on, neighbors_on = n_on / n_pairs, n_neighbors_on / n_pairs
    by_chance = on * neighbors_on + (1.0 - on) * (1.0 - neighbors_on)
    if 1.0 - by_chance < _LEAST_CHANCE:
        return 0.0
    excess = n_equal / n_pairs - by_chance
    # Three standard deviations of chance are no structure.
    excess -= 3.0 * np.sqrt(by_chance * (1.0 - by_chance) / n_pairs)
    structured = max(excess / (1.0 - by_chance), 0.0) * n_pairs
    return float(structured / max(structured + np.count_nonzero(signal[part]), 1.0))
