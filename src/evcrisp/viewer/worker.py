"""The process that reads and computes, so that the server answers at once and a cancel is certain.

`run` takes pickled tasks from standard input, one after the other, and
answers on standard output with messages ``(kind, content)``: any number of "progress", then one of
"done" or "failed". Both ends belong to one user and one program.
"""

import contextlib
import logging
import pickle
import struct
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from evcrisp.core.errors import EvError

if TYPE_CHECKING:
    from evcrisp.core.camera import Camera
    from evcrisp.io.recording import OnError
    from evcrisp.viewer.compute import Computer
    from evcrisp.viewer.event_store import Spool
    from evcrisp.viewer.requests import Request

Send = Callable[[str, Any], None]

#: Precedes each message: its length in bytes.
LENGTH = struct.Struct("<Q")

#: Time between two messages about reading.
REPORT_S = 0.25
CHUNK_EVENTS = 1 << 18


@dataclass(frozen=True, slots=True)
class ReadTask:
    """Read a recording into a spool."""

    path: str
    folder: str
    format: str | None = None
    resolution: tuple[int, int] | None = None
    on_error: "OnError" = "raise"


@dataclass(frozen=True, slots=True)
class ComputeTask:
    """Compute for a window or a recording."""

    spool: "Spool"
    request: "Request"
    camera: "Camera | None" = None


@dataclass(frozen=True, slots=True)
class WarmUp:
    """Import what computing needs."""


class Worker:
    """Does one task after the other."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._computer: Computer | None = None

    def do(self, task: ReadTask | ComputeTask | WarmUp) -> None:
        """Do a task, and send how it went."""
        try:
            if isinstance(task, ReadTask):
                content: Any = read(task, self._send)
            elif isinstance(task, ComputeTask):
                content = self._compute(task)
            else:
                import evcrisp.viewer.compute  # noqa: F401

                content = None
        except (EvError, OSError) as error:
            self._send("failed", str(error))
        except MemoryError:
            self._send("failed", "Out of memory. Try a shorter window.")
        except Exception as error:  # a bug shall not end the server
            traceback.print_exc()
            self._send("failed", f"Something went wrong: {type(error).__name__}: {error}")
        else:
            self._send("done", content)

    def _compute(self, task: ComputeTask) -> bytes:
        from evcrisp.viewer.compute import Computer

        # It remembers the last front, whose points will be asked for.
        if self._computer is None or self._computer.spool != task.spool:
            self._computer = Computer(task.spool, task.camera)
        return self._computer.compute(task.request, lambda share: self._send("progress", share))


def read(task: ReadTask, send: Send) -> dict[str, Any]:
    """Read a recording into a spool and tell the facts on the way."""
    from evcrisp.io.reading import open_recording
    from evcrisp.viewer.event_store import SpoolWriter

    notes = _Notes()
    logging.getLogger("evcrisp").addHandler(notes)
    with (
        open_recording(
            task.path, format=task.format, resolution=task.resolution, on_error=task.on_error
        ) as recording,
        contextlib.closing(SpoolWriter(Path(task.folder), recording.resolution)) as writer,
    ):

        def facts(share: float | None) -> dict[str, Any]:
            return {
                "spool": writer.flushed(),
                "rate": writer.rate.as_dict(),
                "format": recording.format,
                "share": share,
                "notes": notes.texts,
            }

        told_at = -REPORT_S
        try:
            for chunk in recording.chunks(CHUNK_EVENTS):
                writer.append(chunk)
                if time.monotonic() - told_at >= REPORT_S:
                    told_at = time.monotonic()
                    send("progress", facts(recording.fraction_read))
        except EvError:
            send("progress", facts(1.0))  # what came before the damage can be seen
            raise
        return facts(1.0)


class _Notes(logging.Handler):
    """Collects what the reader has to say."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())


def main(source: BinaryIO, target: BinaryIO) -> None:
    """Do the tasks that come in until there are no more."""

    def send(kind: str, content: Any) -> None:
        data = pickle.dumps((kind, content), protocol=pickle.HIGHEST_PROTOCOL)
        target.write(LENGTH.pack(len(data)))
        target.write(data)
        target.flush()

    worker = Worker(send)
    while head := source.read(LENGTH.size):
        (size,) = LENGTH.unpack(head)
        worker.do(pickle.loads(source.read(size)))


def run() -> None:
    """Work for the process that started this one."""
    answers = sys.stdout.buffer
    sys.stdout = sys.stderr  # whatever prints must not get between the messages
    main(sys.stdin.buffer, answers)
