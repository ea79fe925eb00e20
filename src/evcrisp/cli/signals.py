"""Ctrl+C and its like: the exit code that shells expect, and what is finished is kept."""

import signal
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import IO, TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from evcrisp.pipeline.cancellation import CancellationToken


Handler = Callable[[int, FrameType | None], None]


class Stopped(click.ClickException):
    """The end that Ctrl+C asked for; the message says what there is."""

    exit_code = 128 + signal.SIGINT

    def show(self, file: IO[Any] | None = None) -> None:
        """Say so on standard error."""
        click.echo(f"Stopped. {self.message}".rstrip(), file=file, err=file is None)


class Ended(Stopped):
    """The end that whoever runs the job asked for."""

    exit_code = 128 + signal.SIGTERM


def hush_finalizers() -> None:
    """Let finalizers be silent from now on, for the handler of a signal that ends the program.

    A signal may come while any object is being built, those of the compiler among them, and what
    is half built cannot always be taken down.
    """
    sys.unraisablehook = lambda unraisable: None


@contextmanager
def _hearing(handlers: dict[str, Handler]) -> Generator[None, None, None]:
    """Let handlers hear signals by name, as far as there are such, until the block ends."""
    before = {}
    if threading.current_thread() is threading.main_thread():
        for name, handler in handlers.items():
            number = getattr(signal, name, None)
            # What nohup told us not to hear stays unheard.
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def ending_cleanly() -> Generator[None, None, None]:
    """Turn the signals that end a job into an exit, so that temporary files are removed."""
    with _hearing({"SIGINT": _interrupt, "SIGTERM": _exit, "SIGHUP": _exit}):
        yield


def _interrupt(number: int, frame: FrameType | None) -> None:
    hush_finalizers()
    raise KeyboardInterrupt


def _exit(number: int, frame: FrameType | None) -> None:
    hush_finalizers()
    sys.exit(128 + number)


@contextmanager
def saying(message: str) -> Generator[None, None, None]:
    """Say what there is when Ctrl+C ends the block."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise Stopped(message) from error


@dataclass(slots=True)
class Asked:
    """A wish to stop, and the signal that made it."""

    stop: "CancellationToken"
    number: int = signal.SIGINT

    def stopped(self, message: str) -> Stopped:
        """Return the error that ends the program."""
        return (Ended if self.number == signal.SIGTERM else Stopped)(message)


@contextmanager
def asked_by_signal(message: str) -> Generator[Asked, None, None]:
    """Yield a wish to stop that Ctrl+C makes, or the end of a job; a second one ends at once.

    The message is what is said when nothing was kept.
    """
    from evcrisp.pipeline.cancellation import CancellationToken

    asked = Asked(CancellationToken())

    def ask(number: int, frame: FrameType | None) -> None:
        hush_finalizers()
        asked.number = number
        asked.stop.cancel()

    try:
        with _hearing({"SIGINT": ask, "SIGTERM": ask}):
            yield asked
    except KeyboardInterrupt as error:
        raise asked.stopped(message) from error
