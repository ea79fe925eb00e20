"""Progress bars on standard error, if it is a terminal."""

import sys
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from os import PathLike
from typing import Any

import click

from evcrisp.core.events import Events
from evcrisp.io.recording import Recording

Advance = Callable[[Events], None]


def _has_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def _bar(
    title: str, *names: str, text: str | None = None, **fields: Any
) -> Generator[Callable[..., None], None, None]:
    """Yield a function that updates a bar with columns of rich; without a terminal, it does nothing."""
    if not _has_terminal():
        yield lambda **changes: None
        return
    import rich.progress
    from rich.console import Console

    columns: list[Any] = [
        rich.progress.TextColumn("{task.description}"),
        rich.progress.BarColumn(),
        *(() if text is None else (rich.progress.TextColumn(text),)),
        *(getattr(rich.progress, name)() for name in names),
    ]
    with rich.progress.Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield partial(progress.update, progress.add_task(title, total=None, **fields))


@contextmanager
def _progress(
    title: str, share_of: Callable[[Events], float | None], unit: str = "events"
) -> Generator[Advance, None, None]:
    """Yield a function to call with every chunk; ``share_of`` returns the progress, 0 to 1."""
    text = "{task.fields[n_events]:,} " + unit
    n_events = 0
    with _bar(title, "TimeRemainingColumn", text=text, n_events=0) as update:

        def advance(chunk: Events) -> None:
            nonlocal n_events
            n_events += len(chunk)
            share = share_of(chunk)
            total = None if share is None else 1.0
            update(total=total, completed=share or 0.0, n_events=n_events)

        yield advance


def reading_progress(
    title: str, recording: Recording, unit: str = "events"
) -> AbstractContextManager[Advance]:
    """Return a progress bar for reading a recording."""
    return _progress(title, lambda chunk: recording.fraction_read, unit)


@contextmanager
def open_with_progress(
    title: str, path: PathLike[str], **opening: Any
) -> Generator[tuple[Recording, Advance], None, None]:
    """Open a recording, and yield it with the function to call with every chunk."""
    from evcrisp.io.reading import open_recording

    with (
        open_recording(path, **opening) as recording,
        reading_progress(title, recording) as advance,
    ):
        yield recording, advance


def time_progress(title: str, t_start: int, duration_us: int) -> AbstractContextManager[Advance]:
    """Return a progress bar for a span of time."""

    def share_of(chunk: Events) -> float | None:
        return (int(chunk.t[-1]) - t_start) / duration_us if len(chunk) else None

    return _progress(title, share_of)


@contextmanager
def task_progress(
    title: str,
) -> Generator[tuple[Callable[[int], None], Callable[..., None]], None, None]:
    """Yield two functions: call one with the number of tasks, the other after each task."""
    with _bar(title, "MofNCompleteColumn", "TimeRemainingColumn") as update:
        yield (lambda total: update(total=total, completed=0)), (lambda *_: update(advance=1))


@contextmanager
def count_progress(title: str) -> Generator[Callable[[float, int], None], None, None]:
    """Yield a function to call with the number that is done, parts included, and the number of all."""
    with _bar(title, "MofNCompleteColumn", "TimeRemainingColumn") as update:
        yield lambda n_done, n_all: update(total=n_all, completed=n_done)


@contextmanager
def work_progress(title: str) -> Generator[Callable[[float], None], None, None]:
    """Yield a function to call with the share of the work that is done, 0 to 1."""
    with _bar(title, "TimeElapsedColumn", "TimeRemainingColumn") as update:
        yield lambda share: update(total=1.0, completed=share)


def show_count(unit: str, i: int, n: int, detail: str = "") -> None:
    """Print the number of finished units on the same line of a terminal."""
    if _has_terminal():
        click.echo(f"\r{unit} {i} of {n}{detail}", nl=i == n, err=True)
