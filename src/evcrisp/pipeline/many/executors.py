"""Executors of tasks: this process, processes of this machine, or a cluster."""

import atexit
import multiprocessing
import multiprocessing.util
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, Protocol

from evcrisp.core.errors import ConfigError
from evcrisp.core.registry import require
from evcrisp.core.validation import check_number


class Workers(Protocol):
    """Workers that run tasks."""

    #: Number of tasks that are submitted at a time, and of those that run.
    in_flight: int
    n_workers: int

    def executor(self, resource: str | None = None) -> Executor:
        """Return the executor for tasks that need a resource, such as "GPU"."""
        ...

    def restart(self) -> None:
        """Replace a broken executor, if one can break."""
        return


class InProcess(Executor, Workers):
    """Runs each task in this process when it is submitted."""

    in_flight = n_workers = 1

    def executor(self, resource: str | None = None) -> Executor:
        """Return itself."""
        return self

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run the function and return its finished future."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class Processes(Workers):
    """Processes of this machine, started by spawn."""

    def __init__(self, n_workers: int) -> None:
        self.in_flight = 2 * n_workers
        self.n_workers = n_workers
        self._executor = self._started()

    def executor(self, resource: str | None = None) -> Executor:
        """Return the executor; the resource is ignored."""
        return self._executor

    def restart(self) -> None:
        """Start new processes."""
        self._executor.shutdown(wait=False, cancel_futures=True)
        self._executor = self._started()

    def close(self) -> None:
        """Cancel tasks that have not started, and wait for the others."""
        self._executor.shutdown(wait=True, cancel_futures=True)

    def kill(self) -> None:
        """Terminate the processes and their tasks."""
        for process in list(self._executor._processes.values()):
            process.terminate()
        self.close()

    def _started(self) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self.n_workers, mp_context=context, initializer=_begin)


def _begin() -> None:
    """Ignore Ctrl+C, which the parent handles; exit when the parent ends, and at the end without delay."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Freeing modules and kernels takes a fifth of a second. Finalizers of the lowest priority run last.
    multiprocessing.util.Finalize(None, _leave, exitpriority=-1_000_000)
    parent = multiprocessing.parent_process()
    if parent is not None:

        def watch() -> None:
            parent.join()
            os._exit(1)

        threading.Thread(target=watch, daemon=True).start()


def _leave() -> None:
    """End the process without freeing its modules; tasks have written their files."""
    atexit._run_exitfuncs()  # such as those that end processes of this one
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError, ValueError):
                stream.flush()
    os._exit(0)


class Cluster(Workers):
    """Workers of a dask.distributed scheduler, with evcrisp and the data under the same path.

    The scheduler gives the tasks of a lost worker to another one.
    """

    in_flight = 1000

    def __init__(self, client: Any) -> None:
        self._client = client
        self.n_workers = sum(client.nthreads().values())
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

    def _check(self, resource: str) -> None:
        workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        if not any(worker["resources"].get(resource, 0) >= 1 for worker in workers):
            raise ConfigError(
                f"No worker of the cluster has the resource {resource!r}. Start one with: "
                f'dask worker SCHEDULER --resources "{resource}=1"'
            )


@contextmanager
def open_workers(
    n_workers: int | None = None, scheduler: str | None = None
) -> Generator[Workers, None, None]:
    """Open workers for tasks.

    Parameters
    ----------
    n_workers : int, optional
        Number of processes of this machine; 0 = this process. Default: one per processor. With a
        scheduler: number of workers to wait for.
    scheduler : str, optional
        Address of a dask.distributed scheduler, such as ``tcp://host:8786``.
    """
    if n_workers is not None:
        check_number("n_workers", n_workers, 0, whole=True)
    if scheduler is not None:
        with _client(scheduler) as client:
            client.wait_for_workers(n_workers or 1, timeout=60)
            yield Cluster(client)
    elif n_workers == 0:
        yield InProcess()
    else:
        processes = Processes(n_workers or os.cpu_count() or 1)
        try:
            yield processes
        except BaseException:  # Ctrl+C does not wait for tasks that can take an hour
            processes.kill()
            raise
        processes.close()


def _client(address: str) -> Any:
    # A client with a malformed address blocks for a minute when it is closed.
    if not re.fullmatch(r"inproc://.+|([a-z]+://)?[^\s/]+:\d+", address):
        raise ConfigError(
            "must be an address such as tcp://host:8786", parameter="scheduler", value=address
        )
    distributed = require("distributed", extra="cluster", purpose="Runs on a cluster")
    try:
        return distributed.Client(address, timeout=20, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConfigError(f"There is no scheduler at {address!r}: {error}") from error
