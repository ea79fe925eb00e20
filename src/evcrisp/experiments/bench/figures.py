"""Figures of a bench: methods by each main metric, and labels against speed."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from evcrisp.core.errors import MissingExtraError
from evcrisp.core.messages import counted
from evcrisp.experiments.bench.result import Bench
from evcrisp.experiments.page import Figure
from evcrisp.experiments.tables.table import Table
from evcrisp.plots.ranking import ranking_figure, speed_figure
from evcrisp.plots.style import png_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

#: Column -> name of the axis, whether lower is better, and what the caption says.
_RANKINGS = {
    "auc": (
        "AUC of the labels",
        False,
        "AUC of the labels, against added noise where there is no truth",
    ),
    "esr_gain": (
        "ESR above that of random deletion",
        False,
        "Gain of the ESR over random deletion",
    ),
    "aee_px": ("AEE [px per frame]", True, "Average endpoint error of the velocities of events"),
    "hota": ("HOTA", False, "HOTA of the boxes of objects"),
}


def bench_figures(bench: Bench) -> list[Figure]:
    """Return the figures as PNG; none without the extra ``plot``."""
    try:
        return [Figure(title, png_bytes(drawing)) for title, drawing in _drawn(bench)]
    except MissingExtraError:
        return []


def _drawn(bench: Bench) -> Iterator[tuple[str, "Drawing"]]:
    tables, rows = bench.tables()[:2], bench.rows()
    for key, (label, lower_is_better, caption) in _RANKINGS.items():
        values = _values(rows, key)
        if not values:
            continue
        labels = {method.key: method.label for method in bench.methods}
        means = {labels[name]: _mean(tables, name, key) for name in values}
        each = {labels[name]: found for name, found in values.items()}
        n = max(len(found) for found in values.values())
        text = f"{caption}; one recording."
        if n > 1:
            shown = "Diamonds: means; bars: 95 % intervals; dots: recordings."
            text = f"{caption}; {counted(n, 'recording')}. {shown}"
        yield text, ranking_figure(means, each, x_label=label, lower_is_better=lower_is_better)
    both = _values(rows, "auc"), _values(rows, "mev_per_s")
    points = {
        method.label: (float(np.mean(both[1][method.key])), float(np.mean(both[0][method.key])))
        for method in bench.methods
        if method.key in both[0] and method.key in both[1] and method.key != "raw"
    }
    if points:
        text = "AUC against the speed, measured while other tasks ran; means over recordings."
        yield text, speed_figure(points, y_label="AUC of the labels")


def _values(rows: list[dict[str, Any]], key: str) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for row in rows:
        if row.get(key) is not None and np.isfinite(row[key]):
            found.setdefault(row["method"], []).append(row[key])
    return found


def _mean(tables: Sequence[Table], name: str, key: str) -> tuple[float, float | None, float | None]:
    """Return the mean of a method over all recordings, and its interval."""
    rows = (row for table in tables for row in table.rows if row.key == name)
    cell = next(row.cells[key] for row in rows if key in row.cells)
    return float(cell.value or 0.0), cell.low, cell.high
