"""The process that searches motions for a live session: windows in, estimates out."""

import os
import pickle
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from evcrisp.core.errors import EvError
from evcrisp.pipeline.tracking import Tracker

#: Labels come first: this process has a lower priority.
_NICENESS = 5
_AUTOGROUP = Path("/proc/self/autogroup")


def run() -> None:
    """Answer windows on standard input until it ends."""
    pipe, out = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a method prints must not mix with the answers
    _lower_priority()
    with suppress(BrokenPipeError):
        _answer(pipe, out)


def _lower_priority() -> None:
    with suppress(AttributeError, OSError):
        os.nice(_NICENESS)
    # Linux may schedule sessions as groups, within which alone a priority counts; this process has its own.
    with suppress(OSError):
        _AUTOGROUP.write_text(str(_NICENESS))


def _answer(pipe: IO[bytes], out: IO[bytes]) -> None:
    from evcrisp.streaming.cleaning import WindowCleaning

    cleaning = WindowCleaning(*_receive(pipe), full_search=True)
    cleaning.warm_up()
    _send(out, ("ready", None))
    tracker: Tracker | None = None
    while (request := _receive(pipe)) is not None:
        window, resolution = request
        tracker = cleaning.tracker(resolution) if tracker is None else tracker
        start = time.monotonic()
        try:
            found = tracker.estimate(window)
        except EvError as error:
            _send(out, ("failed", str(error)))
            return
        _send(out, ("found", (replace(found, w_map=None), time.monotonic() - start)))


def _receive(pipe: IO[bytes]) -> Any:
    """Return the next request; None at the end."""
    head = pipe.read(8)
    return pickle.loads(pipe.read(int.from_bytes(head, "little"))) if len(head) == 8 else None


def _send(out: IO[bytes], answer: tuple[str, Any]) -> None:
    data = pickle.dumps(answer, protocol=pickle.HIGHEST_PROTOCOL)
    out.write(len(data).to_bytes(8, "little") + data)
    out.flush()
