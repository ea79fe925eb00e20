"""Ctrl+C: the exit code that shells expect, and what is finished is kept."""

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from evcrisp.outputs import Stop


class Stopped(click.ClickException):
    """The end that Ctrl+C asked for; the message says what there is."""

    exit_code = 128 + signal.SIGINT

    def show(self, file: IO[Any] | None = None) -> None:
        """Say so on standard error."""
        click.echo(f"Stopped. {self.message}".rstrip(), file=file, err=file is None)


@contextmanager
def saying(message: str) -> Generator[None, None, None]:
    """Say what there is when Ctrl+C ends the block."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise Stopped(message) from error


@contextmanager
def asked_by_ctrl_c(message: str) -> "Generator[Stop, None, None]":
    """Yield a wish to stop that Ctrl+C makes; a second one ends at once, with the message."""
    from evcrisp.outputs import Stop

    stop = Stop()
    before = signal.getsignal(signal.SIGINT)
    is_heard = before is not signal.SIG_IGN
    is_heard = is_heard and threading.current_thread() is threading.main_thread()
    with saying(message):
        if is_heard:
            signal.signal(signal.SIGINT, lambda number, frame: stop.ask())
        try:
            yield stop
        finally:
            if is_heard:
                signal.signal(signal.SIGINT, before)
