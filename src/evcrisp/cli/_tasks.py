"""What the verbs share that run many tasks: where they run, and how far they are."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import click

from evcrisp.cli._options import decorated

#: Everything about where tasks run.
pool_options = decorated(
    click.option(
        "--workers",
        type=int,
        help="Processes; 0 = none but this one. Default: one per processor. With --scheduler: how "
        "many workers to wait for.",
    ),
    click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="Run on a dask.distributed cluster, such as tcp://host:8786.",
    ),
)

noise_option = click.option(
    "--noise",
    default="uniform",
    show_default=True,
    help="Noise that is added to DND21: uniform, or a measured one: light, dark-ba, dark-5hz, leak.",
)
max_events_option = click.option(
    "--max-events", type=int, help="Use so many events of each recording."
)


@contextmanager
def task_progress(
    title: str,
) -> Generator[tuple[Callable[[int], None], Callable[[Any], None]], None, None]:
    """Yield two functions: one takes the number of tasks, one is called after each."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield (lambda total: None), (lambda task: None)
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task(title, total=None)
        yield (
            lambda total: progress.update(bar, total=total, completed=0),
            lambda task: progress.advance(bar),
        )
