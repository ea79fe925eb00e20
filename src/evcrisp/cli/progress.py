"""Progress bars on standard error, if it is a terminal."""

import sys
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from evcrisp.core.events import Events
from evcrisp.io.recording import Recording

if TYPE_CHECKING:
    from rich.progress import Progress

Advance = Callable[[Events], None]


@contextmanager
def _bar(*names: str, text: str | None = None) -> "Generator[Progress | None, None, None]":
    """Yield a bar with columns of rich; None if standard error is not a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
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
        yield progress


@contextmanager
def _progress(
    title: str, share_of: Callable[[Events], float | None], unit: str = "events"
) -> Generator[Advance, None, None]:
    """Yield a function to call with every chunk; ``share_of`` returns the progress, 0 to 1."""
    text = "{task.fields[n_events]:,} " + unit
    with _bar("TimeRemainingColumn", text=text) as progress:
        if progress is None:
            yield lambda chunk: None
            return
        task = progress.add_task(title, total=None, n_events=0)
        n_events = 0

        def advance(chunk: Events) -> None:
            nonlocal n_events
            n_events += len(chunk)
            share = share_of(chunk)
            total = None if share is None else 1.0
            progress.update(task, total=total, completed=share or 0.0, n_events=n_events)

        yield advance


def reading_progress(
    title: str, recording: Recording, unit: str = "events"
) -> AbstractContextManager[Advance]:
    """Return a progress bar for reading a recording."""
    return _progress(title, lambda chunk: recording.fraction_read, unit)


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
    with _bar("MofNCompleteColumn", "TimeRemainingColumn") as progress:
        if progress is None:
            yield (lambda total: None), (lambda *_: None)
            return
        bar = progress.add_task(title, total=None)
        yield (
            lambda total: progress.update(bar, total=total, completed=0),
            lambda *_: progress.advance(bar),
        )


@contextmanager
def work_progress(title: str) -> Generator[Callable[[float], None], None, None]:
    """Yield a function to call with the share of the work that is done, 0 to 1."""
    with _bar("TimeElapsedColumn", "TimeRemainingColumn") as progress:
        if progress is None:
            yield lambda share: None
            return
        task = progress.add_task(title, total=None)
        yield lambda share: progress.update(task, total=1.0, completed=share)
