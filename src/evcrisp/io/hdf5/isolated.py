"""Read HDF5 files in another process, because damaged ones can crash or stop HDF5 and its filters.

One process serves one open recording. After a recording without errors it serves the next one.
"""

import atexit
import logging
import os
import select
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, cast

from evcrisp.core.errors import FormatError
from evcrisp.core.sensor_data import Frame, Imu, Triggers
from evcrisp.io.hdf5.messages import map_shared_memory, new_shared_memory, receive, send
from evcrisp.io.protocol import Packet, Source, Stream

logger = logging.getLogger(__name__)

#: Limit of the time of one request, s; the limit of processor time in `worker` is lower.
_WALL_SECONDS = 300.0
_CODE = (
    "import sys; sys.path[:] = {path!r}; from evcrisp.io.hdf5.worker import main; main({memory})"
)


class WorkerError(FormatError):
    """The reading process ended: a crash, an endless loop, or killed by the system."""


@dataclass(slots=True, eq=False)
class _Iteration:
    """Packets or frames that a worker reads; one reply may be here before it is needed."""

    number: int
    reply: tuple[str, Any] | None = None


class Worker:
    """A process that reads one file at a time."""

    def __init__(self) -> None:
        memory = new_shared_memory()
        path = [entry or str(Path.cwd()) for entry in sys.path]
        code = _CODE.format(path=path, memory=memory)
        self.process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            pass_fds=() if memory is None else (memory,),
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )
        self._requests = cast(BinaryIO, self.process.stdin)
        self._replies = cast(BinaryIO, self.process.stdout)
        self._shared = map_shared_memory(memory)
        if memory is not None:
            os.close(memory)
        self.is_clean = True  # whether no request has failed
        self._end: str | None = None  # why it ended
        self._ahead: _Iteration | None = None  # its next element is being read
        self._lock = threading.RLock()
        self._finalizer = weakref.finalize(self, _kill, self.process)

    def ask(self, *request: Any) -> Any:
        """Return the value of a request, or raise its exception."""
        with self._lock:
            self._collect()
            self._send(request)
            reply = self._receive()
        return self._value(reply)

    def next(self, iteration: _Iteration) -> Any:
        """Return the next element of an iteration, or None at its end."""
        with self._lock:
            if iteration.reply is None:
                self.start_next(iteration)
                self._collect()
            reply, iteration.reply = iteration.reply, None
        assert reply is not None
        return self._value(reply)

    def start_next(self, iteration: _Iteration) -> None:
        """Let the process read the next element while this one continues."""
        with self._lock:
            if self._ahead is not iteration:
                self._collect()
                self._send(("next", iteration.number))
                self._ahead = iteration

    def _collect(self) -> None:
        """Receive the element that is being read."""
        if self._ahead is not None:
            iteration, self._ahead = self._ahead, None
            iteration.reply = self._receive()

    def _send(self, request: tuple[Any, ...]) -> None:
        if self._end is None:
            with suppress(OSError):  # it has ended; the reply tells why
                send(self._requests, request)

    def _receive(self) -> tuple[str, Any]:
        if self._end is not None:
            return "error", WorkerError(self._end)
        try:
            if not _has_data(self._replies, _WALL_SECONDS):
                self.process.kill()
            return cast(tuple[str, Any], receive(self._replies, self._shared))
        except EOFError:
            self._end = _reason(self.process.wait())
            return "error", WorkerError(self._end)
        except BaseException:  # the rest of the reply is lost
            self.end("the reading was interrupted")
            raise

    def _value(self, reply: tuple[str, Any]) -> Any:
        kind, value = reply
        if kind == "error":
            self.is_clean = False
            raise value
        return value

    def end(self, reason: str = "the recording is closed") -> None:
        """End the process."""
        self._end = self._end or reason
        self._finalizer()

    def release(self) -> None:
        """Close the file; keep the process for the next one if nothing has failed."""
        with self._lock:
            if self._end is None and self.is_clean and not _idle:
                with suppress(FormatError):
                    self.ask("close")
            if self._end is None and self.is_clean and not _idle:
                _idle.append(self)
            else:
                self.end()


def _kill(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def _has_data(pipe: BinaryIO, seconds: float) -> bool:
    """Wait for data or the end of a pipe, for a limited time where the system can."""
    if not hasattr(select, "poll"):  # Windows
        return True
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    return bool(poll.poll(1000 * seconds))


def _reason(code: int) -> str:
    """Describe the end of a process by its exit code."""
    if code == -getattr(signal, "SIGPROF", 0):
        return "HDF5 or one of its filters does not come to an end; the file is damaged"
    how = f"exit code {code}"
    if code < 0:
        with suppress(ValueError):
            how = signal.Signals(-code).name
    return f"HDF5 or one of its filters crashed ({how}); the file is damaged"


#: A process without a file, for the next recording.
_idle: list[Worker] = []


def _forget_idle() -> None:
    """Leave the idle process to the parent after a fork."""
    for worker in _idle:
        worker._finalizer.detach()
    _idle.clear()


atexit.register(lambda: [worker.end() for worker in _idle])
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_idle)


