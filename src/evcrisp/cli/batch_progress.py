"""Progress over many recordings, and the message when they are stopped."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evcrisp.cli.progress import count_progress
from evcrisp.cli.signals import Stopped


@contextmanager
def batch_progress(title: str, output: Path) -> Generator[dict[str, Any], None, None]:
    """Yield the callbacks of a batch; Ctrl+C says how many recordings are finished."""
    n_all = n_done = 0
    shares: dict[str, float] = {}  # of recordings in pieces
    with count_progress(title) as show:

        def on_start(n: int) -> None:
            nonlocal n_all
            n_all = n
            show(0, n)

        def on_piece(name: str, share: float) -> None:
            shares[name] = share
            show(n_done + sum(shares.values()), n_all)

        def on_done(name: str) -> None:
            nonlocal n_done
            n_done += 1
            shares.pop(name, None)
            show(n_done + sum(shares.values()), n_all)

        try:
            yield {"on_start": on_start, "on_done": on_done, "on_piece": on_piece}
        except KeyboardInterrupt as error:
            raise Stopped(
                f"{n_done:,} of {n_all:,} recordings are finished in {output}; run the same command to "
                "continue."
            ) from error
