"""Draw the layers of a window and its flow."""

from typing import TYPE_CHECKING

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.core.flow import Flow
from evcrisp.core.flow_colors import flow_rgb, wheel_rgb
from evcrisp.core.palettes import layer_palette, layer_slots, rgb
from evcrisp.core.types import Floats
from evcrisp.plots.scene import show_image
from evcrisp.plots.style import INK, label_pixels, palette_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from evcrisp.estimators.layer import Layer
    from evcrisp.estimators.result import Estimate

#: Length of an arrow at the fastest layer, as a share of the longer side of the sensor.
_ARROW_SHARE = 0.12

#: Arrows along the longer side of the sensor.
_N_ARROWS = 28

#: Share of the pixels below the full color: a few wrong pixels must not make all others pale.
_TOP_QUANTILE = 0.9

#: Ways to draw a flow.
FLOW_STYLES = ("colors", "arrows")


def draw_layers(axes: "Axes", estimate: "Estimate", colors: str = "red-blue") -> "Axes":
    """Draw events in the colors of their layers, noise gray, with boxes and velocities.

    The legend has number, velocity and events of each layer. A window with one motion has one layer,
    and no box. ``colors`` sets the ground.
    """
    from matplotlib.lines import Line2D

    palette = layer_palette(palette_of(colors).ground)
    events, layers = estimate.window.events, estimate.layers
    slots = layer_slots([layer.id for layer in layers])
    image = np.empty((*events.image_shape, 3))
    image[:] = rgb(palette.ground)
    noise = estimate.layer < 0
    image[events.y[noise], events.x[noise]] = rgb(palette.noise)
    table = np.array([rgb(palette.colors[slot]) for slot in slots])
    image[events.y[~noise], events.x[~noise]] = table[estimate.layer[~noise]]
    show_image(axes, image / 255.0)
    handles = []
    fastest = max((float(np.hypot(*layer.velocity)) for layer in layers), default=0.0)
    reach_px = _ARROW_SHARE * max(events.resolution)
    for layer, slot in zip(layers, slots, strict=True):
        color = palette.colors[slot]
        if len(layers) > 1:
            _mark(axes, layer, color, palette.ground)
        if fastest > 0.0 and estimate.status.has_motion:
            _arrow(axes, layer.center, layer.velocity * (reach_px / fastest), color, palette.ground)
        vx, vy = layer.velocity
        label = f"{layer.id}: ({vx:.0f}, {vy:.0f}) px/s, {len(layer):,} events"
        handles.append(Line2D([], [], color=color, marker="s", linestyle="", label=label))
    label = f"noise: {int(noise.sum()):,} events"
    handles.append(Line2D([], [], color=palette.noise, marker="s", linestyle="", label=label))
    axes.legend(
        handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, handlelength=1.0
    )
    return axes


def _mark(axes: "Axes", layer: "Layer", color: str, ground: str) -> None:
    """Draw the box of a layer and its number."""
    from matplotlib.patches import Rectangle
    from matplotlib.patheffects import withStroke

    left, top, width, height = layer.box
    corner = left - 0.5, top - 0.5
    axes.add_patch(Rectangle(corner, width, height, fill=False, edgecolor=color, linewidth=1.2))
    axes.text(
        left + 1.0, top + 1.0, str(layer.id), color=color, fontsize=8.0, fontweight="bold",
        ha="left", va="top", path_effects=[withStroke(linewidth=2.0, foreground=ground)],
        clip_on=True,
    )  # fmt: skip


def _arrow(
    axes: "Axes", place: tuple[float, float], reach: Floats, color: str, ground: str
) -> None:
    from matplotlib.patheffects import withStroke

    if not np.isfinite(reach).all():
        return
    end = place[0] + float(reach[0]), place[1] + float(reach[1])
    shape = {"arrowstyle": "-|>,head_length=0.5,head_width=0.25", "color": color, "linewidth": 2.0}
    shape |= {"shrinkA": 0.0, "shrinkB": 0.0}
    note = axes.annotate("", xy=end, xytext=place, arrowprops=shape, annotation_clip=False)
    if note.arrow_patch is not None:
        note.arrow_patch.set_path_effects([withStroke(linewidth=4.0, foreground=ground)])


def draw_flow(
    axes: "Axes", flow: Flow, *, style: str = "colors", top: float | None = None
) -> "Axes":
    """Draw a dense velocity field.

    Parameters
    ----------
    axes : Axes
        Where to draw.
    flow : Flow
        Such as :meth:`evcrisp.Estimate.flow`. Pixels whose velocity is not known are white.
    style : str
        "colors": the hue is the direction and the saturation the speed, with a color wheel as key.
        "arrows": an arrow in every cell of a grid, with the length of a known speed as key.
    top : float, px/s, optional
        Speed of the full color or of the longest arrow, which higher speeds have too. Default:
        the 90 % quantile.
    """
    if style not in FLOW_STYLES:
        remedy = f"Choose one of {', '.join(FLOW_STYLES)}."
        raise ConfigError("must be a way to draw", parameter="style", value=style, remedy=remedy)
    known = flow.velocity[flow.valid].astype(np.float64)
    speeds = np.hypot(known[:, 0], known[:, 1])
    if top is None:
        top = float(np.quantile(speeds, _TOP_QUANTILE)) if speeds.size else 0.0
    if style == "colors":
        show_image(axes, flow_rgb(flow.velocity, top) / 255.0)
        _wheel_key(axes, top)
    else:
        _arrows(axes, flow, top)
    return axes


def _arrows(axes: "Axes", flow: Flow, top: float) -> None:
    width, height = flow.resolution
    cell = max(4, -(-max(width, height) // _N_ARROWS))
    y, x = np.mgrid[cell // 2 : height : cell, cell // 2 : width : cell]
    known = flow.valid[y, x]
    velocity = flow.velocity[y[known], x[known]].astype(np.float64)
    velocity /= np.maximum(np.hypot(*velocity.T) / max(top, 1e-9), 1.0)[:, None]
    label_pixels(axes, (height, width))
    arrows = axes.quiver(
        x[known], y[known], velocity[:, 0], velocity[:, 1], angles="xy",
        scale_units="xy", scale=max(top, 1e-9) / (1.2 * cell), width=0.0025, color=INK,
    )  # fmt: skip
    key = float(f"{top:.1g}")
    if key > 0.0:
        axes.quiverkey(arrows, 0.9, 1.04, key, f"{key:g} px/s", labelpos="W")


def _wheel_key(axes: "Axes", top: float) -> None:
    """Draw the color wheel above the right corner; its border is the speed ``top``."""
    side = axes.inset_axes((0.86, 1.02, 0.12, 0.12))
    side.imshow(wheel_rgb(64) / 255.0, interpolation="bilinear")
    side.set_axis_off()
    speed = float(f"{top:.2g}")
    axes.text(
        0.85, 1.08, f"border: {speed:g} px/s", transform=axes.transAxes, ha="right", va="center",
        fontsize=8.0, color=INK,
    )  # fmt: skip
