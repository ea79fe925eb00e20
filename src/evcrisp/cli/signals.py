"""Handle Ctrl+C and the signals that end a job: exit codes, messages, finished windows."""

import signal
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import IO, TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from evcrisp.pipeline.cancellation import CancellationToken


Handler = Callable[[int, FrameType | None], None]

#: Signals within this time of another are the same request, s: `timeout` and some terminals
#: signal a program twice.
SAME_REQUEST_S = 0.5


class _Requests:
    """The time of the last signal that counted."""

    def __init__(self) -> None:
        self._last_s = float("nan")

    @property
    def is_recent(self) -> bool:
        """Whether the next signal belongs to the same request."""
        return time.monotonic() - self._last_s <= SAME_REQUEST_S

    def is_repeated(self) -> bool:
        """Note a signal; return whether it belongs to the request before."""
        if self.is_recent:
            return True
        self._last_s = time.monotonic()
        return False


#: Of the program: the second signal of a request can come when another handler is in place.
_requests = _Requests()


class Stopped(click.ClickException):
    """End of the program after Ctrl+C; the message says which results exist."""

    exit_code = 128 + signal.SIGINT

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the message to standard error."""
        click.echo(f"Stopped. {self.message}".rstrip(), file=file, err=file is None)


class Terminated(Stopped):
    """End of the program after SIGTERM."""

    exit_code = 128 + signal.SIGTERM


def _silence_finalizers() -> None:
    """Suppress errors of finalizers: a signal can interrupt the construction of any object."""
    sys.unraisablehook = lambda unraisable: None


@contextmanager
def _handlers(handlers: dict[str, Handler]) -> Generator[None, None, None]:
    """Install signal handlers by name, if the system has the signals, until the block ends."""
    before = {}
    if threading.current_thread() is threading.main_thread():
        for name, handler in handlers.items():
            number = getattr(signal, name, None)
            # Keep signals that are already ignored (nohup).
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def clean_exit() -> Generator[None, None, None]:
    """Exit through exceptions when a signal ends the job, so that temporary files are removed."""
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    try:
        with _handlers(dict.fromkeys(names, _exit)):
            yield
    finally:
        if _requests.is_recent:  # the program ends, with the exit code of the first signal
            for number in (getattr(signal, name, None) for name in names):
                if number is not None:
                    signal.signal(number, signal.SIG_IGN)


def _exit(number: int, frame: FrameType | None) -> None:
    _silence_finalizers()
    if _requests.is_repeated():
        return
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(128 + number)


@contextmanager
def message_when_stopped(message: str) -> Generator[None, None, None]:
    """Print a message when Ctrl+C ends the block."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise Stopped(message) from error


@dataclass(slots=True)
class Cancellation:
    """A token that a signal cancels, and the number of that signal."""

    token: "CancellationToken"
    number: int = signal.SIGINT

    def error(self, message: str) -> Stopped:
        """Return the error that ends the program."""
        return (Terminated if self.number == signal.SIGTERM else Stopped)(message)


@contextmanager
def cancel_on_signal(message: str) -> Generator[Cancellation, None, None]:
    """Yield a token that Ctrl+C or SIGTERM cancels; a second signal ends at once.

    The message is printed if no results were written.
    """
    from evcrisp.pipeline.cancellation import CancellationToken

    cancellation = Cancellation(CancellationToken())

    def cancel(number: int, frame: FrameType | None) -> None:
        _silence_finalizers()
        if not _requests.is_repeated():
            cancellation.number = number
            cancellation.token.cancel()

    try:
        with _handlers({"SIGINT": cancel, "SIGTERM": cancel}):
            yield cancellation
    except KeyboardInterrupt as error:
        raise cancellation.error(message) from error


@contextmanager
def stop_on_signal(stop: threading.Event) -> Generator[Callable[[str], Stopped], None, None]:
    """Set an event at Ctrl+C or SIGTERM; a second signal ends at once, with an exception.

    Yields a function that returns the error with the exit code of the signal, from its message.
    """
    numbers: list[int] = []

    def request(number: int, frame: FrameType | None) -> None:
        _silence_finalizers()
        if _requests.is_repeated():
            return
        numbers.append(number)
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    def error(message: str) -> Stopped:
        return (Terminated if numbers[:1] == [signal.SIGTERM] else Stopped)(message)

    with _handlers({"SIGINT": request, "SIGTERM": request}):
        yield error
