"""What every table offers: its tasks, and itself made of their numbers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

from evcrisp.core.messages import counted
from evcrisp.experiments.datasets import Clip
from evcrisp.experiments.methods import Method
from evcrisp.experiments.tables.options import Options
from evcrisp.experiments.tables.table import Table
from evcrisp.experiments.tasks import Task

#: A task and its numbers; None if it failed.
Done = tuple[Task, dict[str, Any] | None]


class TableKind(Protocol):
    """A table of the paper."""

    name: ClassVar[str]
    dataset: ClassVar[str]

    def methods(self, options: Options) -> tuple[Method, ...]:
        """Return all rows that can be chosen."""
        ...

    def tasks(self, root: Path, clips: Sequence[Clip], options: Options) -> list[Task]:
        """Return the work behind the table."""
        ...

    def tables(self, done: Sequence[Done], clips: Sequence[Clip], options: Options) -> list[Table]:
        """Return the table, and those that belong beside it."""
        ...


def failure_notes(done: Sequence[Done]) -> tuple[str, ...]:
    """Say for how many recordings a method failed."""
    failed: dict[str, int] = {}
    for task, numbers in done:
        if numbers is None:
            failed[task.method.label] = failed.get(task.method.label, 0) + 1
    return tuple(
        f"{label} failed on {counted(n, 'recording')}, which its means leave out."
        for label, n in failed.items()
    )
