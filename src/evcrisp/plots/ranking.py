"""Draw methods side by side: a metric with intervals, and a metric against the speed."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from evcrisp.plots.style import INK, LINE_COLORS, PALE, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Value, and lower and upper end of its interval; both ends are None without an interval.
Measured = tuple[float, float | None, float | None]


def ranking_figure(
    means: Mapping[str, Measured],
    recordings: Mapping[str, Sequence[float]],
    *,
    x_label: str,
    lower_is_better: bool = False,
) -> "Figure":
    """Return one line per method, the best one on top: its mean, interval and recordings.

    ``means`` and ``recordings`` have the same names; the name of a method stands beside its line.
    """
    order = sorted(means, key=lambda name: means[name][0], reverse=lower_is_better)
    with styled():
        figure = new_figure(7.5, 0.9 + 0.24 * len(order))
        axes = figure.subplots()
        for place, name in enumerate(order):
            value, low, high = means[name]
            known = np.array(recordings[name], np.float64)
            axes.plot(known, np.full(known.size, place), "o", color=PALE, markersize=3.0, zorder=1)
            if low is not None and high is not None:
                axes.plot(
                    [low, high], [place, place], color=LINE_COLORS[0], linewidth=2.5, zorder=2
                )
            axes.plot(value, place, "D", color=INK, markersize=4.5, zorder=3)
        axes.set_yticks(range(len(order)), order)
        axes.set_ylim(-0.6, len(order) - 0.4)
        axes.grid(axis="x", color="#e4e4e4", linewidth=0.6)
        axes.set_xlabel(x_label)
    return figure


def speed_figure(points: Mapping[str, tuple[float, float]], *, y_label: str) -> "Figure":
    """Return a metric against the speed, with the name of each method at its point.

    ``points`` are millions of events per second, and the metric.
    """
    with styled():
        figure = new_figure(7.5, 4.6)
        axes = figure.subplots()
        # Names of points that lie side by side alternate above and below them.
        order = sorted(points.items(), key=lambda item: item[1][1])
        for k, (name, (speed, value)) in enumerate(order):
            color = LINE_COLORS[k % len(LINE_COLORS)]
            axes.plot(speed, value, "o", color=color, markersize=6)
            offset = (6, 3 if k % 2 else -8)
            axes.annotate(
                name, (speed, value), offset, textcoords="offset points", fontsize=8.0, color=color
            )
        axes.set_xscale("log")
        axes.margins(x=0.16, y=0.08)
        axes.grid(color="#e4e4e4", linewidth=0.6)
        axes.set(xlabel="speed [million events/s]", ylabel=y_label)
    return figure
