"""Run tasks on workers; a task whose process died is run again, the last time alone."""

from collections import deque
from collections.abc import Callable, Container, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from evcrisp.core.errors import OutputError
from evcrisp.pipeline.many.executors import Workers

T = TypeVar("T")

#: A task that was running at this many deaths of a process is regarded as their cause.
MAX_ATTEMPTS = 3


class WorkerDiedError(Exception):
    """The process of a task died each time."""


@dataclass(slots=True)
class TaskLoop(Generic[T]):
    """Tasks in progress, by key."""

    workers: Workers
    submit: Callable[[Workers, T], Future[Any]]
    on_result: Callable[[str, T, Any], None]
    on_failure: Callable[[str, T, Exception], None]
    _attempts: dict[str, int] = field(default_factory=dict)
    _waiting: "deque[tuple[str, T]]" = field(default_factory=deque)

    def add(self, tasks: Mapping[str, T]) -> None:
        """Run more tasks before those that wait; ``on_result`` and ``on_failure`` may call it."""
        self._waiting.extendleft(reversed(list(tasks.items())))

    def drop(self, keys: Container[str]) -> None:
        """Forget tasks that wait."""
        self._waiting = deque(item for item in self._waiting if item[0] not in keys)

    def work(self, todo: Mapping[str, T]) -> None:
        """Run all tasks; call ``on_result`` or ``on_failure`` with each."""
        self._waiting.extend(todo.items())
        running: dict[Future[Any], tuple[str, T]] = {}
        try:
            while self._waiting or running:
                while self._waiting and len(running) < self._limit():
                    key, task = self._waiting.popleft()
                    running[self._submitted(task)] = (key, task)
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                if broken := [running.pop(f) for f in done if not self._finished(f, running)]:
                    broken += running.values()
                    running.clear()
                    self.workers.restart()
                    self._retry(broken)
        except BaseException:
            for future in running:
                future.cancel()
            raise

    def _submitted(self, task: T) -> Future[Any]:
        try:
            return self.submit(self.workers, task)
        except BrokenExecutor as error:  # a process died between two tasks
            future: Future[Any] = Future()
            future.set_exception(error)
            return future

    def _limit(self) -> int:
        """Return how many tasks may run; a suspected task runs alone."""
        is_suspect = self._attempts.get(self._waiting[0][0], 0) >= MAX_ATTEMPTS - 1
        return 1 if is_suspect else self.workers.in_flight

    def _finished(self, future: Future[Any], running: dict[Future[Any], tuple[str, T]]) -> bool:
        """Hand on a result or a failure; return False if the process died."""
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
            self.on_failure(key, task, error)
        else:
            self.on_result(key, task, result)
        del running[future]
        return True

    def _retry(self, broken: list[tuple[str, T]]) -> None:
        for key, task in broken:
            self._attempts[key] = self._attempts.get(key, 0) + 1
            if self._attempts[key] >= MAX_ATTEMPTS:
                self.on_failure(
                    key, task, WorkerDiedError("the process that ran it died each time")
                )
            else:
                self._waiting.append((key, task))
