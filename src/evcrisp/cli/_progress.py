"""Progress on standard error, on a terminal only."""

import sys
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager

from evcrisp.events import Events
from evcrisp.io.recording import Recording

Advance = Callable[[Events], None]


@contextmanager
def _progress(
    title: str, share_of: Callable[[Events], float | None]
) -> Generator[Advance, None, None]:
    """Yield a function to call with every chunk; ``share_of`` says how far it got, 0 to 1."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda chunk: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[n_events]:,} events"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(title, total=None, n_events=0)
        n_events = 0

        def advance(chunk: Events) -> None:
            nonlocal n_events
            n_events += len(chunk)
            share = share_of(chunk)
            total = None if share is None else 1.0
            progress.update(task, total=total, completed=share or 0.0, n_events=n_events)

        yield advance


def reading_progress(title: str, recording: Recording) -> AbstractContextManager[Advance]:
    """Return progress through a recording's bytes."""
    return _progress(title, lambda chunk: recording.fraction_read)


def time_progress(title: str, t_start: int, duration_us: int) -> AbstractContextManager[Advance]:
    """Return progress through time."""

    def share_of(chunk: Events) -> float | None:
        return (int(chunk.t[-1]) - t_start) / duration_us if len(chunk) else None

    return _progress(title, share_of)
