"""Run tasks that have no result yet, and keep every result as soon as it is there."""

import logging
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from dataclasses import dataclass, field
from typing import Any

from evcrisp.core.errors import OutputError
from evcrisp.core.messages import counted
from evcrisp.experiments.executors import Pool
from evcrisp.experiments.store import ResultStore
from evcrisp.experiments.tasks import Task, run_task, source_digest

logger = logging.getLogger(__name__)

#: A task that was running this many times when a process died is taken for the cause.
MAX_ATTEMPTS = 3


@dataclass(slots=True)
class Outcome:
    """What came of the tasks, in their order."""

    results: list[dict[str, Any] | None]  # None where a task failed
    n_new: int = 0  # tasks that were run now; the others were there
    failures: list[str] = field(default_factory=list)  # task and reason

    def numbers(self) -> list[dict[str, Any] | None]:
        """Return the numbers of every task."""
        return [None if result is None else result["numbers"] for result in self.results]

    def elapsed_s(self) -> float:
        """Return the time that all tasks took together, in this run or earlier ones."""
        return sum(result["elapsed_s"] for result in self.results if result is not None)


def run_tasks(
    tasks: Sequence[Task],
    store: ResultStore,
    pool: Pool,
    *,
    retry_failed: bool = False,
    on_done: Callable[[Task], None] | None = None,
) -> Outcome:
    """Run what has no result yet; whatever ends the run, what was done stays done.

    Parameters
    ----------
    tasks : sequence of Task
        What to do.
    store : ResultStore
        Where results are looked up and kept.
    pool : Pool
        Where to run.
    retry_failed : bool
        Run tasks again that failed earlier; by default they stay failed.
    on_done : callable, optional
        Called with every task when its result is there, also from an earlier run.

    Returns
    -------
    Outcome
        In the order of the tasks, whatever the order in which they ended.
    """
    keys = [task.key(store.digest(task.clip.files)) for task in tasks]
    store.save_digests()
    todo: dict[str, Task] = {}
    for key, task in zip(keys, tasks, strict=True):
        is_known = store.get(key) is not None or (store.failure(key) and not retry_failed)
        if is_known and on_done is not None:
            on_done(task)
        if not is_known:
            todo[key] = task
    _Run(store, pool, on_done or (lambda task: None)).work(todo)
    outcome = Outcome([store.get(key) for key in keys], n_new=len(todo))
    _warn_of_other_code(outcome, len(keys))
    for key, task, result in zip(keys, tasks, outcome.results, strict=True):
        if result is None:
            outcome.failures.append(f"{task.name}: {store.failure(key)}")
    return outcome


def _warn_of_other_code(outcome: Outcome, n_tasks: int) -> None:
    """Say if results were made by another state of the program that has the same version."""
    here = source_digest()
    n_other = sum(1 for r in outcome.results if r is not None and r.get("source") != here)
    if n_other:
        logger.warning(
            "%d of %s came from another state of evcrisp with the same version, here or on the "
            "workers. Choose a new output folder to make them again.",
            n_other,
            counted(n_tasks, "result"),
        )


class _Run:
    """Tasks on their way. What dies with a process is tried again, at last alone."""

    def __init__(self, store: ResultStore, pool: Pool, on_done: Callable[[Task], None]) -> None:
        self._store = store
        self._pool = pool
        self._on_done = on_done
        self._attempts: dict[str, int] = {}

    def work(self, todo: dict[str, Task]) -> None:
        waiting = deque(todo.items())
        running: dict[Future[Any], tuple[str, Task]] = {}
        try:
            while waiting or running:
                while waiting and len(running) < self._limit(waiting):
                    key, task = waiting.popleft()
                    running[self._submit(task)] = (key, task)
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                broken = [running.pop(future) for future in done if not self._kept(future, running)]
                if broken:
                    broken += running.values()
                    running.clear()
                    self._pool.restart()
                    self._again(broken, waiting)
        except BaseException:
            for future in running:
                future.cancel()
            raise

    def _submit(self, task: Task) -> Future[Any]:
        executor = self._pool.executor(task.method.resource)
        try:
            return executor.submit(run_task, task)
        except BrokenExecutor as error:  # a process died between two tasks
            future: Future[Any] = Future()
            future.set_exception(error)
            return future

    def _limit(self, waiting: "deque[tuple[str, Task]]") -> int:
        """Return how many may run; a task under suspicion runs alone."""
        suspect = self._attempts.get(waiting[0][0], 0) >= MAX_ATTEMPTS - 1
        return 1 if suspect else self._pool.in_flight

    def _kept(self, future: Future[Any], running: dict[Future[Any], tuple[str, Task]]) -> bool:
        """Keep what came of a task; False if its process died."""
        key, task = running[future]
        try:
            result = future.result()
        except BrokenExecutor:
            return False
        except CancelledError as error:
            raise OutputError(
                "The scheduler of the cluster is gone. Results so far are kept; run the same "
                "command again to go on."
            ) from error
        except Exception as error:
            self._failed(key, task, f"{type(error).__name__}: {error}")
        else:
            self._store.put(key, result)
            self._on_done(task)
        del running[future]
        return True

    def _failed(self, key: str, task: Task, reason: str) -> None:
        logger.warning("%s failed: %s", task.name, reason)
        self._store.fail(key, task.name, reason)
        self._on_done(task)

    def _again(self, broken: list[tuple[str, Task]], waiting: "deque[tuple[str, Task]]") -> None:
        for key, task in broken:
            self._attempts[key] = self._attempts.get(key, 0) + 1
            if self._attempts[key] >= MAX_ATTEMPTS:
                self._failed(key, task, "the process that ran it died each time")
            else:
                waiting.append((key, task))
