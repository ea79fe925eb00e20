"""Events in space and time: x, y and t as a cloud."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.events import Events
from evcrisp.plots.scatter import as_mask
from evcrisp.plots.style import PALE, palette_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: More dots than this hide each other.
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
    """Draw events as a cloud over time, which runs into the depth; moving edges are sheets.

    Parameters
    ----------
    axes : matplotlib Axes3D
        Where to draw; made with ``projection="3d"``.
    events : Events
        Of more than ``MAX_DOTS``, every second, third, ... is drawn.
    signal : array_like of bool, shape (n,), optional
        Events that are False are gray.
    colors : str
        Palette.
    azimuth_deg, elevation_deg : float, degrees
        From where it is seen.
    """
    palette = palette_of(colors)
    kept = np.ones(len(events), np.bool_) if signal is None else as_mask(signal, events)
    every = max(1, -(-len(events) // MAX_DOTS))
    shown, kept = events[::every], kept[::every]
    t_ms = (shown.t - shown.t[0]) / 1e3 if len(shown) else np.zeros(0)
    groups = (
        (~kept, PALE, "noise"),
        (kept & ~shown.p, palette.off, "OFF"),
        (kept & shown.p, palette.on, "ON"),
    )
    solid: Any = axes
    for chosen, color, label in groups:
        if chosen.any():
            # matplotlib's third axis points up, ours down: y is turned below.
            solid.scatter(
                shown.x[chosen],
                t_ms[chosen],
                shown.y[chosen],
                s=1.2,
                color=color,
                linewidths=0,
                depthshade=False,
                label=label,
                rasterized=True,
            )
    solid.set(xlabel="x [px]", ylabel="t [ms]", zlabel="y [px]")
    solid.set_xlim(0, events.width)
    solid.set_zlim(events.height, 0)
    solid.set_box_aspect((1.0, 1.7, events.height / events.width), zoom=0.98)
    solid.view_init(elev=elevation_deg, azim=azimuth_deg)
    for axis in (solid.xaxis, solid.yaxis, solid.zaxis):
        axis.pane.set_facecolor("#f6f6f6" if palette.ground == "#ffffff" else palette.ground)
    if len(shown):
        solid.legend(loc="upper left", bbox_to_anchor=(0.02, 0.96), markerscale=5.0)
    return axes
