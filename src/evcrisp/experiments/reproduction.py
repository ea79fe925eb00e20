"""From a folder of data to the files of a table."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from evcrisp.core.registry import lookup
from evcrisp.experiments.datasets import Clip, find_clips
from evcrisp.experiments.executors import Pool
from evcrisp.experiments.simulated_datasets import Twin, make_twin, twin_of
from evcrisp.experiments.store import ResultStore
from evcrisp.experiments.tables import TABLES, Options, Table
from evcrisp.experiments.tables.formats import FORMATS
from evcrisp.experiments.tables.options import data_note
from evcrisp.experiments.task_runner import Outcome, run_tasks
from evcrisp.experiments.tasks import Task
from evcrisp.io.atomic_output import replacing


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Reproduced:
    """A table of the paper, made again."""

    name: str
    root: Path
    tables: tuple[Table, ...]
    outcome: Outcome
    tasks: tuple[Task, ...]
    files: tuple[Path, ...]

    def clips(self) -> list[Clip]:
        """Return the recordings that have results, each once, in their order."""
        done = zip(self.tasks, self.outcome.results, strict=True)
        return list(dict.fromkeys(task.clip for task, result in done if result is not None))


def reproduce(
    name: str,
    out: Path,
    pool: Pool,
    *,
    root: Path | None = None,
    small: bool = False,
    options: Options | None = None,
    retry_failed: bool = False,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[Task], None] | None = None,
) -> Reproduced:
    """Make a table of the paper from a data set, or from its simulated twin.

    Parameters
    ----------
    name : str
        One of the keys of ``TABLES``.
    out : Path
        Folder of the results, made if it does not exist. What a run that was ended left there is
        used, not made again.
    pool : Pool
        Where to run.
    root : Path, optional
        The data set. Default: a twin in ``out``.
    small : bool
        Whether that twin is the small one.
    options : Options, optional
        What to run, and how.
    retry_failed : bool
        Run again what failed earlier.
    on_start, on_done : callable, optional
        Called with the number of tasks, and with each task that is done.
    """
    kind = lookup(TABLES, name, "table")
    options = Options() if options is None else options
    if root is None:
        root = out / "twins" / (f"{kind.dataset}-small" if small else kind.dataset)
        make_twin(kind.dataset, root, small=small)
    twin = twin_of(kind.dataset, root)
    if twin is not None:
        options = _fitting(options, twin)
    root = root.resolve()
    clips = find_clips(kind.dataset, root)
    tasks = kind.tasks(root, clips, options)
    if on_start is not None:
        on_start(len(tasks))
    outcome = run_tasks(tasks, ResultStore(out), pool, retry_failed=retry_failed, on_done=on_done)
    tables = kind.tables(list(zip(tasks, outcome.numbers(), strict=True)), clips, options)
    first = replace(tables[0], notes=(data_note(root, twin), *tables[0].notes))
    tables = [first, *tables[1:]]
    return Reproduced(
        name=name,
        root=root,
        tables=tuple(tables),
        outcome=outcome,
        tasks=tuple(tasks),
        files=_written(out, name, tables),
    )


def _fitting(options: Options, twin: Twin) -> Options:
    """Return options with the slices and windows of a twin, unless others were asked for."""
    plain = Options()
    changes = {
        name: getattr(twin, name)
        for name in ("slice_events", "window_events")
        if getattr(options, name) == getattr(plain, name)
    }
    return replace(options, **changes, skip_slow=True)


def _written(out: Path, name: str, tables: list[Table]) -> tuple[Path, ...]:
    files = []
    for suffix, formatted in FORMATS.items():
        path = out / f"{name}{suffix}"
        with replacing(path, overwrite=True) as temporary:
            temporary.write_text(formatted(tables), encoding="utf-8")
        files.append(path)
    return tuple(files)
