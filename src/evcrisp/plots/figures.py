"""Figures by name: ``figure("roc", curves=...)``."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.core.registry import lookup
from evcrisp.plots.curves import (
    draw_levels,
    draw_motion,
    draw_pareto,
    draw_roc,
    draw_tradeoff,
    motion_table,
)
from evcrisp.plots.layers import draw_flow, draw_layers
from evcrisp.plots.scatter import draw_drift, draw_kept, draw_outcomes, draw_positions, draw_xyt
from evcrisp.plots.scene import draw_before_after, draw_confidence
from evcrisp.plots.style import new_figure, panel_aspect, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from evcrisp.core.flow import Flow
    from evcrisp.core.sensor_data import Imu
    from evcrisp.estimators.joint.pareto import ParetoFront
    from evcrisp.estimators.result import Estimate

#: Width of a panel, inches.
_PANEL = 3.7


def scatter(
    events: Events, labels: Mapping[str, ArrayLike], *, colors: str = "red-blue"
) -> "Figure":
    """Return the kept events of every method, one panel each."""
    figure, panels = _grid(len(labels), events.image_shape, extra=0.55)
    for axes, (name, signal) in zip(panels, labels.items(), strict=False):
        draw_kept(axes, events, signal, colors)
        axes.set_title(name)
    return figure


def outcomes(
    events: Events, labels: Mapping[str, ArrayLike], *, truth: ArrayLike | None = None
) -> "Figure":
    """Return the outcomes TP, FN, TN, FP of every method, one panel each."""
    known = events.signal if truth is None else truth
    if known is None:
        raise ConfigError("The true labels are missing. Give `truth`, or events with `signal`.")
    figure, panels = _grid(len(labels), events.image_shape, extra=1.15)
    for axes, (name, signal) in zip(panels, labels.items(), strict=False):
        draw_outcomes(axes, events, signal, known)
        axes.set_title(f"{name}: {axes.get_title()}")
    return figure


def aligned(estimate: "Estimate", *, colors: str = "red-blue") -> "Figure":
    """Return the kept events, as recorded and aligned."""
    events, kept = estimate.window.events, estimate.signal
    figure, panels = _grid(2, events.image_shape, extra=0.55)
    x, y, p = events.x[kept], events.y[kept], events.p[kept]
    draw_positions(panels[0], x, y, p, events.image_shape, colors).set_title("as recorded")
    moved = estimate.aligned_x[kept], estimate.aligned_y[kept]
    draw_positions(panels[1], *moved, p, events.image_shape, colors).set_title("aligned")
    return figure


def maps(estimate: "Estimate") -> "Figure":
    """Return contrast maps before and after alignment."""
    events = estimate.window.events
    figure, panels = _grid(2, events.image_shape, extra=0.55)
    draw_before_after(panels[0], panels[1], estimate)
    return figure


def intro(estimate: "Estimate", *, colors: str = "red-blue") -> "Figure":
    """Return x against t of a strip of rows, as recorded and aligned."""
    figure = new_figure(9.0, 4.4)
    upper, lower = figure.subplots(
        2, 2, sharex=True, sharey="row", gridspec_kw={"height_ratios": (2.2, 1.0)}
    )
    draw_drift(tuple(upper), tuple(lower), estimate, colors)
    return figure


def layers(estimate: "Estimate", *, colors: str = "red-blue") -> "Figure":
    """Return the events in the colors of their layers, with boxes and velocities."""
    events = estimate.window.events
    lines = 0.19 * (len(estimate.layer_motions) // 2 + 1)
    figure, panels = _grid(1, events.image_shape, extra=1.2 + lines, panel=5.6)
    draw_layers(panels[0], estimate, colors)
    return figure


def flow(flow: "Flow", *, style: str = "colors", top: float | None = None) -> "Figure":
    """Return a dense velocity field with its key."""
    width, height = flow.resolution
    figure, panels = _grid(1, (height, width), extra=1.4, panel=5.6)
    draw_flow(panels[0], flow, style=style, top=top)
    return figure


def tradeoff(front: "ParetoFront") -> "Figure":
    """Return contrast and share of kept events along the front."""
    figure = new_figure(5.6, 5.4)
    draw_tradeoff(list(figure.subplots(3, 1, sharex=True)), front)
    return figure


def motion(
    estimates: Sequence["Estimate"], *, imu: "Imu | None" = None, imu_label: str = "gyroscope"
) -> "Figure":
    """Return motion over time; for rotations with the gyroscope."""
    n_rows = len(motion_table(estimates)[0].param_names)
    figure = new_figure(7.0, 0.8 + 1.4 * n_rows)
    rows = list(figure.subplots(n_rows, 1, sharex=True, squeeze=False)[:, 0])
    draw_motion(rows, estimates, imu, imu_label)
    figure.align_ylabels()
    return figure


def _one_panel(
    width: float, height: float, draw: Callable[..., Any], **subplot: Any
) -> Callable[..., "Figure"]:
    """Return a function that makes a figure of one panel; it takes the arguments of ``draw``."""

    def build(**data: Any) -> "Figure":
        figure = new_figure(width, height)
        draw(figure.add_subplot(**subplot), **data)
        return figure

    return build


@dataclass(frozen=True, slots=True)
class FigureKind:
    """A kind of figure."""

    title: str
    build: Callable[..., "Figure"]
    needs: tuple[str, ...]  # names of the data that `build` takes
    of_recording: bool = True  # whether one recording has all the data


FIGURES: dict[str, FigureKind] = {
    "scatter": FigureKind("kept events of each method", scatter, ("events", "labels")),
    "outcomes": FigureKind("TP, FN, TN, FP of each method", outcomes, ("events", "labels")),
    "aligned": FigureKind("events as recorded and aligned", aligned, ("estimate",)),
    "layers": FigureKind("events by layer, with boxes and velocities", layers, ("estimate",)),
    "flow": FigureKind("dense velocity field with a color wheel", flow, ("flow",)),
    "xyt": FigureKind(
        "events over space and time", _one_panel(6.2, 4.6, draw_xyt, projection="3d"), ("events",)
    ),
    "maps": FigureKind("contrast maps before and after alignment", maps, ("estimate",)),
    "w": FigureKind("confidence map W", _one_panel(5.2, 3.8, draw_confidence), ("estimate",)),
    "intro": FigureKind("drift and alignment", intro, ("estimate",)),
    "roc": FigureKind("ROC curves", _one_panel(4.6, 4.4, draw_roc), ("curves",)),
    "pareto": FigureKind("Pareto front", _one_panel(5.4, 4.2, draw_pareto), ("front",)),
    "tradeoff": FigureKind("contrast and kept events along the front", tradeoff, ("front",)),
    "motion": FigureKind("motion over time, with the gyroscope", motion, ("estimates",)),
    "levels": FigureKind(
        "measure against noise level",
        _one_panel(5.2, 3.6, draw_levels),
        ("levels", "values"),
        of_recording=False,
    ),
}


def figure(kind: str, **data: Any) -> "Figure":
    """Return a figure by name.

    Parameters
    ----------
    kind : str
        One of the keys of ``FIGURES``.
    **data
        Data with the names in ``FIGURES[kind].needs``, and options such as ``colors``.

    Examples
    --------
    >>> from evcrisp.metrics import roc_curve
    >>> curve = roc_curve([0.1, 0.4, 0.8], [False, True, True])
    >>> figure("roc", curves={"perfect": curve}).axes[0].get_legend_handles_labels()[1]
    ['perfect (AUC 1.000)']
    """
    chosen = lookup(FIGURES, kind, "figure")
    missing = [name for name in chosen.needs if name not in data]
    if missing:
        raise ConfigError(f"The figure {kind!r} needs `{'`, `'.join(missing)}`.")
    with styled():
        return chosen.build(**data)


def _grid(
    n_panels: int, shape: tuple[int, int], *, extra: float, panel: float = _PANEL
) -> "tuple[Figure, list[Any]]":
    """Return a figure with rows of up to three panels; ``extra`` inches for titles and labels."""
    if n_panels < 1:
        raise ConfigError("`labels` must have at least one entry.")
    n_columns = 2 if n_panels == 4 else min(n_panels, 3)
    n_rows = -(-n_panels // n_columns)
    height = n_rows * (0.86 * panel * panel_aspect(shape) + extra)
    figure = new_figure(panel * n_columns, height)
    panels = list(figure.subplots(n_rows, n_columns, squeeze=False).ravel())
    for axes in panels[n_panels:]:
        axes.remove()
    return figure, panels[:n_panels]
