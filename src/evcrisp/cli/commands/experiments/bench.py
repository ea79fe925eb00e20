"""``evcrisp bench``: measure methods on own recordings and public data sets."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evcrisp.cli import options
from evcrisp.cli.progress import task_progress
from evcrisp.cli.signals import message_when_stopped

if TYPE_CHECKING:
    from evcrisp.experiments.bench.result import Bench


@click.command("bench")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@options.option(
    "--methods",
    "Estimators, filters and competitors by name; all; mlpf:FILE and edformer:FOLDER for public "
    "weights. Default: fast methods, usual filters, and competitors that are installed.",
    callback=options.words,
    metavar="A,B,...",
)
@options.option(
    "--out -o",
    "Folder for the page, tables and results; an interrupted run continues there.",
    click.Path(file_okay=False, path_type=Path),
    default=Path("bench"),
)
@options.option(
    "--dataset",
    "Layout of FOLDER: remot, dvsflow16, ecd, emlb, dnd21, ed24, led, dvsclean, mvsec, dsec, recordings, or "
    "that of an installed package. Default: found from the names of files, also in sub-folders.",
    metavar="NAME",
)
@options.option(
    "--max-events",
    "Number of events to use of each recording; 0 = all.",
    click.IntRange(min=0),
    default=100_000,
)
@options.option(
    "--max-s",
    "Seconds to use of each recording; 0 = all. DVSFLOW16 uses 10 s at least.",
    options.Number(min=0.0),
    default=2.0,
)
@options.option(
    "--noise-hz",
    "Noise to add to recordings without labels, Hz per pixel; at most as many events as they have.",
    options.Number(min=0.0, min_open=True, max=10_000.0),
    default=5.0,
)
@options.option(
    "--slice-events",
    "Number of events of a slice of the ESR.",
    click.IntRange(min=1),
    default=30_000,
)
@options.motion_option
@click.option("--no-aocc", is_flag=True, help="Do not measure the contrast curve.")
@options.device_of_methods_option
@options.pool_options
@click.option("--retry-failed", is_flag=True, help="Run tasks again that failed earlier.")
@options.seed_option("Seed of noise, controls and bootstrap.")
def bench_command(
    folder: Path,
    methods: tuple[str, ...],
    out: Path,
    dataset: str | None,
    workers: int | None,
    scheduler: str | None,
    retry_failed: bool,
    **chosen: Any,
) -> None:
    """Measure methods on the recordings of FOLDER, and write one HTML page.

    FOLDER has own recordings, or public data sets, itself or in its sub-folders. Metrics follow from
    the truth that is there. Labels: AUC, sensitivity, specificity; without labels, against added noise.
    Flow: endpoint and angular error, outliers. Boxes: HOTA. For all recordings: ESR, AOCC, entropy and
    FWL. Intervals are those of means over recordings.

    bench.html has tables, figures, settings and the command; bench.csv has one line per recording and
    method. A task is one recording with one method. Its result is stored under a hash of input,
    settings and code, so that an interrupted run continues. The exit code is 1 if tasks failed.
    """
    from evcrisp.core.messages import counted
    from evcrisp.experiments.bench.run import bench
    from evcrisp.pipeline.many.executors import open_workers

    stopped = f"Results so far are in {out}; run the same command to continue."
    with (
        message_when_stopped(stopped),
        open_workers(workers, scheduler) as opened,
        task_progress("bench") as (on_start, on_done),
    ):
        result = bench(
            folder, out, opened, methods=methods or None, dataset=dataset,
            options=_options(chosen), retry_failed=retry_failed,
            command=shlex.join(["evcrisp", *sys.argv[1:]]), on_start=on_start, on_done=on_done,
        )  # fmt: skip
    _print(result, out)
    n_failed = len(result.outcome.failures)
    if n_failed:
        raise click.ClickException(
            f"{counted(n_failed, 'task')} failed; see {out / 'failures.log'}. --retry-failed runs "
            f"{'it' if n_failed == 1 else 'them'} again."
        )


def _options(chosen: dict[str, Any]) -> Any:
    from evcrisp.experiments.bench.options import BenchOptions
    from evcrisp.experiments.methods import device_name

    max_s = chosen.pop("max_s")
    return BenchOptions(
        max_events=chosen.pop("max_events") or None,
        max_us=max(round(1e6 * max_s), 1) if max_s else None,
        measures_aocc=not chosen.pop("no_aocc"),
        device=device_name(chosen.pop("device")),
        **chosen,
    )


def _print(result: "Bench", out: Path) -> None:
    from evcrisp.core.messages import counted
    from evcrisp.experiments.tables.formats import as_markdown

    click.echo(as_markdown(result.tables()))
    for note in result.notes:
        click.echo(note, err=True)
    for part in result.found:
        for problem in part.problems:
            click.echo(f"{part.title}: {problem}", err=True)
    n_new, n = result.outcome.n_new, len(result.tasks)
    click.echo(f"{counted(n, 'task')}, {n_new} run now, {n - n_new} taken from {out}.")
    click.echo(f"The page is {out / 'bench.html'}.")
