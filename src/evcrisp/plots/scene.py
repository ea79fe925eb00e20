"""Draw events in two colors and contrast maps, and save rows of panels."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.events import Events
from evcrisp.core.palettes import PALETTES, rgb
from evcrisp.core.types import Floats
from evcrisp.plots.style import label_pixels, new_figure, palette_of, save_figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ON_COLOR, OFF_COLOR = (
    tuple(part / 255 for part in rgb(color))
    for color in (PALETTES["red-blue"].on, PALETTES["red-blue"].off)
)


def draw_events(axes: "Axes", events: Events, colors: str = "red-blue") -> "Axes":
    """Draw events as single pixels, ON over OFF."""
    palette = palette_of(colors)
    image = np.empty((*events.shape, 3))
    image[:] = rgb(palette.ground)
    for polarity, color in ((False, palette.off), (True, palette.on)):
        chosen = events[events.p == polarity]
        image[chosen.y, chosen.x] = rgb(color)
    return show_image(axes, image / 255.0)


def draw_contrast_map(
    axes: "Axes", x: ArrayLike, y: ArrayLike, shape: tuple[int, int], *, top: float | None = None
) -> "Axes":
    """Draw the number of events per pixel, dark for many; positions are rounded.

    Parameters
    ----------
    axes : matplotlib Axes
    x, y : ndarray, shape (n,), px
        Positions; those outside are left out.
    shape : (int, int)
        ``(height, width)``, px.
    top : float, optional
        Count that is black. Default: the 99.8 % quantile, at least 1.
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
