"""Plain support: what labels can reach at most, nearly, if every velocity is known.

Every event is moved to the middle of the window by its true velocity; noise by that of the nearest
signal. The support of an event is the sum of a Gaussian of 1 px over the events of its polarity at
other pixels. Its AUC tells whether a scene is hard or a method is bad. It is no strict bound:
evidence that knows the noise and the readiness of pixels can do a little better.
"""

from collections.abc import Mapping

import numpy as np
from benchmarks.quality.label_measures import worst_object
from scipy.spatial import cKDTree

from evcrisp.core.windows import Window, seconds_since
from evcrisp.metrics import rank_auc

SIGMA_PX = 1.0
SPECIFICITY = 0.93
_REACH_PX = 3.0 * SIGMA_PX

#: Distance that a millisecond counts as, when the nearest signal of noise is looked for.
_PX_PER_MS = 0.5


def ceiling(window: Window, truth: Mapping[str, np.ndarray]) -> dict[str, float]:
    """Return the AUC of plain support at the true velocities, and how much of the worst object it keeps.

    ``truth`` has ``signal``, ``object`` and ``velocity`` (n, 2), px/s, NaN for noise. Objects are
    counted at the threshold that drops 93 % of the noise.
    """
    signal = truth["signal"]
    velocity = velocity_of_nearest_signal(window, signal, truth["velocity"])
    support = plain_support(window, velocity)
    kept = support > np.quantile(support[~signal], SPECIFICITY)
    auc = float(rank_auc(support, signal))
    return {"ceiling_auc": auc, "ceiling_object_kept": worst_object(kept, truth["object"])[1]}


def velocity_of_nearest_signal(
    window: Window, signal: np.ndarray, velocity: np.ndarray
) -> np.ndarray:
    """Return velocities in which noise has that of the nearest signal, shape (n, 2), px/s."""
    events = window.events
    milliseconds = 1e3 * seconds_since(events.t, window.t_ref)
    places = np.column_stack((events.x, events.y, _PX_PER_MS * milliseconds))
    _, nearest = cKDTree(places[signal]).query(places[~signal])
    filled = np.array(velocity, np.float64)
    filled[~signal] = velocity[signal][nearest]
    return filled


def plain_support(window: Window, velocity: np.ndarray) -> np.ndarray:
    """Return the support of every event that is moved by its own velocity, shape (n,)."""
    events = window.events
    shift = velocity * seconds_since(events.t, window.t_ref)[:, None]
    places = np.column_stack((events.x, events.y)) - shift
    pixel = events.y.astype(np.int64) * events.width + events.x
    support = np.zeros(len(events))
    for polarity in (False, True):
        own = np.flatnonzero(events.p == polarity)
        i, j = cKDTree(places[own]).query_pairs(_REACH_PX, output_type="ndarray").T
        other = pixel[own[i]] != pixel[own[j]]
        i, j = own[i[other]], own[j[other]]
        weight = np.exp(-0.5 * ((places[i] - places[j]) ** 2).sum(axis=1) / SIGMA_PX**2)
        support += np.bincount(i, weight, support.size) + np.bincount(j, weight, support.size)
    return support
