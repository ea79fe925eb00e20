"""Progress on standard error, on a terminal only."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

from evcrisp.events import Events
from evcrisp.io.recording import Recording


@contextmanager
def reading_progress(
    title: str, recording: Recording
) -> Generator[Callable[[Events], None], None, None]:
    """Yield a function to call with every chunk of a recording; it moves the bar."""
    if not sys.stderr.isatty():
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
            share = recording.fraction_read
            total = None if share is None else 1.0
            progress.update(task, total=total, completed=share or 0.0, n_events=n_events)

        yield advance
