"""Which events go to which contrast map, by polarity."""

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.registry import lookup
from evcrisp.core.types import Floats

#: What the polarity of an event does, by name.
POLARITIES: dict[str, str] = {
    "unsigned": "nothing: one map of all events",
    "separate": "one map of the ON events and one of the OFF events",
    "signed": "one map, to which OFF events add their weight with a minus",
}


def channel_weights(
    p: NDArray[np.bool_], polarity: str = "unsigned", weight: Floats | None = None
) -> tuple[Floats, ...]:
    """Return what each event adds to each map: one new array of shape (n,) per map.

    Parameters
    ----------
    p : ndarray of bool, shape (n,)
        Polarity, True = ON.
    polarity : {"unsigned", "separate", "signed"}
        ON comes first of two maps.
    weight : ndarray, shape (n,), optional
        What each event adds by itself; one each without it.

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
