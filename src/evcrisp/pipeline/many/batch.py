"""Process many recordings side by side; failures of some do not stop the others."""

import json
import logging
import os
import pickle
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import evcrisp
from evcrisp.core.errors import ConfigError, EvError
from evcrisp.core.validation import check_number
from evcrisp.io.atomic_output import naming, replacing
from evcrisp.pipeline.many.batch_work import BatchWork, SplitFunction
from evcrisp.pipeline.many.executors import open_workers
from evcrisp.pipeline.many.finished import Finished
from evcrisp.pipeline.many.inputs import find_inputs
from evcrisp.pipeline.many.names import result_names
from evcrisp.pipeline.many.worker_task import Job, RecordingTask

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchResult:
    """Results of many recordings: folder, outputs and errors by name, and the summary.

    ``summary`` is that of ``summary.json``. ``reused`` are the names whose earlier results were kept.
    """

    folder: Path
    outputs: dict[str, Path]
    failures: dict[str, Exception]
    reused: tuple[str, ...]
    elapsed_s: float
    summary: dict[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Where many recordings are processed, and how.

    Parameters
    ----------
    jobs : int, optional
        Recordings at a time, each in a process; 0 = this process. Default: one per processor. With a
        scheduler: number of workers to wait for.
    scheduler : str, optional
        Address of a dask.distributed scheduler, whose workers see the same files under the same paths.
    overwrite : bool
        Replace existing results. By default complete results of the same settings are kept, and
        others are a failure of their recording.
    format : str, optional
        Format of the inputs, for their names.
    on_start, on_done : callable, optional
        Called with the number of recordings, and with the name of each that is finished.
    on_piece : callable, optional
        Called with the name of a recording and the share of its pieces that are finished, 0 to 1.
    """

    jobs: int | None = None
    scheduler: str | None = None
    overwrite: bool = False
    format: str | None = None
    on_start: Callable[[int], None] = lambda n: None
    on_done: Callable[[str], None] = lambda name: None
    on_piece: Callable[[str, float], None] = lambda name, share: None

    def __post_init__(self) -> None:
        if self.jobs is not None:
            check_number("jobs", self.jobs, 0, whole=True)

    def process(
        self,
        paths: Iterable[str | PathLike[str]],
        folder: str | PathLike[str],
        task: RecordingTask,
        totals: Callable[[list[dict[str, Any]]], Mapping[str, Any]],
        split: SplitFunction | None = None,
    ) -> BatchResult:
        """Run a task on every recording; write ``summary.json`` with ``totals`` of their facts.

        ``split`` returns a long recording as jobs for its pieces, or None.
        """
        start = time.perf_counter()
        folder = Path(folder).absolute()
        sources = find_inputs(paths, folder)
        jobs = self._jobs(sources, folder, task)
        _check_folder(folder)
        if self.jobs != 0:
            _check_pickle(task)
        folder.mkdir(parents=True, exist_ok=True)
        progress = _Progress(self, Finished(folder, task.settings()))
        self.on_start(len(jobs))
        todo = progress.without_finished(jobs)
        if todo:  # an old summary does not describe the results that are replaced from here on
            (folder / "summary.json").unlink(missing_ok=True)
        self._work(todo, progress, split)
        summary = _summary(jobs, progress, task, totals)
        _write_summary(folder / "summary.json", summary)
        return BatchResult(
            folder=folder,
            outputs={job.name: job.target for job in jobs if job.name in progress.facts},
            failures={job.name: progress.errors[job.name] for job in jobs if job.name in progress.errors},
            reused=tuple(progress.reused),
            elapsed_s=round(time.perf_counter() - start, 3),
            summary=summary,
        )  # fmt: skip

    def _jobs(self, sources: list[Path], folder: Path, task: RecordingTask) -> list[Job]:
        names = result_names(sources, self.format)
        level = logging.getLogger("evcrisp").getEffectiveLevel()
        return [
            Job(task, name, source.absolute(), task.target(folder, name), self.overwrite, level)
            for name, source in zip(names, sources, strict=True)
        ]  # fmt: skip

    def _work(
        self, todo: dict[str, Job], progress: "_Progress", split: SplitFunction | None
    ) -> None:
        if not todo:
            return
        n = self.jobs
        if self.scheduler is None:
            n = n if n is not None else os.cpu_count() or 1
            n = n if split is not None else min(n, len(todo))
        with open_workers(n, self.scheduler) as workers:
            # With many more recordings than workers, whole ones balance the load as well.
            is_few = workers.n_workers > 1 and len(todo) < 4 * workers.n_workers
            work = BatchWork(
                workers, progress.finished, progress.add, progress.fail, self.on_piece, split if is_few else None,
            )  # fmt: skip
            work.do(todo)


@dataclass(slots=True)
class _Progress:
    """Facts and errors of recordings so far."""

    batch: Batch
    finished: Finished
    facts: dict[str, dict[str, Any]] = field(default_factory=dict)
    errors: dict[str, Exception] = field(default_factory=dict)
    reused: list[str] = field(default_factory=list)

    def without_finished(self, jobs: list[Job]) -> dict[str, Job]:
        """Return the jobs without complete results, by name."""
        todo = {}
        for job in jobs:
            facts = None if self.batch.overwrite else self.finished.facts(job)
            if facts is None:
                todo[job.name] = job
            else:
                self.facts[job.name] = facts
                self.reused.append(job.name)
                self.batch.on_done(job.name)
        return todo

    def add(self, job: Job, facts: dict[str, Any]) -> None:
        """Note the facts of a recording with complete results."""
        # Through JSON, so that facts of this run equal those of the journal.
        self.facts[job.name] = json.loads(json.dumps(facts))
        self.finished.finish(job, self.facts[job.name])
        self.batch.on_done(job.name)

    def fail(self, job: Job, error: Exception) -> None:
        """Note that a recording has no results; a folder without any is removed."""
        if job.target.is_dir() and not any(job.target.iterdir()):
            job.target.rmdir()
        self.errors[job.name] = error
        self.batch.on_done(job.name)


def reason_of(error: Exception) -> str:
    """Return the reason of a failure; errors that are not expected with their type."""
    is_expected = isinstance(error, (EvError, OSError))
    return str(error) if is_expected else f"{type(error).__name__}: {error}"


def _summary(
    jobs: list[Job],
    progress: _Progress,
    task: RecordingTask,
    totals: Callable[[list[dict[str, Any]]], Mapping[str, Any]],
) -> dict[str, Any]:
    """Return the summary; it has no times and no traces of interruptions."""
    good = [job for job in jobs if job.name in progress.facts]
    return {
        "evcrisp": evcrisp.__version__,
        "settings": task.settings(),
        "n_recordings": len(jobs),
        "n_failed": len(progress.errors),
        "totals": dict(totals([progress.facts[job.name] for job in good])),
        "recordings": [
            {"name": job.name, "path": str(job.source), **progress.facts[job.name]} for job in good
        ],
        "failures": [
            {"name": job.name, "path": str(job.source), "reason": reason_of(progress.errors[job.name])}
            for job in jobs
            if job.name in progress.errors
        ],
    }  # fmt: skip


def _write_summary(path: Path, summary: dict[str, Any]) -> None:
    with replacing(path, overwrite=True) as temporary, naming(temporary):
        temporary.write_text(json.dumps(summary, indent=2) + "\n")


def _check_folder(folder: Path) -> None:
    """Raise if the folder has a summary of something else, which would be replaced."""
    path = folder / "summary.json"
    if not path.exists():
        return
    try:
        is_ours = "recordings" in json.loads(path.read_text())
    except (OSError, ValueError, TypeError):
        is_ours = False
    if not is_ours:
        raise ConfigError(
            f"{folder} holds the results of one recording. Choose another folder for several."
        )


def _check_pickle(task: RecordingTask) -> None:
    try:
        pickle.loads(pickle.dumps(task))
    except Exception as error:
        raise ConfigError(
            f"The settings cannot be sent to other processes: {error}. Define own parts in a module, "
            "or use this process with `jobs=0`."
        ) from error
