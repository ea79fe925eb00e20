"""All figures by name: ``figure("roc", curves=...)`` returns one that can be saved."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.core.registry import lookup
from evcrisp.metrics import RocCurve, SweepCurve
from evcrisp.plots.cloud import draw_xyt
from evcrisp.plots.curves import draw_levels, draw_motion, draw_roc
from evcrisp.plots.intro import draw_drift
from evcrisp.plots.maps import draw_before_after, draw_confidence
from evcrisp.plots.scatter import draw_kept, draw_outcomes, draw_positions
from evcrisp.plots.style import new_figure, styled
from evcrisp.plots.tradeoff import draw_pareto, draw_tradeoff

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from evcrisp.core.sensor_data import Imu
    from evcrisp.estimators.joint.pareto import ParetoFront
    from evcrisp.estimators.result import Estimate

#: Width of a panel, inches.
_PANEL = 3.7


def scatter(
    events: Events, labels: Mapping[str, ArrayLike], *, colors: str = "red-blue"
) -> "Figure":
    """Return what every method keeps, a panel each."""
    figure, panels = _grid(len(labels), events.height / events.width, extra=0.55)
    for axes, (name, signal) in zip(panels, labels.items(), strict=False):
        draw_kept(axes, events, signal, colors)
        axes.set_title(name)
    return figure


def outcomes(
    events: Events, labels: Mapping[str, ArrayLike], *, truth: ArrayLike | None = None
) -> "Figure":
    """Return which labels of every method are right: TP, FN, TN, FP, a panel each."""
    known = events.signal if truth is None else truth
    if known is None:
        raise ConfigError("The truth is not known: `events` have no `signal`, and `truth` is None.")
    figure, panels = _grid(len(labels), events.height / events.width, extra=1.15)
    for axes, (name, signal) in zip(panels, labels.items(), strict=False):
        draw_outcomes(axes, events, signal, known)
        axes.set_title(f"{name}: {axes.get_title()}")
    return figure


def aligned(estimate: "Estimate", *, colors: str = "red-blue") -> "Figure":
    """Return the kept events as recorded, and where alignment puts them."""
    events, kept = estimate.window.events, estimate.signal
    figure, panels = _grid(2, events.height / events.width, extra=0.55)
    x, y, p = events.x[kept], events.y[kept], events.p[kept]
    draw_positions(panels[0], x, y, p, events.image_shape, colors).set_title("as recorded")
    moved = estimate.aligned_x[kept], estimate.aligned_y[kept]
    draw_positions(panels[1], *moved, p, events.image_shape, colors).set_title("aligned")
    return figure


def xyt(events: Events, *, signal: ArrayLike | None = None, colors: str = "red-blue") -> "Figure":
    """Return a cloud of events over space and time."""
    figure = new_figure(6.2, 4.6)
    draw_xyt(figure.add_subplot(projection="3d"), events, signal, colors=colors)
    return figure


def maps(estimate: "Estimate") -> "Figure":
    """Return contrast maps before and after alignment."""
    events = estimate.window.events
    figure, panels = _grid(2, events.height / events.width, extra=0.55)
    draw_before_after(panels[0], panels[1], estimate)
    return figure


def confidence(estimate: "Estimate") -> "Figure":
    """Return the confidence map W."""
    figure = new_figure(5.2, 3.8)
    draw_confidence(figure.subplots(), estimate)
    return figure


def intro(estimate: "Estimate", *, colors: str = "red-blue") -> "Figure":
    """Return how events drift, and how alignment piles them up."""
    figure = new_figure(9.0, 4.4)
    upper, lower = figure.subplots(
        2, 2, sharex=True, sharey="row", gridspec_kw={"height_ratios": (2.2, 1.0)}
    )
    draw_drift(tuple(upper), tuple(lower), estimate, colors)
    return figure


def roc(
    curves: Mapping[str, RocCurve | SweepCurve],
    *,
    points: Mapping[str, tuple[float, float]] | None = None,
) -> "Figure":
    """Return ROC curves with their areas."""
    figure = new_figure(4.6, 4.4)
    draw_roc(figure.subplots(), curves, points)
    return figure


def pareto(front: "ParetoFront") -> "Figure":
    """Return the front of the trade-off between alignment and denoising."""
    figure = new_figure(5.4, 4.2)
    draw_pareto(figure.subplots(), front)
    return figure


def tradeoff(front: "ParetoFront") -> "Figure":
    """Return what changes along the front."""
    figure = new_figure(5.6, 5.4)
    draw_tradeoff(list(figure.subplots(3, 1, sharex=True)), front)
    return figure


def motion(estimates: Sequence["Estimate"], *, imu: "Imu | None" = None) -> "Figure":
    """Return motion over time, against the gyroscope where that can be compared."""
    n_rows = len(estimates[0].motion.param_names) if estimates else 1
    figure = new_figure(7.0, 0.8 + 1.4 * n_rows)
    rows = list(figure.subplots(n_rows, 1, sharex=True, squeeze=False)[:, 0])
    draw_motion(rows, estimates, imu)
    figure.align_ylabels()
    return figure


def levels(
    levels: Sequence[float] | Sequence[str], values: Mapping[str, Sequence[float]], **options: Any
) -> "Figure":
    """Return a measure against the level of noise; options as for `draw_levels`."""
    figure = new_figure(5.2, 3.6)
    draw_levels(figure.subplots(), levels, values, **options)
    return figure


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureKind:
    """A figure that can be asked for by name."""

    title: str
    build: Callable[..., "Figure"]
    needs: tuple[str, ...]  # names of the data that `build` takes
    of_recording: bool = True  # whether one recording has all of it


FIGURES: dict[str, FigureKind] = {
    "scatter": FigureKind(
        title="what each method keeps", build=scatter, needs=("events", "labels")
    ),
    "outcomes": FigureKind(
        title="TP, FN, TN, FP of each method", build=outcomes, needs=("events", "labels")
    ),
    "aligned": FigureKind(
        title="events as recorded and aligned", build=aligned, needs=("estimate",)
    ),
    "xyt": FigureKind(title="events over space and time", build=xyt, needs=("events",)),
    "maps": FigureKind(
        title="contrast maps before and after alignment", build=maps, needs=("estimate",)
    ),
    "w": FigureKind(title="confidence map W", build=confidence, needs=("estimate",)),
    "intro": FigureKind(title="drift and alignment", build=intro, needs=("estimate",)),
    "roc": FigureKind(title="ROC curves", build=roc, needs=("curves",)),
    "pareto": FigureKind(
        title="front of alignment against denoising", build=pareto, needs=("front",)
    ),
    "tradeoff": FigureKind(title="what changes along the front", build=tradeoff, needs=("front",)),
    "motion": FigureKind(
        title="motion over time, against the gyroscope", build=motion, needs=("estimates",)
    ),
    "levels": FigureKind(
        title="a measure against the level of noise",
        build=levels,
        needs=("levels", "values"),
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
        What it shows: the names in ``FIGURES[kind].needs``, and options such as ``colors``.

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


def _grid(n_panels: int, aspect: float, *, extra: float) -> "tuple[Figure, list[Any]]":
    """Return a figure with panels in rows of up to three; ``extra`` inches for titles and labels."""
    if n_panels < 1:
        raise ConfigError("`labels` must have at least one entry.")
    n_columns = 2 if n_panels == 4 else min(n_panels, 3)
    n_rows = -(-n_panels // n_columns)
    height = n_rows * (0.86 * _PANEL * aspect + extra)
    figure = new_figure(_PANEL * n_columns, height)
    panels = list(figure.subplots(n_rows, n_columns, squeeze=False).ravel())
    for axes in panels[n_panels:]:
        axes.remove()
    return figure, panels[:n_panels]
