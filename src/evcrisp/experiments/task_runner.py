"""Tasks: one recording with one method. Run those without a stored result, and store each result."""

import hashlib
import json
import logging
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import evcrisp
from evcrisp.core.errors import OutputError
from evcrisp.core.messages import counted
from evcrisp.experiments.code_digest import source_digest
from evcrisp.experiments.datasets import Clip
from evcrisp.experiments.executors import InProcess, Workers
from evcrisp.experiments.methods import ZERO, Method
from evcrisp.experiments.store import ResultStore

logger = logging.getLogger(__name__)

#: Increase this number when a protocol changes, so that older results are not reused.
RESULTS_VERSION = 1

#: A task that was running at this many deaths of a process is regarded as their cause.
MAX_ATTEMPTS = 3


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
    _Run(store, workers, on_done or (lambda task: None)).work(todo)
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


@dataclass(slots=True)
class _Run:
    """Tasks in progress. A task whose process died is run again, the last time alone."""

    _store: ResultStore
    _workers: Workers
    _on_done: Callable[[Task], None]
    _attempts: dict[str, int] = field(default_factory=dict)

    def work(self, todo: dict[str, Task]) -> None:
        waiting = deque(todo.items())
        running: dict[Future[Any], tuple[str, Task]] = {}
        try:
            while waiting or running:
                while waiting and len(running) < self._limit(waiting):
                    key, task = waiting.popleft()
                    running[self._submit(task)] = (key, task)
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                if broken := [running.pop(f) for f in done if not self._stored(f, running)]:
                    broken += running.values()
                    running.clear()
                    self._workers.restart()
                    self._retry(broken, waiting)
        except BaseException:
            for future in running:
                future.cancel()
            raise

    def _submit(self, task: Task) -> Future[Any]:
        executor = self._workers.executor(task.method.resource)
        try:
            return executor.submit(run_task, task)
        except BrokenExecutor as error:  # a process died between two tasks
            future: Future[Any] = Future()
            future.set_exception(error)
            return future

    def _limit(self, waiting: "deque[tuple[str, Task]]") -> int:
        """Return how many tasks may run; a suspected task runs alone."""
        is_suspect = self._attempts.get(waiting[0][0], 0) >= MAX_ATTEMPTS - 1
        return 1 if is_suspect else self._workers.in_flight

    def _stored(self, future: Future[Any], running: dict[Future[Any], tuple[str, Task]]) -> bool:
        """Store a result or a failure; return False if the process died."""
        key, task = running[future]
        try:
            result = future.result()
        except BrokenExecutor:
            return False
        except CancelledError as error:
            raise OutputError(
                "The scheduler of the cluster has stopped. Results so far are kept; run the same "
                "command again to continue."
            ) from error
        except Exception as error:
            self._fail(key, task, f"{type(error).__name__}: {error}")
        else:
            self._store.put(key, result)
            self._on_done(task)
        del running[future]
        return True

    def _fail(self, key: str, task: Task, reason: str) -> None:
        logger.warning("%s failed: %s", task.name, reason)
        self._store.fail(key, task.name, reason)
        self._on_done(task)

    def _retry(self, broken: list[tuple[str, Task]], waiting: "deque[tuple[str, Task]]") -> None:
        for key, task in broken:
            self._attempts[key] = self._attempts.get(key, 0) + 1
            if self._attempts[key] >= MAX_ATTEMPTS:
                self._fail(key, task, "the process that ran it died each time")
            else:
                waiting.append((key, task))


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
