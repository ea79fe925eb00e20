"""Start, ask and end the processes that read HDF5 files.

One process serves one open recording. After a recording without errors it serves the next one.
"""

import atexit
import os
import select
import signal
import subprocess
import sys
import threading
import weakref
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, cast

from evcrisp.core.errors import FormatError
from evcrisp.io.hdf5.messages import receive, send
from evcrisp.io.hdf5.slots import Slots

#: Limit of the time of one request, s; the limit of processor time in `worker` is lower.
_WALL_SECONDS = 300.0
#: Elements that are read before they are needed: one more than the process can write to at a time.
_N_AHEAD = 2
_CODE = (
    "import sys; sys.path[:] = {path!r}; from evcrisp.io.hdf5.worker import main; main({memory})"
)


class WorkerError(FormatError):
    """The reading process ended: a crash, an endless loop, or killed by the system."""


_Reply = tuple[str, Any]


@dataclass(slots=True, eq=False)
class Iteration:
    """Packets or frames that a worker reads; replies may be here before they are needed."""

    number: int
    replies: deque[_Reply] = field(default_factory=deque)


class Worker:
    """A process that reads one file at a time."""

    def __init__(self) -> None:
        self._slots = Slots()
        memory = self._slots.descriptor
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
        self._slots.close_descriptor()
        self.is_clean = True  # whether no request has failed
        self._end: str | None = None  # why it ended
        self._sent: deque[int] = deque()  # slots of the requests without a reply
        self._ahead: Iteration | None = None  # these requests are for its next elements
        self._lock = threading.RLock()
        self._finalizer = weakref.finalize(self, _kill, self.process)

    def ask(self, *request: Any) -> Any:
        """Return the value of a request, or raise its exception."""
        with self._exchange():
            self._collect()
            self._send(request)
            reply = self._receive()
        return self._value(reply)

    def next(self, iteration: Iteration) -> Any:
        """Return the next element of an iteration, or None at its end."""
        with self._exchange():
            if not iteration.replies:
                self._request(iteration, 1)
                iteration.replies.append(self._receive())
            reply = iteration.replies.popleft()
        return self._value(reply)

    def read_ahead(self, iteration: Iteration) -> None:
        """Let the process read the next elements while this one continues."""
        with self._exchange():
            self._request(iteration, _N_AHEAD)

    @contextmanager
    def _exchange(self) -> Generator[None]:
        """Send and receive in one thread; end the process if that is interrupted."""
        with self._lock:
            try:
                yield
            except BaseException:  # the rest of a reply is lost
                self.end("the reading was interrupted")
                raise

    def _request(self, iteration: Iteration, n_ahead: int) -> None:
        """Request elements, unless as many are requested or here."""
        if self._ahead is not iteration:
            self._collect()
            self._ahead = iteration
        while len(self._sent) + len(iteration.replies) < n_ahead:
            self._send(("next", iteration.number))

    def _collect(self) -> None:
        """Receive the elements that are being read."""
        while self._sent:
            assert self._ahead is not None
            self._ahead.replies.append(self._receive())

    def _send(self, request: tuple[Any, ...]) -> None:
        slot = self._slots.take()
        self._sent.append(slot)
        if self._end is None:
            with suppress(OSError):  # it has ended; the reply tells why
                send(self._requests, (slot, *request))

    def _receive(self) -> _Reply:
        """Return the reply to the first request without one."""
        slot = self._sent.popleft()
        if self._end is not None:
            self._slots.give_back(slot)
            return "error", WorkerError(self._end)
        if not _has_data(self._replies, _WALL_SECONDS):
            self.process.kill()
        try:
            return cast(_Reply, receive(self._replies, partial(self._slots.content, slot)))
        except EOFError:
            self._slots.give_back(slot)
            self._end = _reason(self.process.wait())
            return "error", WorkerError(self._end)

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
