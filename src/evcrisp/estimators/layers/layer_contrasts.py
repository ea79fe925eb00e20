"""Contrast of layers with their own motions, and with one model for all."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.types import Bools, Floats
from evcrisp.estimators.layers.find_layers import FoundLayers
from evcrisp.estimators.layers.fitting import log_contrast
from evcrisp.estimators.layers.layer_window import LayerWindow
from evcrisp.motion import MotionModel
from evcrisp.motion.open_motion import affine_at
from evcrisp.motion.protocol import center_of

#: Loss of log contrast of a layer under a model that shows that the layer has another motion; and one that
#: shows that it has none of its own. In 222 windows
#: it was at most 0.4 where one motion replaced layers, of spokes that slide along themselves 0.15. It was at
#: least 0.7 in all but one of the windows where a model was tried in vain; there it was 0.24.
_OTHER_MOTION, _SAME_MOTION = 0.6, 0.1

#: Least number of events of such a layer, and events that suffice.
_LEAST_EVENTS, _COMPARED_EVENTS = 300, 4096


class LayerContrast(NamedTuple):
    """Events of a layer, and their log contrast with its own motion."""

    events: NDArray[np.intp]
    value: float


def layer_contrasts(window: LayerWindow, found: FoundLayers, signal: Bools) -> list[LayerContrast]:
    """Return the contrasts of all layers with enough signal; none of a single layer."""
    if len(found) < 2:
        return []
    layer, contrasts = np.where(signal, found.label.reshape(-1)[window.cell], np.int16(-1)), []
    for k, motion in enumerate(found.motions):
        events = np.flatnonzero(layer == k)
        if events.size >= _LEAST_EVENTS:
            events = window.some(events, _COMPARED_EVENTS)
            contrasts.append(LayerContrast(events, log_contrast(window, events, motion)))
    return contrasts


def contradicts(
    window: LayerWindow, contrasts: list[LayerContrast], model: MotionModel, theta: Floats | None
) -> bool:
    """Return whether a layer is clearly sharper with its own motion than with a model.

    ``theta`` is per window; None if it is not known.
    """
    losses = _losses(window, contrasts, model, theta)
    return max(losses, default=0.0) > _OTHER_MOTION


def is_as_sharp(
    window: LayerWindow, contrasts: list[LayerContrast], model: MotionModel, theta: Floats | None
) -> bool:
    """Return whether a model makes each of several layers as sharp as its own motion does."""
    losses = _losses(window, contrasts, model, theta)
    return len(losses) > 1 and max(losses) < _SAME_MOTION


def _losses(
    window: LayerWindow, contrasts: list[LayerContrast], model: MotionModel, theta: Floats | None
) -> list[float]:
    """Return the log contrast that each layer loses with a model of pixels; empty for others."""
    if theta is None or model.uses_rays:
        return []
    center = center_of(window.resolution)
    common = np.array([*affine_at(model, theta, center), *center])
    return [value - log_contrast(window, events, common) for events, value in contrasts]
