"""The result of a bench: tasks with numbers, and tables with intervals over recordings."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evcrisp.core.messages import counted
from evcrisp.experiments.bench.options import BenchOptions
from evcrisp.experiments.bootstrap import mean_interval
from evcrisp.experiments.datasets import Clip
from evcrisp.experiments.datasets.detection import FoundDataset
from evcrisp.experiments.methods import Method
from evcrisp.experiments.tables.table import Cell, Column, Row, Table
from evcrisp.experiments.task_runner import Outcome, Task

#: Columns of the tables; those without a number are left out.
COLUMNS = (
    Column(key="auc", label="AUC", group="Labels", digits=3),
    Column(key="sensitivity", label="sensitivity", group="Labels", digits=3, better=None),
    Column(key="specificity", label="specificity", group="Labels", digits=3, better=None),
    Column(key="denoising_accuracy", label="mean of both", group="Labels", digits=3),
    Column(key="retention", label="kept", group="Structure", digits=2, better=None),
    Column(key="esr_gain", label="ESR gain", group="Structure", digits=3),
    Column(key="aocc_ratio", label="AOCC / raw", group="Structure", digits=2, better=None),
    Column(key="entropy_change", label="entropy, bits", group="Structure", digits=2, better=None),
    Column(key="fwl", label="FWL", group="Motion", digits=2),
    Column(key="aee_px", label="AEE, px", group="Motion", digits=2, better="low"),
    Column(key="direction_deg", label="direction, deg", group="Motion", digits=1, better="low"),
    Column(key="outliers", label="outliers", group="Motion", digits=3, better="low"),
    Column(key="hota", label="HOTA", group="Boxes", digits=3),
    Column(key="mev_per_s", label="Mev/s", group="Speed", digits=2, better=None),
)


#: Kind of table -> groups of its columns, so that a page is wide enough.
KINDS = {"labels": ("Labels", "Structure"), "motion and speed": ("Motion", "Boxes", "Speed")}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Bench:
    """A finished bench; `rows` has every number, `tables` means over recordings."""

    folder: Path
    found: tuple[FoundDataset, ...]
    methods: tuple[Method, ...]
    options: BenchOptions
    tasks: tuple[Task, ...]
    outcome: Outcome
    notes: tuple[str, ...]
    files: tuple[Path, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per recording and method: data set, recording, method, and its numbers."""
        raw = {task.clip: numbers for task, numbers in self._done() if task.method.key == "raw"}
        titles = {clip: part.title for part in self.found for clip in part.clips}
        return [
            {
                "dataset": titles[task.clip],
                "group": " ".join(task.clip.group),
                "recording": task.clip.name,
                "method": task.method.key,
                **numbers,
                **_relative(numbers, raw.get(task.clip, {})),
            }
            for task, numbers in self._done()
        ]

    def _done(self) -> Iterator[tuple[Task, dict[str, Any]]]:
        for task, numbers in zip(self.tasks, self.outcome.numbers(), strict=True):
            if numbers is not None:
                yield task, numbers

    def tables(self) -> list[Table]:
        """Return two tables of all recordings, and of each data set if there are several."""
        rows = self.rows()
        titles = list(dict.fromkeys(row["dataset"] for row in rows))
        parts = {"all": ("All recordings", rows)}
        if len(titles) > 1:
            for k, title in enumerate(titles, 1):
                parts[f"dataset-{k}"] = (title, [row for row in rows if row["dataset"] == title])
        tables = (
            _table(
                f"{name}-{kind}", f"{title}: {kind}", some, self.methods, self.options.seed, groups
            )
            for name, (title, some) in parts.items()
            for kind, groups in KINDS.items()
        )
        return [table for table in tables if table.rows]

    def clips(self) -> list[Clip]:
        """Return all recordings."""
        return [clip for part in self.found for clip in part.clips]


def _relative(numbers: dict[str, Any], raw: dict[str, Any]) -> dict[str, Any]:
    """Return numbers relative to those of all events, and the speed in millions of events."""
    found: dict[str, Any] = {}
    if numbers.get("aocc") is not None and raw.get("aocc"):
        found["aocc_ratio"] = numbers["aocc"] / raw["aocc"]
    if numbers.get("entropy_bits") is not None and raw.get("entropy_bits") is not None:
        found["entropy_change"] = numbers["entropy_bits"] - raw["entropy_bits"]
    if numbers.get("events_per_s") is not None:
        found["mev_per_s"] = numbers["events_per_s"] / 1e6
    return found


def _table(
    name: str,
    title: str,
    rows: Sequence[dict[str, Any]],
    methods: Sequence[Method],
    seed: int,
    groups: tuple[str, ...],
) -> Table:
    own_columns = [column for column in COLUMNS if column.group in groups]
    columns = tuple(c for c in own_columns if any(row.get(c.key) is not None for row in rows))
    made = []
    for method in methods:
        own = [row for row in rows if row["method"] == method.key]
        cells = {}
        for column in columns:
            values = [row[column.key] for row in own if row.get(column.key) is not None]
            interval = mean_interval(values, seed=seed)
            if interval is not None:
                ends = (interval.low, interval.high) if len(values) > 1 else (None, None)
                cells[column.key] = Cell(interval.value, None, *ends)
        if cells:
            made.append(Row.of(method, cells))
    return Table(
        name=name, title=title, columns=columns, rows=tuple(made), notes=_notes(rows, columns)
    )


def _notes(rows: Sequence[dict[str, Any]], columns: Sequence[Column]) -> tuple[str, ...]:
    """Return the number of recordings, and columns that have fewer."""
    n = len({(row["dataset"], row["recording"]) for row in rows})
    counts = {
        column.label: len(
            {(row["dataset"], row["recording"]) for row in rows if row.get(column.key) is not None}
        )
        for column in columns
    }
    fewer = [f"{label} {count}" for label, count in counts.items() if count < n]
    first = (
        f"Means over {counted(n, 'recording')}; ± is half of the 95 % interval."
        if n > 1
        else "One recording: there are no intervals."
    )
    return (first, f"Fewer recordings: {', '.join(fewer)}.") if fewer else (first,)
