"""Contrast maps by polarity: weights of the events on each map."""

import numpy as np

from evcrisp.core.registry import lookup
from evcrisp.core.types import Bools, Floats

#: Uses of the polarity by name, with a description.
POLARITIES: dict[str, str] = {
    "unsigned": "one map of all events",
    "separate": "one map of the ON events and one of the OFF events",
    "signed": "one map; OFF events have negative weights",
}


def channel_weights(
    p: Bools, polarity: str = "unsigned", weight: Floats | None = None
) -> tuple[Floats, ...]:
    """Return the weights of the events on each map, shape (n,) per map.

    Parameters
    ----------
    p : ndarray of bool, shape (n,)
        Polarity, True = ON.
    polarity : {"unsigned", "separate", "signed"}
        Use of the polarity; of two maps, ON comes first.
    weight : ndarray, shape (n,), optional
        Weight of each event; 1 by default.

    Examples
    --------
    >>> p = np.array([True, False, True])
    >>> [channel.tolist() for channel in channel_weights(p, "separate")]
    [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    >>> [channel.tolist() for channel in channel_weights(p, "signed", np.array([1.0, 0.5, 0.0]))]
    [[1.0, -0.5, 0.0]]
    """
    lookup(POLARITIES, polarity, "polarity")
    weight = np.ones(p.shape) if weight is None else np.array(weight, np.float64)
    if polarity == "separate":
        return np.where(p, weight, 0.0), np.where(p, 0.0, weight)
    if polarity == "signed":
        return (np.where(p, weight, -weight),)
    return (weight,)
