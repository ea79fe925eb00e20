"""What commands print about many recordings."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evcrisp.cli.error_messages import error_text
from evcrisp.cli.run_page import page
from evcrisp.core.errors import EvError
from evcrisp.core.messages import counted

if TYPE_CHECKING:
    from evcrisp.pipeline.many.batch import BatchResult

_Rows = Callable[[Mapping[str, Any]], Iterable[tuple[str, str]]]


def print_batch(result: "BatchResult", output: Path, rows: _Rows, *, as_json: bool = False) -> None:
    """Print totals, or the summary as JSON; raise with the list of failures, if there are any."""
    if as_json:
        facts = {"reused": list(result.reused), "elapsed_s": result.elapsed_s}
        click.echo(json.dumps({**result.summary, **facts}, indent=2))
    else:
        click.echo(page(_rows(result, output, rows)))
    if result.failures:
        failed = counted(len(result.failures), "recording")
        lines = (f"  {name}: {_reason(error)}" for name, error in result.failures.items())
        n_all = result.summary["n_recordings"]
        raise click.ClickException("\n".join([f"{failed} of {n_all:,} failed:", *lines]))


def event_rows(totals: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the rows of numbers of events."""
    n = totals["n_events"]
    yield "events", f"{n:,}"
    if "n_kept" in totals:
        yield "kept", f"{totals['n_kept']:,} ({totals['n_kept'] / n:.1%})" if n else "0"


def window_rows(totals: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the row of the number of windows."""
    yield "windows", f"{totals['n_windows']:,}"


def _rows(result: "BatchResult", output: Path, rows: _Rows) -> Iterator[tuple[str, str]]:
    n_done, n_reused = len(result.outputs), len(result.reused)
    yield "recordings", f"{n_done:,} of {result.summary['n_recordings']:,}"
    if n_reused:
        text = (
            f"earlier results of {counted(n_reused, 'recording')}, with the same settings; --force"
        )
        yield "unchanged", f"{text} computes them again"
    yield from rows(result.summary["totals"])
    yield "took", f"{result.elapsed_s:.1f} s"
    yield "files", f"{output}: an output per recording, summary.json"


def _reason(error: Exception) -> str:
    from evcrisp.pipeline.many.batch import reason_of

    context = click.get_current_context(silent=True)
    if isinstance(error, EvError):
        return error_text(error, None if context is None else context.command)
    return reason_of(error)
