"""Draw kept events, right and wrong labels, and aligned positions."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.errors import EventDataError
from evcrisp.core.events import Events
from evcrisp.core.palettes import rgb
from evcrisp.core.types import Bools
from evcrisp.metrics import confusion
from evcrisp.plots.scene import draw_events, show_image
from evcrisp.plots.style import label_pixels, palette_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    image = np.full((*events.shape, 3), 255.0)
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
    """Draw events at real-valued positions, such as aligned ones.

    Parameters
    ----------
    axes : matplotlib Axes
    x, y : array_like, shape (n,), px
        Positions; the axes clip those outside.
    p : array_like of bool, shape (n,)
        Polarity.
    shape : (int, int)
        ``(height, width)`` of the sensor, px.
    colors : str
        Palette.
    """
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
