"""Pictures of events: polarity in red and blue, contrast maps, and strips of panels."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evcrisp.errors import ConfigError
from evcrisp.events import Events
from evcrisp.registry import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Kinds of pictures, and what to leave out of each so that the same data gives the same bytes.
_DATE_KEYS = {"png": ("Software",), "pdf": ("CreationDate", "Producer"), "svg": ("Date",)}

ON_COLOR = (0.84, 0.10, 0.16)
OFF_COLOR = (0.13, 0.32, 0.72)


def draw_events(axes: "Axes", events: Events) -> "Axes":
    """Draw events as dots of full color, ON red over OFF blue, on white."""
    image = np.ones((*events.shape, 3))
    for polarity, color in ((False, OFF_COLOR), (True, ON_COLOR)):
        chosen = events[events.p == polarity]
        image[chosen.y, chosen.x] = color
    return _show(axes, image)


def draw_contrast_map(axes: "Axes", x: ArrayLike, y: ArrayLike, shape: tuple[int, int]) -> "Axes":
    """Draw how many events fall on each pixel, dark for many; positions are rounded.

    Parameters
    ----------
    axes : matplotlib Axes
        Where to draw.
    x, y : ndarray, shape (n,), px
        Positions, warped or not; those outside are left out.
    shape : (int, int)
        ``(height, width)``, px.
    """
    column, row = np.rint(x).astype(np.int64), np.rint(y).astype(np.int64)
    inside = (column >= 0) & (column < shape[1]) & (row >= 0) & (row < shape[0])
    counts = np.zeros(shape)
    np.add.at(counts, (row[inside], column[inside]), 1.0)
    top = max(float(np.quantile(counts, 0.998)), 1.0)
    return _show(axes, counts, cmap="gray_r", vmin=0.0, vmax=top)


def _show(axes: "Axes", image: NDArray[np.float64], **options: Any) -> "Axes":
    axes.imshow(image, interpolation="nearest", **options)
    axes.set_xticks([])
    axes.set_yticks([])
    return axes


def save_strip(path: Path, panels: Mapping[str, Callable[["Axes"], Any]]) -> None:
    """Save panels side by side; each is drawn by its function under its title."""
    require("matplotlib", extra="plot", purpose="Pictures")
    from matplotlib.figure import Figure

    kind = path.suffix[1:].lower()
    if kind not in _DATE_KEYS:
        raise ConfigError(f"A picture must end in .{', .'.join(_DATE_KEYS)}; got {path.name!r}.")

    figure = Figure(figsize=(3.6 * len(panels), 3.1), layout="constrained")
    all_axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for axes, (title, draw) in zip(all_axes, panels.items(), strict=True):
        draw(axes)
        axes.set_title(title, fontsize=11)
    figure.savefig(path, dpi=120, format=kind, metadata=dict.fromkeys(_DATE_KEYS[kind]))
