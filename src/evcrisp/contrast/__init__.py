"""Contrast maps (images of warped events): built from events, and read back at them."""

from evcrisp.contrast.contrast_map import FOOTPRINTS, ContrastMap

__all__ = ["FOOTPRINTS", "ContrastMap"]
