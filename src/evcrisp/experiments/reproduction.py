"""Reproduce a table of the paper from a folder of data."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evcrisp.core.errors import ConfigError
from evcrisp.core.registry import lookup
from evcrisp.experiments.datasets import Clip, DatasetLike, dataset_for, find_clips
from evcrisp.experiments.simulated_datasets import (
    WRITERS,
    SimulatedDataset,
    read_simulated,
    simulate_dataset,
)
from evcrisp.experiments.store import ResultStore
from evcrisp.experiments.tables import TABLES, Options, Table
from evcrisp.experiments.tables.formats import FORMATS
from evcrisp.experiments.tables.options import data_note
from evcrisp.experiments.task_runner import Outcome, Task, run_tasks
from evcrisp.io.atomic_output import replacing
from evcrisp.pipeline.many.executors import InProcess, Workers


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Reproduction:
    """A reproduced table of the paper."""

    name: str
    title: str
    root: Path
    tables: tuple[Table, ...]
    outcome: Outcome
    tasks: tuple[Task, ...]
    files: tuple[Path, ...]

    def done(self) -> list[tuple[Task, dict[str, Any]]]:
        """Return the tasks that have results, with their results."""
        pairs = zip(self.tasks, self.outcome.results, strict=True)
        return [(task, result) for task, result in pairs if result is not None]

    def settings(self) -> dict[str, Any]:
        """Return the settings that were in effect, with a list where tasks differ."""
        names = list(dict.fromkeys(name for task in self.tasks for name in task.settings))
        used: dict[str, Any] = {
            "data": self.root.name,
            "recordings": len({task.clip.name for task in self.tasks}),
            "methods": list(dict.fromkeys(task.method.key for task in self.tasks)),
        }
        for name in names:
            values = [task.settings.get(name) for task in self.tasks]
            unique = [value for k, value in enumerate(values) if value not in values[:k]]
            used[name] = unique[0] if len(unique) == 1 else unique
        return used

    def clips(self) -> list[Clip]:
        """Return the recordings that have results, each once, in order."""
        return list(dict.fromkeys(task.clip for task, _ in self.done()))


def reproduce(
    name: str,
    out: Path,
    workers: Workers | None = None,
    *,
    root: Path | None = None,
    dataset: DatasetLike | None = None,
    methods: Sequence[Any] | None = None,
    small: bool = False,
    options: Options | None = None,
    retry_failed: bool = False,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[Task], None] | None = None,
) -> Reproduction:
    """Make a table of the paper from a data set, or from a simulated one.

    Parameters
    ----------
    name : str
        One of the keys of ``TABLES``.
    out : Path
        Folder of the results, created if needed. Results of earlier runs there are reused.
    workers : Workers, optional
        Workers that run the tasks. Default: this process.
    root : Path, optional
        Folder of the data set. Default: a simulated data set in ``out``.
    dataset : str, type or object, optional
        Another data set than that of the table: a name of ``DATASETS``, a class or an object.
    methods : sequence of str, type or object, optional
        Rows; replaces ``options.methods``. Own estimators and filters by name, class or object.
    small, retry_failed : bool
        Simulate the small data set; run tasks again that failed in an earlier run.
    options : Options, optional
        Further options.
    on_start, on_done : callable, optional
        Called with the number of tasks, and with each task that is done.
    """
    kind = lookup(TABLES, name, "table")
    source = dataset_for(kind.dataset if dataset is None else dataset)
    options = Options() if options is None else options
    if methods is not None:
        options = replace(options, methods=tuple(methods))
    if root is None:
        if source.name not in WRITERS:
            raise ConfigError(f"The data set {source.name!r} has no simulation. Give its `root`.")
        root = out / "twins" / (f"{source.name}-small" if small else source.name)
        simulate_dataset(source.name, root, small=small)
    simulated = read_simulated(source, root)
    if simulated is not None:
        options = _fitting(options, simulated)
    root = root.resolve()
    clips = find_clips(source, root)
    tasks = kind.tasks(root, clips, options)
    if on_start is not None:
        on_start(len(tasks))
    outcome = run_tasks(
        tasks, ResultStore(out), workers or InProcess(), retry_failed=retry_failed, on_done=on_done
    )
    tables = kind.tables(list(zip(tasks, outcome.numbers(), strict=True)), clips, options)
    tables[0] = replace(tables[0], notes=(data_note(root, simulated), *tables[0].notes))
    return Reproduction(
        name=name,
        title=kind.title,
        root=root,
        tables=tuple(tables),
        outcome=outcome,
        tasks=tuple(tasks),
        files=_write_files(out, name, tables),
    )


def _fitting(options: Options, simulated: SimulatedDataset) -> Options:
    """Return options with the slices and windows of a simulated data set, unless given."""
    plain = Options()
    names = [
        n for n in ("slice_events", "window_events") if getattr(options, n) == getattr(plain, n)
    ]
    return replace(options, skip_slow=True, **{name: getattr(simulated, name) for name in names})


def _write_files(out: Path, name: str, tables: list[Table]) -> tuple[Path, ...]:
    files = []
    for suffix, formatted in FORMATS.items():
        path = out / f"{name}{suffix}"
        with replacing(path, overwrite=True) as temporary:
            temporary.write_text(formatted(tables), encoding="utf-8")
        files.append(path)
    return tuple(files)
