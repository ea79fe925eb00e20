"""Run a bench: find recordings, measure all methods, and write tables and a page."""

import csv
import io
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from evcrisp.core.errors import OutputError
from evcrisp.experiments.bench.measures import measure_bench
from evcrisp.experiments.bench.options import BenchOptions, bench_methods
from evcrisp.experiments.bench.page import write_bench_page
from evcrisp.experiments.bench.result import Bench
from evcrisp.experiments.code_digest import code_digest
from evcrisp.experiments.datasets import DatasetLike
from evcrisp.experiments.datasets.detection import find_datasets
from evcrisp.experiments.methods import device_notes
from evcrisp.experiments.page import Provenance
from evcrisp.experiments.store import ResultStore
from evcrisp.experiments.tables.formats import FORMATS
from evcrisp.experiments.task_runner import Task, run_tasks
from evcrisp.io.atomic_output import replacing
from evcrisp.pipeline.many.executors import InProcess, Workers


def bench(
    folder: str | PathLike[str],
    out: str | PathLike[str],
    workers: Workers | None = None,
    *,
    methods: Sequence[Any] | None = None,
    dataset: DatasetLike | None = None,
    options: BenchOptions | None = None,
    retry_failed: bool = False,
    command: str | None = None,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[Task], None] | None = None,
) -> Bench:
    """Measure methods on all recordings of a folder, and write one page.

    Parameters
    ----------
    folder : path
        Own recordings, or public data sets: the folder itself or its direct sub-folders have the layout
        of one. `evcrisp bench --help` lists the layouts.
    out : path
        Folder of the results, created if needed: ``bench.html``, ``bench.csv`` (one line per recording
        and method) and the tables. Results of earlier runs there are reused.
    workers : Workers, optional
        Workers that run the tasks. Default: this process.
    methods : sequence of str, type or object, optional
        Estimators, filters and competitors by name, "all", ``NAME:PATH``, classes, or objects.
    dataset : str, type or object, optional
        Layout that the folder must have. Default: it is found.
    options : BenchOptions, optional
        Further options.
    retry_failed : bool
        Run tasks again that failed in an earlier run.
    command : str, optional
        Command that makes the page again; it is shown on the page.
    on_start, on_done : callable, optional
        Called with the number of tasks, and with each task that is done.

    Examples
    --------
    >>> import evcrisp, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> scene = evcrisp.simulate(resolution=(96, 72), noise_hz=5.0, seed=1)
    >>> _ = evcrisp.write(folder / "scene.npz", scene.events)
    >>> result = evcrisp.bench(folder, folder / "out", methods=["baf", "auto"])
    >>> {row["method"]: row["auc"] > 0.9 for row in result.rows()}
    {'raw': False, 'baf': True, 'auto': True}
    """
    root, target = Path(folder), Path(out)
    options = BenchOptions() if options is None else options
    rows, notes = bench_methods(methods)
    rows = tuple(method.on(options.device) for method in rows)
    notes = (*notes, *device_notes(rows))
    found = find_datasets(root, dataset)
    if target.is_file():
        raise OutputError(f"{target} is a file. Choose a folder for the results.")
    tasks = [
        Task(measure_bench, clip, method, _settings(options, clip.reader))
        for part in found
        for clip in part.clips
        for method in rows
    ]
    if on_start is not None:
        on_start(len(tasks))
    outcome = run_tasks(
        tasks,
        ResultStore(target),
        workers or InProcess(),
        retry_failed=retry_failed,
        on_done=on_done,
    )
    result = Bench(
        folder=root, found=tuple(found), methods=rows, options=options, tasks=tuple(tasks),
        outcome=outcome, notes=notes,
    )  # fmt: skip
    shown = f"evcrisp.bench({str(root)!r}, {str(target)!r}, ...)" if command is None else command
    return _written(result, target, Provenance.now(shown))


def _settings(options: BenchOptions, reader: Any) -> dict[str, Any]:
    """Return the settings of a task; a reader from outside evcrisp is part of them."""
    code = "" if reader is None else code_digest(reader)
    if code is None:  # its source is not available: results are computed again
        code = f"unknown at {time.time_ns()}"
    return {**options.settings(), **({"reader": code} if code else {})}


def _written(result: Bench, out: Path, made: Provenance) -> Bench:
    files = [out / "bench.csv", *(out / f"bench{suffix}" for suffix in FORMATS if suffix != ".csv")]
    texts = [_as_csv(result.rows())]
    texts += [FORMATS[path.suffix](result.tables()) for path in files[1:]]
    for path, text in zip(files, texts, strict=True):
        with replacing(path, overwrite=True) as temporary:
            temporary.write_text(text, encoding="utf-8")
    page = out / "bench.html"
    write_bench_page(page, result, made)
    return replace(result, files=(page, *files))


def _as_csv(rows: Sequence[dict[str, Any]]) -> str:
    """Return one line per recording and method, with all digits."""
    lines = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(lines, names, lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows(rows)
    return lines.getvalue()
