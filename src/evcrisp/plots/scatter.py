"""Draw kept events, right and wrong labels, and aligned positions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.errors import EventDataError
from evcrisp.core.events import Events
from evcrisp.core.palettes import rgb
from evcrisp.core.types import Bools
from evcrisp.metrics import confusion
from evcrisp.plots.scene import draw_events, show_image
from evcrisp.plots.style import INK, PALE, label_pixels, palette_of, panel_aspect

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from evcrisp.estimators.result import Estimate


#: Outcomes of a label with name and color, in drawing order.
OUTCOMES = {
    "TN": ("noise dropped", "#c9c9c9"),
    "TP": ("signal kept", "#0072b2"),
    "FN": ("signal dropped", "#e69f00"),
    "FP": ("noise kept", "#d55e00"),
}


def draw_kept(axes: "Axes", events: Events, signal: ArrayLike, colors: str = "red-blue") -> "Axes":
    """Draw the events that a method keeps, ON and OFF in two colors."""
    return draw_events(axes, events[as_mask(signal, events)], colors)


def draw_outcomes(axes: "Axes", events: Events, signal: ArrayLike, truth: ArrayLike) -> "Axes":
    """Draw every event in the color of its outcome: TP, FN, TN or FP, with counts in the legend.

    ``signal`` are the labels of the method, ``truth`` the true labels, both of shape (n,).
    """
    from matplotlib.lines import Line2D

    kept, true = as_mask(signal, events), as_mask(truth, events)
    masks = {"TN": ~kept & ~true, "TP": kept & true, "FN": ~kept & true, "FP": kept & ~true}
    image = np.full((*events.image_shape, 3), 255.0)
    handles = []
    for name, (title, color) in OUTCOMES.items():
        chosen = masks[name]
        image[events.y[chosen], events.x[chosen]] = rgb(color)
        label = f"{name}: {title}, {int(chosen.sum()):,}"
        handles.append(Line2D([], [], color=color, marker="s", linestyle="", label=label))
    show_image(axes, image / 255.0)
    axes.legend(
        handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, handlelength=1.0
    )
    counts = confusion(kept, true)
    axes.set_title(f"sensitivity {counts.sensitivity:.3f}, specificity {counts.specificity:.3f}")
    return axes


def draw_positions(
    axes: "Axes",
    x: ArrayLike,
    y: ArrayLike,
    p: ArrayLike,
    shape: tuple[int, int],
    colors: str = "red-blue",
) -> "Axes":
    """Draw events at real-valued positions, px, such as aligned ones; ``shape`` is (height, width)."""
    palette = palette_of(colors)
    axes.set_facecolor(palette.ground)
    x, y, on = np.asarray(x), np.asarray(y), np.asarray(p, np.bool_)
    for chosen, color, label in ((~on, palette.off, "OFF"), (on, palette.on, "ON")):
        axes.scatter(
            x[chosen], y[chosen], s=0.6, color=color, linewidths=0, label=label, rasterized=True
        )
    return label_pixels(axes, shape)


def as_mask(values: ArrayLike, events: Events) -> Bools:
    """Return labels as booleans; raise unless there is one per event."""
    mask = np.asarray(values, np.bool_)
    if mask.shape != (len(events),):
        raise EventDataError(
            f"Labels must be one per event, shape ({len(events)},); got shape {mask.shape}."
        )
    return mask


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
    """Draw events on 3D axes; time runs into the depth, moving edges are surfaces, noise is gray.

    Above ``MAX_DOTS``, every second, third, ... event is drawn.
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
    solid.set_box_aspect((1.0, 1.7, panel_aspect(events.image_shape)), zoom=0.98)
    solid.view_init(elev=elevation_deg, azim=azimuth_deg)
    for axis in (solid.xaxis, solid.yaxis, solid.zaxis):
        axis.pane.set_facecolor("#f6f6f6" if palette.ground == "#ffffff" else palette.ground)
    if len(shown):
        solid.legend(loc="upper left", bbox_to_anchor=(0.02, 0.96), markerscale=5.0)
    return axes


#: Height of the strip of rows, px.
STRIP_PX = 12


def draw_drift(
    upper: tuple[Any, Any], lower: tuple[Any, Any], estimate: "Estimate", colors: str = "red-blue"
) -> None:
    """Draw x against t of a strip of rows, and below counts per column; noise events are gray.

    The first axes of each pair show the events as recorded, the second aligned. The strip is the one
    that alignment sharpens most; the title states by how much.
    """
    palette = palette_of(colors)
    events, kept = estimate.window.events, estimate.signal
    t_ms = (events.t - estimate.window.t_ref) / 1e3
    places = ((events.x, events.y), (estimate.aligned_x, estimate.aligned_y))
    row, gain = _sharpened_strip([(x[kept], y[kept]) for x, y in places], events.resolution)
    titles = ("as recorded", f"aligned: columns {gain:.1f} times as full")
    for axes, below, (x, y), title in zip(upper, lower, places, titles, strict=True):
        strip = (y >= row) & (y < row + STRIP_PX)
        groups = (
            (strip & ~kept, PALE),
            (strip & kept & ~events.p, palette.off),
            (strip & kept & events.p, palette.on),
        )
        for chosen, color in groups:
            axes.scatter(x[chosen], t_ms[chosen], s=2.0, color=color, linewidths=0, rasterized=True)
        axes.set_title(title)
        counts = np.histogram(x[strip & kept], bins=np.arange(events.width + 1) - 0.5)[0]
        below.stairs(counts, np.arange(events.width + 1) - 0.5, fill=True, color=INK)
        below.set(xlabel="x [px]", xlim=(-0.5, events.width - 0.5))
    upper[0].set_title(f"{titles[0]} (rows {row} to {row + STRIP_PX - 1})")
    upper[0].set_ylabel("time from the reference [ms]")
    lower[0].set_ylabel("events per column")
    top = max(below.get_ylim()[1] for below in lower)
    for below in lower:
        below.set_ylim(0, top)


def _sharpened_strip(
    places: Sequence[tuple[ArrayLike, ArrayLike]], resolution: tuple[int, int]
) -> tuple[int, float]:
    """Return the strip of rows that alignment sharpens most, and by how much.

    Sharpness is the mean number of events in the column of an event. Strips with less than half of
    the events of the busiest one do not count.
    """
    width, height = resolution
    strip = min(STRIP_PX, height)
    edges = np.arange(height + 1.0), np.arange(width + 1) - 0.5
    sharpness, is_busy = [], np.ones(height - strip + 1, np.bool_)
    for x, y in places:
        counts = np.histogram2d(np.asarray(y, float), np.asarray(x, float), bins=edges)[0]
        totals = np.vstack((np.zeros(width), np.cumsum(counts, axis=0)))
        columns = totals[strip:] - totals[:-strip]
        n = columns.sum(axis=1)
        is_busy &= n >= 0.5 * n.max()
        sharpness.append((columns**2).sum(axis=1) / np.maximum(n, 1.0))
    gain = sharpness[1] / np.maximum(sharpness[0], 1.0)
    row = int(np.argmax(np.where(is_busy, gain, 0.0)))
    return row, float(gain[row])
