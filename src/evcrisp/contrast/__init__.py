"""Contrast maps (images of warped events): built from events, and read back at them."""

from evcrisp.contrast.contrast_map import FOOTPRINTS, ContrastMap
from evcrisp.contrast.polarity import POLARITIES, channel_weights

__all__ = ["FOOTPRINTS", "POLARITIES", "ContrastMap", "channel_weights"]
