"""Run the jobs of a batch on workers; long recordings in pieces, if there are workers for them."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from evcrisp.pipeline.many.executors import InProcess, Workers
from evcrisp.pipeline.many.finished import Finished
from evcrisp.pipeline.many.task_loop import TaskLoop, WorkerDiedError
from evcrisp.pipeline.many.worker_task import Done, Job, repeat_messages, run_job


class Split(Protocol):
    """A recording in pieces; see `SplitRun`."""

    @property
    def pieces(self) -> Sequence[Any] | None:
        """The pieces; None if they are not known yet."""
        ...

    @property
    def is_complete(self) -> bool:
        """Whether all pieces are joined."""
        ...

    def start(self, *, overwrite: bool) -> dict[int, Job]:
        """Open the results; return the first jobs by their number."""
        ...

    def done(self, number: int) -> dict[int, Job]:
        """Take the result of a job; return the jobs that it makes possible."""
        ...

    def share_done(self) -> float:
        """Return the share of the pieces that are finished, 0 to 1."""
        ...

    def finish(self) -> dict[str, Any]:
        """Complete the results, and return the facts of the recording."""
        ...

    def abandon(self, error: BaseException) -> None:
        """Remove unfinished results; those of pieces stay."""
        ...

    def remove(self) -> None:
        """Remove the results of pieces."""
        ...


#: Takes a job, and its input and settings; returns None if it is not split.
SplitFunction = Callable[[Job, dict[str, Any]], Split | None]


@dataclass(frozen=True, slots=True)
class _Unit:
    """What runs at a time: a recording, or a piece of one."""

    job: Job
    number: int | None = None  # of the piece
    is_whole: bool = False  # whether the recording must not be split


@dataclass(slots=True)
class BatchWork:
    """Recordings in progress."""

    workers: Workers
    finished: Finished
    on_facts: Callable[[Job, dict[str, Any]], None]
    on_error: Callable[[Job, Exception], None]
    on_piece: Callable[[str, float], None]
    split: SplitFunction | None
    _loop: TaskLoop[_Unit] = field(init=False)
    _splits: dict[str, Split] = field(default_factory=dict)
    _jobs: dict[str, Job] = field(default_factory=dict)  # of whole recordings
    _abandoned: dict[str, Split] = field(default_factory=dict)

    def do(self, todo: Mapping[str, Job]) -> None:
        """Run all jobs."""
        self._loop = TaskLoop(self.workers, self._submit, self._add, self._fail)
        try:
            self._loop.work({name: _Unit(job) for name, job in todo.items()})
        except BaseException as error:
            for split in self._splits.values():
                split.abandon(error)
            raise

    def _submit(self, workers: Workers, unit: _Unit) -> Future[Any]:
        if unit.number is not None:
            return workers.executor().submit(run_job, unit.job)
        job = replace(unit.job, overwrite=self.finished.start(unit.job))
        if self.split is not None and not unit.is_whole and self._start_split(self.split, job):
            started: Future[Any] = Future()
            started.set_result(None)
            return started
        return workers.executor().submit(run_job, job)

    def _start_split(self, split: SplitFunction, job: Job) -> bool:
        """Begin a recording in pieces; return False if it is not split."""
        pieces = split(job, self.finished.state(job))
        if pieces is None:
            return False
        try:
            jobs = pieces.start(overwrite=job.overwrite)
        except Exception as error:  # the job in one piece reports it
            pieces.abandon(error)
            return False
        self._splits[job.name], self._jobs[job.name] = pieces, job
        self._loop.add(_units(job.name, jobs))
        return True

    def _add(self, key: str, unit: _Unit, done: Done | None) -> None:
        job = self._jobs.get(unit.job.name, unit.job)
        split = self._splits.get(job.name)
        if unit.number is None and done is not None:
            if not isinstance(self.workers, InProcess):
                repeat_messages(job, done)
            self._forget_pieces(job)
            self.on_facts(job, done.facts)
        elif split is not None:
            try:
                jobs = {} if unit.number is None else split.done(unit.number)
                self._loop.add(_units(job.name, jobs))
                self.on_piece(job.name, split.share_done())
                if split.is_complete:
                    facts = split.finish()
                    del self._splits[job.name]
                    self.on_facts(job, facts)
            except Exception as error:
                self._do_whole(unit, error)

    def _fail(self, key: str, unit: _Unit, error: Exception) -> None:
        if unit.number is None:
            self._forget_pieces(unit.job)
            self.on_error(unit.job, error)
        elif unit.job.name not in self._splits:
            return  # of a recording that is processed as a whole
        elif isinstance(error, WorkerDiedError):
            self._abandon(unit, error)
            self.on_error(self._jobs[unit.job.name], error)
        else:
            self._do_whole(unit, error)

    def _do_whole(self, unit: _Unit, error: Exception) -> None:
        """Process a recording as a whole: it has damage that its pieces cannot report."""
        self._abandoned[unit.job.name] = self._abandon(unit, error)
        job = self._jobs[unit.job.name]
        self._loop.add({job.name: _Unit(job, is_whole=True)})

    def _forget_pieces(self, job: Job) -> None:
        if (old := self._abandoned.pop(job.name, None)) is not None:
            old.remove()

    def _abandon(self, unit: _Unit, error: Exception) -> Split:
        split = self._splits.pop(unit.job.name)
        split.abandon(error)
        self._loop.drop(_Keys(unit.job.name))
        return split


class _Keys:
    """Keys of all pieces of a recording."""

    def __init__(self, name: str) -> None:
        self._start = f"{name}\0"

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and key.startswith(self._start)


def _units(name: str, jobs: Mapping[int, Job]) -> dict[str, _Unit]:
    return {f"{name}\0{number}": _Unit(job, number) for number, job in jobs.items()}
