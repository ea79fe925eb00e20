"""Table 1: event structural ratio on E-MLB, by light and method."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from evcrisp.core.messages import counted
from evcrisp.experiments import paper
from evcrisp.experiments.datasets import Clip
from evcrisp.experiments.datasets.emlb import HALVES, LEVELS
from evcrisp.experiments.methods import TABLE1, Method
from evcrisp.experiments.protocols import LABELING, measure_structure
from evcrisp.experiments.tables.options import Options
from evcrisp.experiments.tables.protocol import Done, failure_notes
from evcrisp.experiments.tables.table import Better, Cell, Column, Row, Table, mean
from evcrisp.experiments.tasks import Task

#: Where in the table recordings may stand, in the order of its columns.
PLACES = tuple((half, level) for half in HALVES.values() for level in LEVELS.values())


class Table1:
    """ESR of what each method keeps, its retention, and what random deletion gets."""

    name: ClassVar[str] = "table1"
    dataset: ClassVar[str] = "emlb"

    def methods(self, options: Options) -> tuple[Method, ...]:
        """Return all rows that can be chosen."""
        return TABLE1

    def tasks(self, root: Path, clips: Sequence[Clip], options: Options) -> list[Task]:
        """Return one task per recording and method."""
        settings = {
            "slice_events": options.slice_events,
            "seed": options.seed,
            "max_events": options.max_events,
            **LABELING,
        }
        methods, _ = options.rows(TABLE1)
        return [
            Task(protocol=measure_structure, clip=clip, method=method, settings=settings)
            for clip in clips
            for method in methods
        ]

    def tables(self, done: Sequence[Done], clips: Sequence[Clip], options: Options) -> list[Table]:
        """Return the ESR, its gain over the random control, and the retention."""
        methods, left_out = options.rows(TABLE1)
        empty = sum(1 for _, numbers in done if numbers is not None and numbers["esr"] is None)
        notes = [
            f"{counted(len(clips), 'recording')}, fixed hyper-parameters, means over recordings; ESR of "
            f"unwarped events in slices of {counted(options.slice_events, 'event')}.",
            *left_out,
            *failure_notes(done),
        ]
        if empty:
            notes.append(f"Without a complete slice, and in no mean: {counted(empty, 'result')}.")
        tables = [
            self._table("table1", "ESR (higher is better)", done, methods, "esr", tuple(notes)),
            self._table(
                "table1-gain",
                "ESR minus that of as many events drawn at random (a filter must be above 0)",
                done,
                methods,
                "gain",
            ),
            self._table(
                "table1-retention",
                "Share of events that are kept",
                done,
                methods,
                "retention",
                better=None,
            ),
        ]
        if any(numbers and "denoising_accuracy" in numbers for _, numbers in done):
            title = "Mean of sensitivity and specificity, from the labels of the twin"
            tables.append(self._table("table1-truth", title, done, methods, "denoising_accuracy"))
        return tables

    def _table(
        self,
        name: str,
        title: str,
        done: Sequence[Done],
        methods: Sequence[Method],
        measure: str,
        notes: tuple[str, ...] = (),
        better: Better = "high",
    ) -> Table:
        columns = [
            Column(key=f"{half}-{level}", label=level, group=half.capitalize(), better=better)
            for half, level in PLACES
        ]
        with_paper = measure == "esr"
        if with_paper:
            columns.append(Column(key="n_hyper", label="#hyper", better=None, digits=0))
        rows = []
        for method in methods:
            published = paper.ESR.get(method.key) if with_paper else None
            cells = {
                f"{half}-{level}": Cell(
                    mean(_values(done, method, (half, level), measure)),
                    None if published is None else published[i],
                )
                for i, (half, level) in enumerate(PLACES)
            }
            if with_paper and method.n_hyper is not None:
                cells["n_hyper"] = Cell(float(method.n_hyper))
            rows.append(Row(key=method.key, label=method.label, family=method.family, cells=cells))
        return Table(name=name, title=title, columns=tuple(columns), rows=tuple(rows), notes=notes)


def _values(
    done: Sequence[Done], method: Method, place: tuple[str, str], measure: str
) -> list[float | None]:
    """Return one number of every recording at a place of the table."""
    found = [
        numbers
        for task, numbers in done
        if numbers is not None and task.method.key == method.key and task.clip.group == place
    ]
    if measure != "gain":
        return [numbers.get(measure) for numbers in found]
    return [
        None
        if numbers["esr"] is None or numbers["random_esr"] is None
        else numbers["esr"] - numbers["random_esr"]
        for numbers in found
    ]
