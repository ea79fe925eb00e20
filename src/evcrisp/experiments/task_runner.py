"""Tasks: one recording with one method. Run those without a stored result, and store each result."""

import hashlib
import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import evcrisp
from evcrisp.core.messages import counted
from evcrisp.experiments.code_digest import source_digest
from evcrisp.experiments.datasets import Clip
from evcrisp.experiments.methods import ZERO, Method
from evcrisp.experiments.store import ResultStore
from evcrisp.pipeline.many.executors import InProcess, Workers
from evcrisp.pipeline.many.task_loop import TaskLoop, WorkerDiedError

logger = logging.getLogger(__name__)

#: Increase this number when a protocol changes, so that older results are not reused.
RESULTS_VERSION = 1


class Measure(Protocol):
    """A measurement of a recording and a method; returns JSON types."""

    __name__: str

    def __call__(self, clip: Clip, method: Method, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Measure."""
        ...


@dataclass(frozen=True, slots=True)
class Task:
    """A measurement of one recording with one method."""

    protocol: Measure  # function of a module, so that other processes can import it
    clip: Clip
    method: Method
    settings: Mapping[str, Any]  # all further settings that affect the result, as JSON types

    @property
    def name(self) -> str:
        """Name for logs."""
        return f"{self.clip.name} with {self.method.key}"

    def code(self) -> str:
        """Return a digest of the code of evcrisp and of the method."""
        return f"{source_digest()}{self.method.code()}"

    def key(self, input_digest: str) -> str:
        """Return the key of the result: a hash of input, settings, version and code."""
        facts = {
            "input": input_digest,
            "protocol": self.protocol.__name__,
            "method": self.method.config(),
            "settings": dict(self.settings),
            "version": evcrisp.__version__,
            "results": RESULTS_VERSION,
            "code": self.code(),
        }
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:32]


def run_task(task: Task) -> dict[str, Any]:
    """Measure, and return the numbers with the elapsed time and the digest of the code."""
    start = time.perf_counter()
    numbers = task.protocol(task.clip, task.method, task.settings)
    elapsed_s = round(time.perf_counter() - start, 4)
    return {"numbers": numbers, "elapsed_s": elapsed_s, "source": task.code()}


@dataclass(slots=True)
class Outcome:
    """Results of tasks, in the order of the tasks."""

    results: list[dict[str, Any] | None]  # None if a task failed
    n_new: int = 0  # number of tasks of this run; the other results were stored
    failures: list[str] = field(default_factory=list)  # task and reason

    def numbers(self) -> list[dict[str, Any] | None]:
        """Return the numbers of every task."""
        return [None if result is None else result["numbers"] for result in self.results]

    def elapsed_s(self) -> float:
        """Return the total time of all tasks, those of earlier runs included."""
        return sum(result["elapsed_s"] for result in self.results if result is not None)


def run_tasks(
    tasks: Sequence[Task],
    store: ResultStore,
    workers: Workers,
    *,
    retry_failed: bool = False,
    on_done: Callable[[Task], None] | None = None,
) -> Outcome:
    """Run tasks without a stored result; an interrupted run keeps its results.

    Tasks that failed in an earlier run are run again with ``retry_failed``. ``on_done`` is called
    with every task that has a result, from this run or an earlier one.
    """
    reusable = _check_methods(tasks, workers)
    keys = [task.key(store.digest(task.clip.files)) for task in tasks]
    store.save_digests()
    todo: dict[str, Task] = {}
    for key, task in zip(keys, tasks, strict=True):
        if not reusable[task.method.key]:
            store.discard(key)
        is_known = store.get(key) is not None or (store.failure(key) and not retry_failed)
        if is_known and on_done is not None:
            on_done(task)
        if not is_known:
            todo[key] = task
    storing = _Storing(store, on_done or (lambda task: None))
    TaskLoop(workers, _submit, storing.put, storing.fail).work(todo)
    outcome = Outcome([store.get(key) for key in keys], n_new=len(todo))
    _warn_of_other_code(tasks, outcome)
    for key, task, result in zip(keys, tasks, outcome.results, strict=True):
        if result is None:
            outcome.failures.append(f"{task.name}: {store.failure(key)}")
    return outcome


def _check_methods(tasks: Sequence[Task], workers: Workers) -> dict[str, bool]:
    """Return whether results of each method can be reused; raise if workers cannot import one."""
    methods: dict[str, Method] = {task.method.key: task.method for task in tasks}
    reusable = {}
    for key, method in methods.items():
        if not isinstance(workers, InProcess):
            method.check_importable()
        reusable[key] = method.code() is not None
        if not reusable[key]:
            logger.warning(
                "The source of the method %r is not available, or was edited while this process "
                "runs, and it declares no `version`: its results are computed again.",
                key,
            )
    return reusable


def _warn_of_other_code(tasks: Sequence[Task], outcome: Outcome) -> None:
    """Log a warning if workers have other code than this process."""
    codes: dict[str, str] = {}
    n_other = 0
    for task, result in zip(tasks, outcome.results, strict=True):
        code = codes.setdefault(task.method.key, task.code())
        n_other += result is not None and result.get("source") != code
    if n_other:
        logger.warning(
            "%d of %s were computed by workers with other code than this process. Update the "
            "workers, and choose a new output folder to compute them again.",
            n_other,
            counted(len(tasks), "result"),
        )


@dataclass(frozen=True, slots=True)
class _Storing:
    """Stores results and failures of tasks."""

    store: ResultStore
    on_done: Callable[[Task], None]

    def put(self, key: str, task: Task, result: dict[str, Any]) -> None:
        self.store.put(key, result)
        self.on_done(task)

    def fail(self, key: str, task: Task, error: Exception) -> None:
        reason = str(error)
        if not isinstance(error, WorkerDiedError):
            reason = f"{type(error).__name__}: {reason}"
        logger.warning("%s failed: %s", task.name, reason)
        self.store.fail(key, task.name, reason)
        self.on_done(task)


def _submit(workers: Workers, task: Task) -> Future[Any]:
    return workers.executor(task.method.resource).submit(run_task, task)


def measure_pause(clip: Clip, method: Method, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Pause for ``pause_s`` seconds in place of work."""
    time.sleep(settings["pause_s"])
    return {"number": settings["number"]}


def overhead(workers: Workers, n_workers: int, *, pause_s: float = 1.0, rounds: int = 4) -> float:
    """Return the relative overhead of running tasks and storing their results.

    Each of ``n_workers`` workers, which are started before, runs ``rounds`` tasks of ``pause_s``.
    """
    with TemporaryDirectory() as folder:
        store = ResultStore(Path(folder))
        run_tasks(_pauses(Path(folder), 2 * n_workers, 0.2, 0), store, workers)
        start = time.perf_counter()
        outcome = run_tasks(_pauses(Path(folder), rounds * n_workers, pause_s, 1), store, workers)
        elapsed = time.perf_counter() - start
    if outcome.failures:
        raise RuntimeError(outcome.failures[0])
    return elapsed / (rounds * pause_s) - 1.0


def _pauses(folder: Path, n: int, pause_s: float, batch: int) -> list[Task]:
    clip = Clip(name="pause", path=folder, group=(), files=())
    settings = {"pause_s": pause_s, "batch": batch}
    return [Task(measure_pause, clip, ZERO, {**settings, "number": k}) for k in range(n)]
