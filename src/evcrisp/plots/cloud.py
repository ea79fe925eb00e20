"""Draw events as a cloud over x, y and t."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.events import Events
from evcrisp.plots.scatter import as_mask
from evcrisp.plots.style import PALE, palette_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Number of dots; more would hide each other.
MAX_DOTS = 20_000


def draw_xyt(
    axes: "Axes",
    events: Events,
    signal: ArrayLike | None = None,
    *,
    colors: str = "red-blue",
    azimuth_deg: float = -72.0,
    elevation_deg: float = 22.0,
) -> "Axes":
    """Draw events as a cloud over time, which runs into the depth; moving edges are surfaces.

    Parameters
    ----------
    axes : matplotlib Axes3D
        Made with ``projection="3d"``.
    events : Events
        Above ``MAX_DOTS``, every second, third, ... event is drawn.
    signal : array_like of bool, shape (n,), optional
        Noise events are gray.
    colors : str
        Palette.
    azimuth_deg, elevation_deg : float, degrees
        Direction of view.
    """
    palette = palette_of(colors)
    kept = np.ones(len(events), np.bool_) if signal is None else as_mask(signal, events)
    step = max(1, -(-len(events) // MAX_DOTS))
    shown, kept = events[::step], kept[::step]
    t_ms = (shown.t - shown.t[0]) / 1e3 if len(shown) else np.zeros(0)
    groups = (
        (~kept, PALE, "noise"),
        (kept & ~shown.p, palette.off, "OFF"),
        (kept & shown.p, palette.on, "ON"),
    )
    solid: Any = axes
    dots = {"s": 1.2, "linewidths": 0, "depthshade": False, "rasterized": True}
    for chosen, color, label in groups:
        if chosen.any():
            columns = shown.x[chosen], t_ms[chosen], shown.y[chosen]
            solid.scatter(*columns, color=color, label=label, **dots)
    solid.set(xlabel="x [px]", ylabel="t [ms]", zlabel="y [px]")
    solid.set_xlim(0, events.width)
    solid.set_zlim(events.height, 0)  # y points down
    solid.set_box_aspect((1.0, 1.7, events.height / events.width), zoom=0.98)
    solid.view_init(elev=elevation_deg, azim=azimuth_deg)
    for axis in (solid.xaxis, solid.yaxis, solid.zaxis):
        axis.pane.set_facecolor("#f6f6f6" if palette.ground == "#ffffff" else palette.ground)
    if len(shown):
        solid.legend(loc="upper left", bbox_to_anchor=(0.02, 0.96), markerscale=5.0)
    return axes
