"""Table 1: event structural ratio on E-MLB, by light and method."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from evcrisp.core.messages import counted
from evcrisp.experiments import paper
from evcrisp.experiments.datasets import Clip
from evcrisp.experiments.datasets.emlb import HALVES, LEVELS
from evcrisp.experiments.methods import TABLE1, Kind, Method
from evcrisp.experiments.protocols import LABEL_SETTINGS, measure_structure
from evcrisp.experiments.tables.options import Done, Options, failure_notes
from evcrisp.experiments.tables.table import Better, Cell, Column, Row, Table, mean
from evcrisp.experiments.task_runner import Task

#: Groups of recordings of E-MLB, in the order of the columns.
PLACES = tuple((half, level) for half in HALVES.values() for level in LEVELS.values())


class Table1:
    """ESR of the kept events of each method, its gain over random deletion, and retention."""

    name: ClassVar[str] = "table1"
    title: ClassVar[str] = "Table 1: structure of the kept events on E-MLB"
    dataset: ClassVar[str] = "emlb"
    kinds: ClassVar[tuple[Kind, ...]] = ("filter", "estimator")

    def methods(self, options: Options) -> tuple[Method, ...]:
        """Return all rows of the paper, and ours."""
        return TABLE1

    def tasks(self, root: Path, clips: Sequence[Clip], options: Options) -> list[Task]:
        """Return one task per recording and method."""
        settings = {
            "slice_events": options.slice_events,
            "seed": options.seed,
            "max_events": options.max_events,
            **LABEL_SETTINGS,
        }
        rows, _ = options.rows(TABLE1, self.kinds)
        return [Task(measure_structure, clip, row, settings) for clip in clips for row in rows]

    def tables(self, done: Done, clips: Sequence[Clip], options: Options) -> list[Table]:
        """Return the ESR, its gain over the random control, and the retention."""
        methods, left_out = options.rows(TABLE1, self.kinds)
        empty = sum(1 for _, numbers in done if numbers is not None and numbers["esr"] is None)
        notes = [
            f"{counted(len(clips), 'recording')}, fixed hyper-parameters, means over recordings; ESR of "
            f"unwarped events in slices of {counted(options.slice_events, 'event')}.",
            *left_out,
            *failure_notes(done),
        ]
        if empty:
            notes.append(f"Without a complete slice, and in no mean: {counted(empty, 'result')}.")
        places = _places(clips)

        def table(name: str, title: str, measure: str, better: Better = "high") -> Table:
            columns = tuple(_column(place, better) for place in places)
            rows = []
            for method in methods:
                values = [mean(_values(done, method, place, measure)) for place in places]
                keys = (column.key for column in columns)
                rows.append(Row.of(method, dict(zip(keys, map(Cell, values), strict=True))))
            return Table(name=name, title=title, columns=columns, rows=tuple(rows))

        gain = "ESR minus that of as many events drawn at random (a filter must be above 0)"
        tables = [
            _with_paper(table("table1", "ESR (higher is better)", "esr"), methods, notes),
            table("table1-gain", gain, "gain"),
            table("table1-retention", "Share of events that are kept", "retention", None),
        ]
        if any(numbers and "denoising_accuracy" in numbers for _, numbers in done):
            title = "Mean of sensitivity and specificity, from the simulated labels"
            tables.append(table("table1-truth", title, "denoising_accuracy"))
        return tables


def _places(clips: Sequence[Clip]) -> tuple[tuple[str, ...], ...]:
    """Return the groups of recordings: those of E-MLB, or those of another data set."""
    found = tuple(dict.fromkeys(clip.group for clip in clips))
    return PLACES if set(found) <= set(PLACES) else found


def _column(place: tuple[str, ...], better: Better) -> Column:
    group = " ".join(place[:-1]).capitalize()
    return Column(key="-".join(place), label=place[-1], group=group, better=better)


def _with_paper(table: Table, methods: Sequence[Method], notes: Sequence[str]) -> Table:
    """Add the numbers of the paper, the number of hyper-parameters and notes."""
    keys = ["-".join(place) for place in PLACES]
    rows = []
    for row, method in zip(table.rows, methods, strict=True):
        published = {} if method.part else dict(zip(keys, paper.ESR.get(row.key, ()), strict=False))
        cells = {key: Cell(cell.value, published.get(key)) for key, cell in row.cells.items()}
        if method.n_hyper is not None:
            cells["n_hyper"] = Cell(float(method.n_hyper))
        rows.append(Row.of(method, cells))
    columns = (*table.columns, Column(key="n_hyper", label="#hyper", better=None, digits=0))
    return replace(table, columns=columns, rows=tuple(rows), notes=tuple(notes))


def _values(done: Done, method: Method, place: tuple[str, ...], measure: str) -> list[float | None]:
    """Return one number of each recording of a group."""
    found = [
        numbers
        for task, numbers in done
        if numbers is not None and task.method.key == method.key and task.clip.group == place
    ]
    if measure != "gain":
        return [numbers.get(measure) for numbers in found]
    pairs = [(numbers["esr"], numbers["random_esr"]) for numbers in found]
    return [None if None in pair else pair[0] - pair[1] for pair in pairs]
