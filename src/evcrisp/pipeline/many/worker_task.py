"""One recording on a worker: collect its messages, and remove partial files when terminated."""

import logging
import multiprocessing
import os
import signal
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

from evcrisp.core.errors import Setting

_LOGGER = logging.getLogger("evcrisp")

#: Arguments of messages that other processes can unpickle.
_PLAIN = (str, int, float, Path, Setting)


class RecordingTask(Protocol):
    """Work on one recording; an object that other processes can unpickle."""

    def __call__(self, source: Path, target: Path, *, overwrite: bool) -> dict[str, Any]:
        """Write the results of a recording; return facts as JSON types, without times."""
        ...

    def target(self, folder: Path, name: str) -> Path:
        """Return the output of a recording: a file or a folder."""
        ...

    def settings(self) -> dict[str, Any] | None:
        """Return all settings that affect the results, as JSON types; None if unknown."""
        ...


@dataclass(frozen=True, slots=True)
class Job:
    """A task with one recording and its output."""

    task: RecordingTask
    name: str
    source: Path
    target: Path
    overwrite: bool
    log_level: int


@dataclass(frozen=True, slots=True)
class Done:
    """Facts of a recording, and the messages about it."""

    facts: dict[str, Any]
    messages: tuple[tuple[int, str, tuple[Any, ...]], ...]


class _Collector(logging.Handler):
    """Collects the messages of one thread."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[tuple[int, str, tuple[Any, ...]]] = []
        self._thread = threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        if record.thread == self._thread:
            given = record.args if isinstance(record.args, tuple) else ()
            args = tuple(a if isinstance(a, _PLAIN) else str(a) for a in given)
            self.messages.append((record.levelno, str(record.msg), args))


def run_job(job: Job) -> Done:
    """Run a job in this process, and return its facts with the messages about it."""
    is_worker = multiprocessing.parent_process() is not None
    is_main = threading.current_thread() is threading.main_thread()
    if is_worker:
        _LOGGER.setLevel(job.log_level)
        if is_main:
            signal.signal(signal.SIGTERM, _raise_exit)
    collector = _Collector()
    _LOGGER.addHandler(collector)
    try:
        facts = job.task(job.source, job.target, overwrite=job.overwrite)
    except SystemExit:
        if not (is_worker and is_main):
            raise
        # Partial files are removed now. The pool would start its next task.
        os._exit(128 + signal.SIGTERM)
    finally:
        _LOGGER.removeHandler(collector)
    return Done(facts, tuple(collector.messages))


def _raise_exit(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + number)


def repeat_messages(job: Job, done: Done) -> None:
    """Log the messages of another process here, with the name of the recording."""
    for level, text, args in done.messages:
        if not args:  # percent signs in such a text are no formats
            text, args = "%s", (text,)
        if str(job.source) in text % args:
            _LOGGER.log(level, text, *args)
        else:
            _LOGGER.log(level, f"%s: {text}", job.name, *args)
