"""Worker process: reads and computes, so that the server stays responsive and jobs can be killed.

`run` receives pickled tasks on standard input. It answers on standard output with messages
``(kind, content)``: any number of "progress", then one of "done" or "failed". Both ends belong to
the same program, so that pickle is safe.
"""

import contextlib
import logging
import pickle
import struct
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evcrisp.core.errors import ConfigError, EvError

if TYPE_CHECKING:
    from evcrisp.core.camera import Camera
    from evcrisp.core.events import Events
    from evcrisp.io.recording import Recording
    from evcrisp.viewer.compute import Computer
    from evcrisp.viewer.event_store import EventStore
    from evcrisp.viewer.requests import Request

Send = Callable[[str, Any], None]

#: Length of a message in bytes, which precedes it.
LENGTH = struct.Struct("<Q")

#: Time between two progress messages while reading, s.
REPORT_S = 0.25
CHUNK_EVENTS = 1 << 18


@dataclass(frozen=True, slots=True)
class ReadTask:
    """Read a recording into an event store."""

    path: str
    folder: str
    opening: dict[str, Any]  # arguments of `open_recording`


@dataclass(frozen=True, slots=True)
class ComputeTask:
    """Compute a request."""

    store: "EventStore"
    request: "Request"
    camera: "Camera | None" = None


@dataclass(frozen=True, slots=True)
class SaveTask:
    """Write the events of a recording that are kept to a file in ``folder``."""

    path: str
    folder: str
    opening: dict[str, Any]
    request: "Request"
    camera: "Camera | None" = None


@dataclass(frozen=True, slots=True)
class WarmUp:
    """Import the modules for computations."""


class Worker:
    """Runs one task after the other."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._computer: Computer | None = None

    def run_task(self, task: ReadTask | ComputeTask | SaveTask | WarmUp) -> None:
        """Run a task and send its result or its error."""
        try:
            if isinstance(task, ReadTask):
                content: Any = read_recording(task, self._send)
            elif isinstance(task, ComputeTask):
                content = self._compute(task)
            elif isinstance(task, SaveTask):
                content = save_recording(task, self._send)
            else:
                import evcrisp.viewer.compute  # noqa: F401

                content = None
        except (EvError, OSError) as error:
            self._send("failed", str(error))
        except MemoryError:
            self._send("failed", "Out of memory. Try a shorter window.")
        except Exception as error:  # a bug must not end the server
            traceback.print_exc()
            self._send("failed", f"Internal error: {type(error).__name__}: {error}")
        else:
            self._send("done", content)

    def _compute(self, task: ComputeTask) -> bytes:
        from evcrisp.viewer.compute import Computer

        check_importable(task.request)
        # The computer keeps the last Pareto front, for later requests of its points.
        if self._computer is None or self._computer.store != task.store:
            self._computer = Computer(task.store, task.camera)
        return self._computer.compute(task.request, lambda share: self._send("progress", share))


def check_importable(request: "Request") -> None:
    """Raise if a part was registered in the program that opened the viewer, but not here."""
    from evcrisp.viewer.requests import REGISTRIES, known_names

    for name, registry in REGISTRIES.items():
        part = getattr(request, name)
        if part not in known_names(name):
            raise ConfigError(
                f"The {registry.kind} {part!r} was registered by the program that opened the "
                "viewer, and is unknown in the process that computes. Put it into an installed "
                f"package with an entry point in the group {registry.group!r}, or export a page, "
                "which computes in the program itself."
            )


def save_recording(task: SaveTask, send: Send) -> str:
    """Write the events that are kept, and return the path of the file."""
    from evcrisp.viewer.cleaned_file import write_cleaned

    check_importable(task.request)
    return write_cleaned(
        task.path, task.opening, task.folder, task.request, task.camera,
        lambda share: send("progress", share),
    )  # fmt: skip


def read_recording(task: ReadTask, send: Send) -> dict[str, Any]:
    """Read a recording into an event store, and send its facts as progress."""
    from evcrisp.io.reading import open_recording
    from evcrisp.viewer.event_store import EventStoreWriter
    from evcrisp.viewer.sensor_store import SensorStore

    log = _LogMessages(task.path)
    logging.getLogger("evcrisp").addHandler(log)
    with contextlib.ExitStack() as stack:
        recording = stack.enter_context(open_recording(task.path, **task.opening))
        camera = _calibration(recording, log)
        writer = EventStoreWriter(Path(task.folder), recording.resolution, camera)
        stack.callback(writer.close)

        def facts(share: float | None) -> dict[str, Any]:
            return {
                "store": writer.store(),
                "rate": writer.rate.as_dict(),
                "format": recording.format,
                "share": share,
                "notes": log.texts,
            }

        def reported() -> Iterator["Events"]:
            reported_at = -REPORT_S
            for chunk in recording.chunks(CHUNK_EVENTS):
                yield chunk
                if time.monotonic() - reported_at >= REPORT_S:
                    reported_at = time.monotonic()
                    send("progress", facts(recording.fraction_read))

        try:
            writer.append_all(reported())
        except EvError:
            send("progress", facts(1.0))  # the events before the damage can be shown
            raise
        try:
            sensors = SensorStore(Path(task.folder), writer.store().t_first)
            for text in sensors.write(recording):
                log.add(text)
        except EvError as error:  # events are shown all the same
            log.add(str(error))
        return facts(1.0)


def _calibration(recording: "Recording", log: "_LogMessages") -> "Camera | None":
    """Return the calibration beside the events; note a wrong one, without which events are shown."""
    try:
        return recording.camera()
    except EvError as error:
        log.add(str(error))
        return None


class _LogMessages(logging.Handler):
    """Collects the log messages of the reader, without the path that each of them starts with."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = Path(path)
        self.texts: list[str] = []

    def add(self, text: str) -> None:
        """Add a message."""
        text = text.removeprefix(f"{self.path}: ")
        self.texts.append(f"T{text[1:]}" if text.startswith("the ") else text)

    def emit(self, record: logging.LogRecord) -> None:
        self.add(record.getMessage())


def run() -> None:
    """Run the tasks of the parent process until its pipe is closed."""
    source, target = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # printed text must not mix with the messages

    def send(kind: str, content: Any) -> None:
        data = pickle.dumps((kind, content), protocol=pickle.HIGHEST_PROTOCOL)
        target.write(LENGTH.pack(len(data)))
        target.write(data)
        target.flush()

    worker = Worker(send)
    while head := source.read(LENGTH.size):
        (size,) = LENGTH.unpack(head)
        worker.run_task(pickle.loads(source.read(size)))
