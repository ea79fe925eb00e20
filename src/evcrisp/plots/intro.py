"""Draw drift and alignment: x against t of a strip of rows, before and after."""

from typing import TYPE_CHECKING, Any

import numpy as np

from evcrisp.core.types import Floats
from evcrisp.plots.style import INK, PALE, palette_of

if TYPE_CHECKING:
    from evcrisp.estimators.result import Estimate

#: Height of the strip of rows, px.
STRIP_PX = 12


def draw_drift(
    upper: tuple[Any, Any], lower: tuple[Any, Any], estimate: "Estimate", colors: str = "red-blue"
) -> None:
    """Draw x against t of a strip of rows, as recorded and aligned, with counts per column.

    Parameters
    ----------
    upper, lower : (matplotlib Axes, matplotlib Axes)
        For the events and for the counts: as recorded, and aligned.
    estimate : Estimate
        Motion and labels of a window; noise events are gray.
    colors : str
        Palette.
    """
    palette = palette_of(colors)
    events, kept = estimate.window.events, estimate.signal
    t_ms = (events.t - estimate.window.t_ref) / 1e3
    row = _busiest(estimate.aligned_y[kept], events.height)
    places = ((events.x, events.y), (estimate.aligned_x, estimate.aligned_y))
    titles = ("as recorded: edges drift", "aligned: edges stand still")
    for axes, below, (x, y), title in zip(upper, lower, places, titles, strict=True):
        strip = (y >= row) & (y < row + STRIP_PX)
        groups = (
            (strip & ~kept, PALE),
            (strip & kept & ~events.p, palette.off),
            (strip & kept & events.p, palette.on),
        )
        for chosen, color in groups:
            axes.scatter(x[chosen], t_ms[chosen], s=2.0, color=color, linewidths=0, rasterized=True)
        axes.set_title(f"{title} (rows {row} to {row + STRIP_PX - 1})")
        counts = np.histogram(x[strip & kept], bins=np.arange(events.width + 1) - 0.5)[0]
        below.stairs(counts, np.arange(events.width + 1) - 0.5, fill=True, color=INK)
        below.set(xlabel="x [px]", xlim=(-0.5, events.width - 0.5))
    upper[0].set_ylabel("time from the reference [ms]")
    lower[0].set_ylabel("events per column")
    top = max(below.get_ylim()[1] for below in lower)
    for below in lower:
        below.set_ylim(0, top)


def _busiest(y: Floats, height: int) -> int:
    """Return the first row of the strip that holds the most events."""
    inside = y[(y >= 0) & (y < height)]
    counts = np.bincount(inside.astype(np.int64), minlength=height)
    sums = np.convolve(counts, np.ones(min(STRIP_PX, height), np.int64), mode="valid")
    return int(np.argmax(sums))
