"""Figures with matplotlib: data in, axes out. Needs the extra ``plot``."""

from evcrisp.plots.curves import draw_levels, draw_motion, draw_pareto, draw_roc, draw_tradeoff
from evcrisp.plots.figures import FIGURES, FigureKind, figure
from evcrisp.plots.scatter import draw_drift, draw_kept, draw_outcomes, draw_positions, draw_xyt
from evcrisp.plots.scene import (
    draw_before_after,
    draw_confidence,
    draw_contrast_map,
    draw_events,
    save_strip,
)
from evcrisp.plots.style import picture_kind, save_figure

__all__ = [
    "FIGURES",
    "FigureKind",
    "draw_before_after",
    "draw_confidence",
    "draw_contrast_map",
    "draw_drift",
    "draw_events",
    "draw_kept",
    "draw_levels",
    "draw_motion",
    "draw_outcomes",
    "draw_pareto",
    "draw_positions",
    "draw_roc",
    "draw_tradeoff",
    "draw_xyt",
    "figure",
    "picture_kind",
    "save_figure",
    "save_strip",
]
