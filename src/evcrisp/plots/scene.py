"""Draw events in two colors and contrast maps, and save rows of panels."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.core.palettes import PALETTES, rgb
from evcrisp.core.types import Floats
from evcrisp.plots.style import (
    label_pixels,
    new_figure,
    palette_of,
    pixel_aspect,
    save_figure,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from evcrisp.estimators.result import Estimate


ON_COLOR, OFF_COLOR = (
    tuple(part / 255 for part in rgb(color))
    for color in (PALETTES["red-blue"].on, PALETTES["red-blue"].off)
)


def draw_events(axes: "Axes", events: Events, colors: str = "red-blue") -> "Axes":
    """Draw events as single pixels, ON over OFF."""
    palette = palette_of(colors)
    image = np.empty((*events.image_shape, 3))
    image[:] = rgb(palette.ground)
    for polarity, color in ((False, palette.off), (True, palette.on)):
        chosen = events[events.p == polarity]
        image[chosen.y, chosen.x] = rgb(color)
    return show_image(axes, image / 255.0)


def draw_contrast_map(
    axes: "Axes", x: ArrayLike, y: ArrayLike, shape: tuple[int, int], *, top: float | None = None
) -> "Axes":
    """Draw the number of events per pixel; positions, px, are rounded, those outside left out.

    ``top`` is the count that is black. Default: the 99.8 % quantile, at least 1.
    """
    counts = count_map(x, y, shape)
    if top is None:
        top = max(float(np.quantile(counts, 0.998)), 1.0)
    return show_image(axes, counts, cmap="gray_r", vmin=0.0, vmax=top)


def count_map(x: ArrayLike, y: ArrayLike, shape: tuple[int, int]) -> Floats:
    """Return the number of positions that round to each pixel, shape ``shape``."""
    column, row = np.rint(x), np.rint(y)
    inside = (column >= 0) & (column < shape[1]) & (row >= 0) & (row < shape[0])
    index = (row[inside] * float(shape[1]) + column[inside]).astype(np.int64)
    counts = np.bincount(index, minlength=shape[0] * shape[1])
    return counts.reshape(shape).astype(np.float64)


def show_image(axes: "Axes", image: Floats, **options: Any) -> "Axes":
    """Show an image with one value or color per sensor pixel."""
    axes.imshow(image, interpolation="nearest", **options)
    return label_pixels(axes, (image.shape[0], image.shape[1]))


def save_strip(path: Path, panels: Mapping[str, Callable[["Axes"], Any]]) -> None:
    """Save panels side by side without ticks; a function by title draws each."""
    with styled():
        figure = new_figure(3.6 * len(panels), 3.1)
        all_axes = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, (title, draw) in zip(all_axes, panels.items(), strict=True):
            draw(axes)
            axes.set(title=title, xticks=[], yticks=[], xlabel="", ylabel="")
    save_figure(figure, path, dpi=120)


def draw_before_after(before: "Axes", after: "Axes", estimate: "Estimate") -> None:
    """Draw contrast maps of kept events, recorded and aligned, in one scale, with variances."""
    events, kept = estimate.window.events, estimate.signal
    places = {
        "as recorded": (events.x[kept], events.y[kept]),
        "aligned": (estimate.aligned_x[kept], estimate.aligned_y[kept]),
    }
    maps = {name: count_map(x, y, events.image_shape) for name, (x, y) in places.items()}
    top = max(1.0, *(float(np.quantile(counts, 0.998)) for counts in maps.values()))
    for axes, (name, place) in zip((before, after), places.items(), strict=True):
        draw_contrast_map(axes, *place, events.image_shape, top=top)
        axes.set_title(f"{name}: variance {maps[name].var():.3g} events²/px²")
    bar = after.figure.colorbar(after.images[0], ax=[before, after], shrink=0.8, pad=0.02)
    bar.set_label("events per pixel")
    bar.outline.set_visible(False)


def draw_confidence(axes: "Axes", estimate: "Estimate") -> "Axes":
    """Draw the confidence map W at the reference time; a frame marks the sensor border."""
    w_map = estimate.w_map
    if w_map is None:
        raise ConfigError(
            "This estimate has no confidence map W. The methods 'auto', 'exact' and 'paper' have one."
        )
    from matplotlib.patches import Rectangle

    height, width = estimate.window.events.image_shape
    left, top = 0.5 * (w_map.shape[1] - width), 0.5 * (w_map.shape[0] - height)
    extent = (-left - 0.5, width + left - 0.5, height + top - 0.5, -top - 0.5)
    image = axes.imshow(
        w_map, cmap="cividis", vmin=0.0, vmax=1.0, extent=extent, interpolation="nearest",
        aspect=pixel_aspect((height, width)),
    )  # fmt: skip
    axes.add_patch(
        Rectangle((-0.5, -0.5), width, height, fill=False, edgecolor="white", linewidth=0.6)
    )
    axes.set(xlabel="x [px]", ylabel="y [px]", title="confidence W")
    bar = axes.figure.colorbar(image, ax=axes, shrink=0.85, pad=0.02)
    bar.set_label("confidence, 0 to 1")
    bar.outline.set_visible(False)
    return axes
