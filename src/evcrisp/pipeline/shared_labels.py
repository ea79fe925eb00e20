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
        self._only: tuple[Floats, Bools] | None = None  # of the window that alone has these events
        self._base = 0  # index of the first of these events in the recording

    def combine(self, result: Estimate) -> Estimate:
        """Return the estimate with labels of this window and of those before."""
        index, n = result.window.index, len(result)
        first = max(index - self._base, 0)
        n_before = self._sums.shape[1] if self._only is None else self._only[1].size
        n_shared = max(min(n_before - first, n), 0) if index >= self._base else 0
        self._base = index
        if not n_shared:
            # Sums cost more than copies, and are needed only if a window overlaps.
            self._only = result.confidence.copy(), result.signal.copy()
            return result
        earlier = self._sums if self._only is None else _sums(*self._only)
        sums = _sums(result.confidence, result.signal)
        sums[:, :n_shared] += earlier[:, first : first + n_shared]
        self._sums, self._only = sums, None
        confidence = result.confidence.copy()
        confidence[:n_shared] = (sums[1] / sums[0])[:n_shared]
        signal = result.signal.copy()
        signal[:n_shared] = confidence[:n_shared] >= 0.5
        return replace(result, signal=signal, confidence=confidence, layer=_layer(result, signal))


def _sums(confidence: Floats, signal: Bools) -> Floats:
    """Return windows, and their confidence on the side of 0.5 where the label is, shape (2, n)."""
    below = np.nextafter(0.5, 0.0)
    graded = np.where(signal, np.maximum(confidence, 0.5), np.minimum(confidence, below))
    return np.stack((np.ones(signal.size), graded))


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
