"""Progress over many recordings, and the message when they are stopped."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evcrisp.cli.progress import task_progress
from evcrisp.cli.signals import Stopped


@contextmanager
def batch_progress(
    title: str, output: Path
) -> Generator[dict[str, Callable[..., Any]], None, None]:
    """Yield ``on_start`` and ``on_done`` of a batch; Ctrl+C says how many recordings are finished."""
    n_all = n_done = 0
    with task_progress(title) as (show_total, advance):

        def on_start(n: int) -> None:
            nonlocal n_all
            n_all = n
            show_total(n)

        def on_done(name: str) -> None:
            nonlocal n_done
            n_done += 1
            advance()

        try:
            yield {"on_start": on_start, "on_done": on_done}
        except KeyboardInterrupt as error:
            raise Stopped(
                f"{n_done:,} of {n_all:,} recordings are finished in {output}; run the same command to "
                "continue."
            ) from error
