"""Label the events that windows share by all windows so far."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.types import Bools, Floats
from evcrisp.estimators.result import Estimate


class SharedLabels:
    """Takes estimates in order; events of earlier windows get the mean confidence of all of them.

    Overlapping windows see other events around the ones that they share. Where the evidence is near
    the threshold, one keeps an event and the other does not. An event is signal if its mean
    confidence is at least 0.5.
    """

    def __init__(self) -> None:
        self._sums: Floats = np.zeros((2, 0))  # rows: windows, confidence
        self._base = 0  # index of the first of these events in the recording

    def combine(self, result: Estimate) -> Estimate:
        """Return the estimate with labels of this window and of those before."""
        index, n = result.window.index, len(result)
        first = max(index - self._base, 0)
        earlier = self._sums[:, first : first + n] if index >= self._base else self._sums[:, :0]
        n_shared = earlier.shape[1]
        sums = np.stack((np.ones(n), _graded(result)))
        sums[:, :n_shared] += earlier
        self._sums, self._base = sums, index
        if not n_shared:
            return result
        confidence = result.confidence.copy()
        confidence[:n_shared] = (sums[1] / sums[0])[:n_shared]
        signal = result.signal.copy()
        signal[:n_shared] = confidence[:n_shared] >= 0.5
        return replace(result, signal=signal, confidence=confidence, layer=_layer(result, signal))


def _graded(result: Estimate) -> Floats:
    """Return the confidence, on the side of 0.5 where the label is."""
    below = np.nextafter(0.5, 0.0)
    kept = np.maximum(result.confidence, 0.5)
    return np.where(result.signal, kept, np.minimum(result.confidence, below))


def _layer(result: Estimate, signal: Bools) -> NDArray[np.int16]:
    """Return the layer of each event; an event that is kept now belongs to that of its cell."""
    if result.layer_map is None:
        return result.layer  # follows from the labels
    window, events = result.window, result.window.events
    length = max(window.t_end - window.t_start, 1)
    layer = np.where(signal, result.layer, np.int16(-1))
    new = np.flatnonzero(signal & (result.layer < 0))
    share = (events.t[new] - window.t_start) / length
    layer[new] = result.layer_map.at(events.x[new], events.y[new], share)
    return layer
