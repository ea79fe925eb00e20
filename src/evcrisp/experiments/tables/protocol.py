"""Interface of a table: its tasks, and how their numbers become cells."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

from evcrisp.core.messages import counted
from evcrisp.experiments.datasets import Clip
from evcrisp.experiments.methods import Kind, Method
from evcrisp.experiments.tables.options import Options
from evcrisp.experiments.tables.table import Table
from evcrisp.experiments.tasks import Task

#: A task and its numbers; None if it failed.
TaskNumbers = tuple[Task, dict[str, Any] | None]


class TableKind(Protocol):
    """A table of the paper."""

    name: ClassVar[str]
    dataset: ClassVar[str]
    #: Kinds of methods that the table can measure.
    kinds: ClassVar[tuple[Kind, ...]]

    def methods(self, options: Options) -> tuple[Method, ...]:
        """Return all rows of the paper, and ours."""
        ...

    def tasks(self, root: Path, clips: Sequence[Clip], options: Options) -> list[Task]:
        """Return the tasks of the table."""
        ...

    def tables(
        self, done: Sequence[TaskNumbers], clips: Sequence[Clip], options: Options
    ) -> list[Table]:
        """Return the table and its additional tables."""
        ...


def failure_notes(done: Sequence[TaskNumbers]) -> tuple[str, ...]:
    """Return a note on the number of failures of each method."""
    failed: dict[str, int] = {}
    for task, numbers in done:
        if numbers is None:
            failed[task.method.label] = failed.get(task.method.label, 0) + 1
    return tuple(
        f"{label} failed on {counted(n, 'recording')}, which its means leave out."
        for label, n in failed.items()
    )
