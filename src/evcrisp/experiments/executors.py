"""Where tasks run: here, in processes of this machine, or on a cluster. All are executors."""

import multiprocessing
import os
import re
import signal
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any, Protocol

from evcrisp.core.errors import ConfigError
from evcrisp.core.registry import require


class Pool(Protocol):
    """A place to run tasks."""

    #: Tasks that are submitted at a time; the rest waits here.
    in_flight: int

    def executor(self, resource: str | None = None) -> Executor:
        """Return the executor for tasks that need a resource, such as "GPU", or none."""
        ...

    def restart(self) -> None:
        """Make a new executor after the old one broke."""
        ...


class Here(Executor):
    """Runs every task at once, in this process."""

    in_flight = 1

    def executor(self, resource: str | None = None) -> Executor:
        """Return itself."""
        return self

    def restart(self) -> None:
        """Nothing breaks here without ending the program."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run, then return."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class Processes:
    """Processes of this machine, started afresh (spawn)."""

    def __init__(self, n_workers: int) -> None:
        self.in_flight = 2 * n_workers
        self._n_workers = n_workers
        self._executor = self._started()

    def executor(self, resource: str | None = None) -> Executor:
        """Return the executor; the machine has what it has."""
        return self._executor

    def restart(self) -> None:
        """Start new processes."""
        self._executor.shutdown(wait=False, cancel_futures=True)
        self._executor = self._started()

    def close(self) -> None:
        """End the processes; tasks that did not start are given up."""
        self._executor.shutdown(wait=True, cancel_futures=True)

    def kill(self) -> None:
        """End the processes at once; what they were doing is lost."""
        for process in list(self._executor._processes.values()):
            process.terminate()
        self.close()

    def _started(self) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(
            self._n_workers, mp_context=context, initializer=_depend_on_the_parent
        )


def _depend_on_the_parent() -> None:
    """Leave Ctrl+C to the program that started this worker, and end when that is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:

        def watch() -> None:
            parent.join()
            os._exit(1)

        threading.Thread(target=watch, daemon=True).start()


class Cluster:
    """Workers of a dask.distributed scheduler. They need evcrisp, and the data under the same path."""

    in_flight = 1000

    def __init__(self, client: Any) -> None:
        self._client = client
        self._executors: dict[str | None, Executor] = {}

    def executor(self, resource: str | None = None) -> Executor:
        """Return the executor for workers that have a resource."""
        if resource not in self._executors:
            options: dict[str, Any] = {"pure": False}
            if resource is not None:
                self._check(resource)
                options["resources"] = {resource: 1}
            self._executors[resource] = self._client.get_executor(**options)
        return self._executors[resource]

    def restart(self) -> None:
        """Leave it to the scheduler, which gives the tasks of a lost worker to another one."""

    def _check(self, resource: str) -> None:
        workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        if not any(worker["resources"].get(resource, 0) >= 1 for worker in workers):
            raise ConfigError(
                f"No worker of the cluster has the resource {resource!r}. Start one with: "
                f'dask worker SCHEDULER --resources "{resource}=1"'
            )


@contextmanager
def open_pool(
    n_workers: int | None = None, scheduler: str | None = None
) -> Generator[Pool, None, None]:
    """Open a place to run tasks.

    Parameters
    ----------
    n_workers : int, optional
        Processes of this machine; 0 = this very process. Default: one per processor. With a
        scheduler: how many workers to wait for.
    scheduler : str, optional
        Address of a dask.distributed scheduler, such as ``tcp://host:8786``.
    """
    if n_workers is not None and n_workers < 0:
        raise ConfigError(f"The number of workers must be 0 or more; got {n_workers}.")
    if scheduler is not None:
        with _client(scheduler) as client:
            client.wait_for_workers(n_workers or 1, timeout=60)
            yield Cluster(client)
    elif n_workers == 0:
        yield Here()
    else:
        processes = Processes(n_workers or os.cpu_count() or 1)
        try:
            yield processes
        except BaseException:  # Ctrl+C does not wait for tasks that may take an hour
            processes.kill()
            raise
        processes.close()


def _client(address: str) -> Any:
    # A client that cannot read its address hangs for a minute when it is thrown away.
    if not re.fullmatch(r"inproc://.+|([a-z]+://)?[^\s/]+:\d+", address):
        raise ConfigError(f"A scheduler's address is like tcp://host:8786; got {address!r}.")
    distributed = require("distributed", extra="cluster", purpose="Runs on a cluster")
    try:
        return distributed.Client(address, timeout=20, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConfigError(f"There is no scheduler at {address!r}: {error}") from error
