"""Figures with matplotlib: data in, axes out. Needs the extra ``plot``."""

from evcrisp.plots.scene import draw_contrast_map, draw_events, save_strip

__all__ = ["draw_contrast_map", "draw_events", "save_strip"]
