"""Draw maps over the sensor: contrast before and after alignment, and confidence."""

from typing import TYPE_CHECKING

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.plots.scene import count_map, draw_contrast_map

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from evcrisp.estimators.result import Estimate


def draw_before_after(before: "Axes", after: "Axes", estimate: "Estimate") -> None:
    """Draw contrast maps of the kept events, as recorded and aligned, in one gray scale.

    The titles have the variances, which alignment increases.
    """
    events, kept = estimate.window.events, estimate.signal
    places = {
        "as recorded": (events.x[kept], events.y[kept]),
        "aligned": (estimate.aligned_x[kept], estimate.aligned_y[kept]),
    }
    maps = {name: count_map(x, y, events.shape) for name, (x, y) in places.items()}
    top = max(1.0, *(float(np.quantile(counts, 0.998)) for counts in maps.values()))
    for axes, (name, place) in zip((before, after), places.items(), strict=True):
        draw_contrast_map(axes, *place, events.shape, top=top)
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

    height, width = estimate.window.events.shape
    left, top = 0.5 * (w_map.shape[1] - width), 0.5 * (w_map.shape[0] - height)
    extent = (-left - 0.5, width + left - 0.5, height + top - 0.5, -top - 0.5)
    image = axes.imshow(
        w_map, cmap="cividis", vmin=0.0, vmax=1.0, extent=extent, interpolation="nearest"
    )
    axes.add_patch(
        Rectangle((-0.5, -0.5), width, height, fill=False, edgecolor="white", linewidth=0.6)
    )
    axes.set(xlabel="x [px]", ylabel="y [px]", title="confidence W")
    bar = axes.figure.colorbar(image, ax=axes, shrink=0.85, pad=0.02)
    bar.set_label("confidence, 0 to 1")
    bar.outline.set_visible(False)
    return axes
