"""Draw curves: ROC, measures against noise, motion over time."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from evcrisp.core.errors import EventDataError
from evcrisp.core.palettes import layer_palette, layer_slots
from evcrisp.core.types import Bools, Floats
from evcrisp.metrics import RocCurve, SweepCurve
from evcrisp.motion.open_motion import OpenMotion, is_open
from evcrisp.plots.style import INK, LINE_COLORS, LINE_STYLES, MARKERS, PALE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from evcrisp.core.sensor_data import Imu
    from evcrisp.estimators.joint.pareto import ParetoFront
    from evcrisp.estimators.result import Estimate
    from evcrisp.motion import MotionModel


def _line_style(k: int) -> dict[str, Any]:
    """Return color, dashes and marker of line k."""
    return {
        "color": LINE_COLORS[k % len(LINE_COLORS)],
        "linestyle": LINE_STYLES[k % len(LINE_STYLES)],
        "marker": MARKERS[k % len(MARKERS)],
    }


def draw_roc(
    axes: "Axes",
    curves: Mapping[str, RocCurve | SweepCurve],
    points: Mapping[str, tuple[float, float]] | None = None,
) -> "Axes":
    """Draw ROC curves by name with their areas; a sweep is drawn with markers.

    ``points`` are false and true positive rate of a method's own labels, by the same names.
    """
    axes.plot([0, 1], [0, 1], color=PALE, linewidth=0.8, linestyle=(0, (2, 3)))
    for k, (name, curve) in enumerate(curves.items()):
        style = _line_style(k)
        line = style if isinstance(curve, SweepCurve) else {**style, "marker": ""}
        axes.plot(curve.fpr, curve.tpr, **line, markersize=4, label=f"{name} (AUC {curve.auc:.3f})")
        if points is not None and name in points:
            dot: dict[str, Any] = {**style, "linestyle": "", "markeredgecolor": "white"}
            axes.plot(*points[name], **dot, markersize=8)
    axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
    axes.set_xlabel("noise kept: false positive rate [share]")
    axes.set_ylabel("signal kept: true positive rate [share]")
    axes.legend(loc="lower right")
    return axes


def draw_levels(
    axes: "Axes",
    levels: Sequence[float] | Sequence[str],
    values: Mapping[str, Sequence[float]],
    *,
    bands: Mapping[str, tuple[Sequence[float], Sequence[float]]] | None = None,
    x_label: str = "noise [Hz per pixel]",
    y_label: str = "AUC",
) -> "Axes":
    """Draw a measure against m noise levels, or their names: one line per method, NaN for a gap.

    ``bands`` are lower and upper ends of intervals, by the names of ``values``.
    """
    named = bool(levels) and isinstance(levels[0], str)
    places = np.arange(len(levels), dtype=np.float64) if named else np.array(levels, np.float64)
    for k, (name, measured) in enumerate(values.items()):
        if len(measured) != len(levels):
            raise EventDataError(
                f"`values[{name!r}]` must have one number per level, {len(levels)}; "
                f"got {len(measured)}."
            )
        style = _line_style(k)
        axes.plot(places, measured, **style, markersize=5, label=name)
        if bands is not None and name in bands:
            axes.fill_between(places, *bands[name], color=style["color"], alpha=0.15, linewidth=0)
    if named:
        axes.set_xticks(places, [str(level) for level in levels])
    axes.grid(axis="y", color="#e4e4e4", linewidth=0.6)
    axes.set(xlabel=x_label, ylabel=y_label)
    # Beside the curves: many methods would hide them.
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    return axes


def motion_table(estimates: Sequence["Estimate"]) -> tuple["MotionModel", Floats]:
    """Return a motion model that all windows share, and their parameters, shape (n, m).

    If the model changes from window to window, or a window has several layers, it is an `OpenMotion`:
    velocity and matrix of the largest layer at the middle of the sensor, NaN where there is no motion.
    """
    if not estimates:
        raise EventDataError("`estimates` must have at least one window; got none.")
    first = estimates[0].motion
    is_fixed = all(
        type(result.motion) is type(first) and len(result.layer_motions) == 1
        for result in estimates
    )
    if is_fixed:
        return first, np.array([result.theta for result in estimates])
    model = cast("MotionModel", OpenMotion())
    unknown = np.full(len(model.param_names), np.nan)
    rows = [
        result.parameters(model) if result.status.has_motion else unknown for result in estimates
    ]
    return model, np.array(rows)


def motion_std(estimates: Sequence["Estimate"], model: "MotionModel") -> Floats:
    """Return the standard deviations of the parameters of `motion_table`, shape (n, m)."""
    rows = [
        result.parameters_std(model)
        if result.status.has_motion
        else np.full(len(model.param_names), np.nan)
        for result in estimates
    ]
    return np.array(rows)


def draw_motion(
    all_axes: Sequence["Axes"],
    estimates: Sequence["Estimate"],
    imu: "Imu | None" = None,
    imu_label: str = "gyroscope",
) -> None:
    """Draw every motion parameter over time, one per axes; for rotations also the gyroscope.

    Bands are intervals of 95 %; parameters of motions that are not reliable are drawn as crosses, and do
    not widen the range: outside of it, they stand at its border. ``estimates`` are consecutive windows;
    ``imu`` has the camera's time and axes, and ``imu_label`` names its curve. Where windows have several
    models or layers, :func:`motion_table` tells what is drawn; each layer of a window with several has
    one more line, with the velocity at the middle of its box.
    """
    motion, theta = motion_table(estimates)
    t_first = estimates[0].window.t_start
    t_s = np.array([result.window.t_ref - t_first for result in estimates]) / 1e6
    gyro = imu if motion.uses_rays and imu is not None and len(imu) else None
    if gyro is not None:
        seen = (gyro.t >= t_first) & (gyro.t <= estimates[-1].window.t_end)
        gyro_s, rates = (gyro.t[seen] - t_first) / 1e6, gyro.gyro_rad_s[seen]
    half = 1.96 * motion_std(estimates, motion)
    is_doubtful = np.array([not result.reliable for result in estimates])
    line: dict[str, Any] = {"marker": "o", "markersize": 2.5, "linewidth": 1.0}
    line["markevery"] = np.flatnonzero(~is_doubtful).tolist()
    for k, (axes, name) in enumerate(zip(all_axes, motion.param_names, strict=True)):
        if gyro is not None:
            axes.plot(gyro_s, rates[:, k], color=PALE, linewidth=2.2, label=imu_label)
        color, values = LINE_COLORS[k % len(LINE_COLORS)], theta[:, k]
        low, high = limits = _limits(values, half[:, k], is_doubtful)
        axes.plot(t_s, np.clip(values, *limits), color=color, **line, label="estimated")
        band = np.clip(values - half[:, k], *limits), np.clip(values + half[:, k], *limits)
        axes.fill_between(t_s, *band, color=color, alpha=0.18, linewidth=0)
        if is_open(motion) and k < 2:  # vx and vy
            _draw_layer_velocities(axes, estimates, t_s, k, limits)
        if is_doubtful.any():
            places = t_s[is_doubtful], np.clip(values[is_doubtful], low, high)
            axes.plot(*places, color=INK, **_CROSS, label="doubtful")
        axes.axhline(0.0, color=INK, linewidth=0.4)
        axes.set_ylabel(f"{name} [{motion.param_units[k]}]")
    all_axes[-1].set_xlabel("time [s]")
    all_axes[0].legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=6)


#: Mark of a value that is not reliable, above all lines.
_CROSS: dict[str, Any] = {"marker": "x", "markersize": 4.0, "linestyle": "", "zorder": 5}

#: Layers of a recording with an entry in the legend; the numbers of later ones go on.
_MAX_IN_LEGEND = 10


def _limits(values: Floats, half: Floats, is_doubtful: Bools) -> tuple[float, float]:
    """Return ends for values and bands: doubtful and unknown ones must not flatten the curve."""
    known = np.isfinite(values)
    if (known & ~is_doubtful).any():
        known &= ~is_doubtful
    shown, usual = values[known], half[known & np.isfinite(half)]
    low, high = (float(shown.min()), float(shown.max())) if shown.size else (0.0, 0.0)
    room = max(high - low, 2.0 * float(np.median(usual)) if usual.size else 0.0)
    return low - room, high + room


def _draw_layer_velocities(
    axes: "Axes",
    estimates: Sequence["Estimate"],
    t_s: Floats,
    component: int,
    limits: tuple[float, float],
) -> None:
    """Draw the velocity of every layer of windows with several; each has one line, in its color."""
    palette = layer_palette("#ffffff")
    lines: dict[int, Floats] = {}
    crosses: list[tuple[float, float]] = []
    reliable: list[float] = []
    for k, result in enumerate(estimates):
        if not result.status.has_motion or len(result.layers) < 2:
            continue  # one motion is drawn as that of the window
        for layer in result.layers:
            value = float(layer.velocity[component])
            lines.setdefault(layer.id, np.full(t_s.size, np.nan))[k] = value
            if layer.doubts:
                crosses.append((float(t_s[k]), value))
            else:
                reliable.append(value)
    low, high = min([limits[0], *reliable]), max([limits[1], *reliable])
    for number, values in sorted(lines.items()):
        color = palette.colors[layer_slots([number])[0]]
        label = f"layer {number}" if number < _MAX_IN_LEGEND else None
        style: dict[str, Any] = {"color": color, "linewidth": 0.8, "alpha": 0.8}
        axes.plot(t_s, np.clip(values, low, high), **style, marker="s", markersize=3.0, label=label)
    if crosses:
        times, values = zip(*crosses, strict=True)
        axes.plot(times, np.clip(values, low, high), color=INK, **_CROSS)


def draw_pareto(axes: "Axes", front: "ParetoFront") -> "Axes":
    """Draw the costs of all points of the front, and the point whose larger regret is smallest.

    Down and left is better. The ideal point has the smallest of each cost, the nadir the largest.
    Where regrets are counted from the ideal point, dotted lines show both regrets of the point.
    """
    cost_ea, cost_ed = front.column("cost_ea"), front.column("cost_ed")
    axes.plot(cost_ea, cost_ed, color=PALE, linewidth=1.0, zorder=1)
    shown = axes.scatter(
        cost_ea, cost_ed, c=front.column("lam"), cmap="cividis", vmin=0.0, vmax=1.0, s=26, zorder=2
    )
    ring: dict[str, Any] = {"mfc": "none", "mec": LINE_COLORS[1], "mew": 2.0}
    chosen = front.regret.cost_ea, front.regret.cost_ed
    axes.plot(*chosen, "o", markersize=13, **ring, label=regret_label(front), zorder=3)
    if front.baseline == front.ideal:
        _draw_regrets(axes, front.ideal, chosen)
    axes.plot(*front.ideal, "*", markersize=12, color=LINE_COLORS[2], label="ideal")
    axes.plot(*front.nadir, "X", markersize=8, color=INK, label="nadir")
    bar = axes.figure.colorbar(shown, ax=axes, pad=0.02)
    bar.set_label("weight of denoising λ")
    bar.outline.set_visible(False)
    axes.set_xlabel("cost of alignment $c_{EA}$ [events²/px²]")
    axes.set_ylabel("cost of denoising $c_{ED}$ [events²/px²]")
    axes.legend(loc="best")
    return axes


def regret_label(front: "ParetoFront") -> str:
    """Return what the selected point of a front is."""
    if front.is_compromise:
        return "compromise: smallest larger regret"
    end = "alignment" if front.regret_index == 0 else "denoising"
    return f"regret solution: the best {end}"


def _draw_regrets(axes: "Axes", ideal: tuple[float, float], chosen: tuple[float, float]) -> None:
    """Draw the distances of a point from the ideal point, along both costs."""
    dotted: dict[str, Any] = {"color": LINE_COLORS[1], "linewidth": 1.0, "linestyle": (0, (1, 2))}
    corner = ideal[0], chosen[1]
    regrets = f"{chosen[0] - ideal[0]:.3g} (alignment), {chosen[1] - ideal[1]:.3g} (denoising)"
    # In the legend: beside lines of any length, texts would cover each other and the front.
    axes.plot(
        *zip(ideal, corner, chosen, strict=True), **dotted, zorder=1, label=f"regrets {regrets}"
    )


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
    chosen = regret_label(front).partition(":")[0]
    all_axes[0].set_title(f"from the best alignment to the best denoising; gray: {chosen}")
    all_axes[-1].set_xlabel("point of the front [number]")
    all_axes[-1].xaxis.set_major_locator(MaxNLocator(integer=True))
