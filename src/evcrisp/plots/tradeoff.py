"""Draw the Pareto front of alignment and denoising, and quantities along it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from evcrisp.plots.style import INK, LINE_COLORS, PALE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from evcrisp.estimators.joint.pareto import ParetoFront


def draw_pareto(axes: "Axes", front: "ParetoFront") -> "Axes":
    """Draw the costs of all points of the front, and the regret solution.

    Down and left is better. The ideal point has the smallest value of each cost, the nadir point
    the largest.
    """
    cost_ea, cost_ed = front.column("cost_ea"), front.column("cost_ed")
    axes.plot(cost_ea, cost_ed, color=PALE, linewidth=1.0, zorder=1)
    shown = axes.scatter(
        cost_ea, cost_ed, c=front.column("lam"), cmap="cividis", vmin=0.0, vmax=1.0, s=26, zorder=2
    )
    ring: dict[str, Any] = {"mfc": "none", "mec": LINE_COLORS[1], "mew": 2.0}
    chosen = front.regret.cost_ea, front.regret.cost_ed
    axes.plot(*chosen, "o", markersize=13, **ring, label="regret solution", zorder=3)
    axes.plot(*front.ideal, "*", markersize=12, color=LINE_COLORS[2], label="ideal")
    axes.plot(*front.nadir, "X", markersize=8, color=INK, label="nadir")
    bar = axes.figure.colorbar(shown, ax=axes, pad=0.02)
    bar.set_label("weight of denoising λ")
    bar.outline.set_visible(False)
    axes.set_xlabel("cost of alignment $c_{EA}$ [events²/px²]")
    axes.set_ylabel("cost of denoising $c_{ED}$ [events²/px²]")
    axes.legend(loc="best")
    return axes


def draw_tradeoff(all_axes: Sequence["Axes"], front: "ParetoFront") -> None:
    """Draw both variances and the share of kept events along the front, on three axes."""
    from matplotlib.ticker import MaxNLocator

    places = np.arange(1, len(front) + 1)
    kept = [
        100.0 * float(point.signal.mean()) if point.signal.size else 0.0 for point in front.points
    ]
    lines = (
        ("contrast $f_{EA}$\n[events²/px²]", front.column("f_ea")),
        ("denoised contrast $f_{ED}$\n[events²/px²]", front.column("f_ed")),
        ("events kept\n[%]", np.array(kept)),
    )
    for axes, (label, values), color in zip(all_axes, lines, LINE_COLORS, strict=False):
        axes.axvline(front.regret_index + 1, color=PALE, linewidth=5.0, alpha=0.6)
        axes.plot(places, values, color=color, marker="o", markersize=4)
        axes.set_ylabel(label)
        axes.set_xlim(0.5, len(front) + 0.5)
    all_axes[0].set_title("from the best alignment to the best denoising; gray: regret solution")
    all_axes[-1].set_xlabel("point of the front [number]")
    all_axes[-1].xaxis.set_major_locator(MaxNLocator(integer=True))