def take_worker() -> Worker:
    """Return the idle process, or start one."""
    with suppress(IndexError):
        worker = _idle.pop()
        if worker.process.poll() is None:
            return worker
        worker.end()
    return Worker()


def matching_layouts(path: Path) -> tuple[str, ...]:
    """Return the names of the layouts that a file has; none if it is damaged."""
    facts = path.stat()
    return _matching(path.absolute(), facts.st_mtime_ns, facts.st_size, facts.st_ino)


@lru_cache(maxsize=1)  # detection asks once per layout
def _matching(path: Path, *version: int) -> tuple[str, ...]:
    worker = take_worker()
    try:
        return tuple(worker.ask("matching", path))
    except FormatError:
        return ()
    finally:
        worker.release()


@dataclass(slots=True, kw_only=True)
class IsolatedSource(Source):
    """An open file in another process."""

    worker: Worker
    number: int  # of the source in the other process
    steps: tuple[tuple[Any, ...], ...]  # requests that opened it
    listing: list[Stream] = field(default_factory=list)

    def packets(self) -> Iterator[Packet]:
        """Yield the events in file order; after a crash, all before the damage."""
        n_events = 0
        try:
            for packet in self._elements("packets", self.number, None):
                n_events += packet.t.size
                yield packet
        except WorkerError:
            yield from self._packets_before_crash(n_events)
            raise

    def _packets_before_crash(self, n_before: int) -> Iterator[Packet]:
        """Yield more events in small packets, with a new process, until it crashes as well."""
        try:
            source = _opened(self.steps)
        except FormatError:
            return
        try:
            yield from source._elements("packets", source.number, n_before)
        except FormatError:
            return
        finally:
            source.close()

    def _elements(self, *request: Any) -> Iterator[Any]:
        """Yield what an iteration of the other process yields, one element ahead."""
        iteration = _Iteration(self.worker.ask(*request))
        try:
            element = self.worker.next(iteration)
            if element is not None:
                yield element  # the first one is often the only one
            while element is not None and (element := self.worker.next(iteration)) is not None:
                self.worker.start_next(iteration)
                yield element
        finally:
            with suppress(FormatError):
                self.worker.ask("stop", iteration.number)

    def imu(self) -> Imu | None:
        """Return all IMU samples."""
        return cast("Imu | None", self.worker.ask("imu", self.number))

    def triggers(self) -> Triggers | None:
        """Return all triggers."""
        return cast("Triggers | None", self.worker.ask("triggers", self.number))

    def frames(self) -> Iterator[Frame]:
        """Yield the frames one by one."""
        return self._elements("frames", self.number)

    def between(self, t_start: int, t_end: int | None) -> "IsolatedSource":
        """Return a source that skips events outside a span of time."""
        return self._derived("between", t_start, t_end)

    def choose(self, stream: str) -> "IsolatedSource":
        """Return the source of another camera."""
        return self._derived("choose", stream)

    def _derived(self, name: str, *arguments: Any) -> "IsolatedSource":
        return _next_source(self.worker, self.steps, (name, self.number, *arguments))

    def streams(self) -> list[Stream]:
        """Return the cameras."""
        return self.listing

    def close(self) -> None:
        """Close the file."""
        self.worker.release()


def open_isolated(layout: type, path: Path, packet_rows: int) -> IsolatedSource:
    """Open a file in another process with the reader of a layout."""
    source = _opened((("open", layout, path.absolute(), packet_rows),))
    if names := source.metadata.get("unsafe_filters"):
        logger.warning(
            "%s: compressed with %s, whose decoder does not notice damage: a damaged file gives other "
            "events at each read. Read it twice and compare, or save it with gzip or Blosc.",
            *(path, " and ".join(cast("list[str]", names))),
        )
    return source


def _opened(steps: tuple[tuple[Any, ...], ...]) -> IsolatedSource:
    worker = take_worker()
    try:
        source = _next_source(worker, (), steps[0])
        for step in steps[1:]:
            source = _next_source(worker, source.steps, step)
    except BaseException:
        worker.end()
        raise
    return source


def _next_source(
    worker: Worker, steps: tuple[tuple[Any, ...], ...], step: tuple[Any, ...]
) -> IsolatedSource:
    number, facts, listing, clock_offset = worker.ask(*step)
    return IsolatedSource(
        *facts,
        sensor_clock_offset=clock_offset,
        worker=worker,
        number=number,
        steps=(*steps, step),
        listing=listing,
    )
