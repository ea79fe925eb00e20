"""Contrast maps (images of warped events): accumulate events, and sample maps at events."""

from evcrisp.contrast.contrast_map import FOOTPRINTS, POLARITIES, ContrastMap, channel_weights

__all__ = ["FOOTPRINTS", "POLARITIES", "ContrastMap", "channel_weights"]
