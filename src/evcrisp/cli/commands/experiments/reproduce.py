"""``evcrisp reproduce``: the tables of the paper, from real or simulated data sets."""

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evcrisp.cli import options
from evcrisp.cli.progress import task_progress
from evcrisp.cli.signals import message_when_stopped

if TYPE_CHECKING:
    from evcrisp.experiments.reproduction import Reproduction
    from evcrisp.experiments.tables import Options
    from evcrisp.pipeline.many.executors import Workers

#: Table -> its data set; here, so that the help imports nothing.
TABLES = {"table1": "emlb", "table2": "dnd21", "table3": "ecd"}

_ALL = (*TABLES, "all")

#: Option -> the arguments that use it.
_USED_BY = {
    "slice_events": ("table1", "all"),
    "noise": ("table2", "all"),
    "tuned": ("table2", "all"),
    "window_events": ("table3", "all"),
    "imu_offset_us": ("table3", "all"),
    "dataset": tuple(TABLES),
    "methods": (*_ALL, "scale"),
    "workers": (*_ALL, "overhead"),
    "scheduler": (*_ALL, "overhead"),
    **dict.fromkeys(
        ("root", "out", "small", "device", "gpu_methods", "retry_failed", "max_events", "seed"),
        _ALL,
    ),
}


@click.command("reproduce")
@click.argument("what", type=click.Choice([*TABLES, "all", "scale", "overhead"]))
@options.option(
    "--root",
    "Folder of the data set; for all: a folder with emlb, dnd21 and ecd. Default: simulated data.",
    click.Path(exists=True, file_okay=False, path_type=Path),
)
@options.option(
    "--out -o",
    "Folder for tables and results; an interrupted run continues there.",
    click.Path(file_okay=False, path_type=Path),
    default=Path("reproduced"),
)
@options.option(
    "--dataset",
    "Another data set than that of the table, from an installed package. Needs --root.",
    metavar="NAME",
)
@click.option("--small", is_flag=True, help="Without --root: small simulated data sets.")
@options.option(
    "--methods",
    "Rows of the table, other methods or filters by name, or all. In table3, a filter is followed by "
    "contrast maximization. Default: all rows.",
    callback=options.words,
    metavar="A,B,...",
)
@options.device_of_methods_option
@options.pool_options
@options.option(
    "--gpu-methods",
    "Methods that run on workers with the resource GPU only.",
    callback=options.words,
    metavar="A,B,...",
)
@click.option("--retry-failed", is_flag=True, help="Run tasks again that failed earlier.")
@options.max_events_option
@options.option(
    "--slice-events",
    "Table 1: number of events of a slice of the ESR. Default: 30000.",
    click.IntRange(min=1),
)
@options.noise_option
@options.option(
    "--tuned",
    "Table 2: file of hyper-parameters from evcrisp tune.",
    click.Path(exists=True, dir_okay=False, path_type=Path),
)
@options.option(
    "--window-events",
    "Table 3: number of events of a window. Default: 30000.",
    click.IntRange(min=1),
)
@options.option(
    "--imu-offset-ms imu_offset_us",
    "Table 3: offset from the middle of a window to the time of the gyroscope.",
    options.Milliseconds(),
    metavar="MS",
    default=0.0,
)
@options.seed_option("Seed of noise, controls and bootstrap.")
@click.pass_context
def reproduce_command(
    context: click.Context,
    what: str,
    root: Path | None,
    dataset: str | None,
    out: Path,
    small: bool,
    workers: int | None,
    scheduler: str | None,
    retry_failed: bool,
    **chosen: Any,
) -> None:
    """Reproduce the tables of the paper, with its numbers beside ours.

    table1: structural ratio on E-MLB. table2: labels on DND21 with noise. table3: angular velocity
    on ECD. all: the three tables and a report in one HTML file. scale: estimate the cost of large
    data sets from the throughput of this machine. overhead: measure the cost of scheduling tasks.

    Every table is written to the output folder as Markdown, CSV, JSON and LaTeX. A task is one
    recording with one method. Its result is stored under a hash of input, settings and code, so that
    an interrupted run continues. The exit code is 1 if tasks failed; failures.log lists them.
    """
    from evcrisp.core.messages import counted
    from evcrisp.pipeline.many.executors import open_workers

    _refuse_unused_options(context, what, root, dataset)
    table_options = _table_options(chosen)
    if what == "scale":
        _print_scale(table_options)
        return
    if what == "overhead":
        _print_overhead(workers, scheduler)
        return
    roots = _roots(what, root)
    each = _options_of_tables(table_options, roots)
    common = {"dataset": dataset, "small": small, "retry_failed": retry_failed}
    out.mkdir(parents=True, exist_ok=True)
    with message_when_stopped(f"Results so far are in {out}; run the same command to continue."):
        with open_workers(workers, scheduler) as opened:
            parts = [
                _reproduce(name, out, opened, root=roots[name], options=each_options, **common)
                for name, each_options in each.items()
            ]
        if what == "all":
            _report(out, parts)
    n_failed = sum(len(part.outcome.failures) for part in parts)
    if n_failed:
        raise click.ClickException(
            f"{counted(n_failed, 'task')} failed; see {out / 'failures.log'}. --retry-failed runs "
            f"{'it' if n_failed == 1 else 'them'} again."
        )


def _refuse_unused_options(
    context: click.Context, what: str, root: Path | None, dataset: str | None
) -> None:
    """Raise for an option that would have no effect."""
    for name, users in _USED_BY.items():
        if what not in users:
            options.refuse_unused(
                context, [name], f"is not for {what}, only for {', '.join(users)}."
            )
    if root is not None:
        options.refuse_unused(
            context, ["small"], "is not for --root: it is for simulated data sets."
        )
    elif dataset is not None:
        raise click.UsageError("--dataset needs --root, the folder of the data set.")


def _report(out: Path, parts: "list[Reproduction]") -> None:
    from evcrisp.experiments.figures import report_figures
    from evcrisp.experiments.page import Provenance
    from evcrisp.experiments.report import report_page, write_report

    figures, page = report_figures(parts, out / "figures"), report_page(parts)
    made = Provenance.now(shlex.join(["evcrisp", *sys.argv[1:]]))
    write_report(out / "report.html", parts, figures, page, made=made)
    click.echo(f"The report is {out / 'report.html'}.")


def _table_options(chosen: dict[str, Any]) -> "Options":
    from evcrisp.experiments.methods import device_name
    from evcrisp.experiments.tables import Options

    tuned = chosen.pop("tuned")
    chosen["device"] = device_name(chosen["device"])
    named = {name: value for name, value in chosen.items() if value is not None}
    if tuned is not None:
        try:
            named["tuned"] = json.loads(tuned.read_text())
        except ValueError as error:
            raise click.UsageError(f"{tuned} is not a file of evcrisp tune: {error}") from error
    return Options(**named)


def _roots(what: str, root: Path | None) -> dict[str, Path | None]:
    """Return table -> folder of its data set; None for simulated data."""
    if what != "all":
        return {what: root}
    if root is None:
        return dict.fromkeys(TABLES)
    found: dict[str, Path | None] = {
        table: root / name for table, name in TABLES.items() if (root / name).is_dir()
    }
    missing = [name for table, name in TABLES.items() if table not in found]
    if not found:
        raise click.UsageError(f"{root} holds none of the folders emlb, dnd21 and ecd.")
    if missing:
        click.echo(f"Left out, because {root} does not hold them: {', '.join(missing)}.", err=True)
    return found


def _options_of_tables(options: "Options", roots: dict[str, Path | None]) -> "dict[str, Options]":
    """Return table -> options with the chosen methods that fit the table."""
    from evcrisp.experiments.tables import TABLES as KINDS

    each = options.for_each({name: KINDS[name] for name in roots})
    if not each:
        raise click.UsageError(f"{', '.join(roots)} cannot measure {', '.join(options.methods)}.")
    for name in roots.keys() - each.keys():
        click.echo(f"{name} has none of the methods {', '.join(options.methods)}.", err=True)
    return each


def _reproduce(name: str, out: Path, workers: "Workers", **settings: Any) -> "Reproduction":
    from evcrisp.core.messages import counted
    from evcrisp.experiments.reproduction import reproduce
    from evcrisp.experiments.tables.formats import as_markdown

    with task_progress(name) as (on_start, on_done):
        part = reproduce(name, out, workers, on_start=on_start, on_done=on_done, **settings)
    click.echo(as_markdown(part.tables))
    n_new, n = part.outcome.n_new, len(part.tasks)
    click.echo(f"{counted(n, 'task')}, {n_new} run now, {n - n_new} taken from {out}.\n")
    return part


def _print_scale(options: "Options") -> None:
    from evcrisp.experiments.methods import TABLE1, select_methods
    from evcrisp.experiments.scale import CORES, cost_lines, load_lines, throughput_hz

    methods = select_methods(TABLE1, options.methods or ("baf", "eja", "proposed", "auto"))
    rates = [(method, throughput_hz(method)) for method in methods]
    click.echo("\n".join(cost_lines(rates)))
    click.echo("\n" + "\n".join(load_lines()))
    click.echo(f"A machine has {CORES} cores, each as fast as one here; one recording is one task.")


def _print_overhead(workers: int | None, scheduler: str | None) -> None:
    import os

    from evcrisp.core.messages import counted
    from evcrisp.experiments.task_runner import overhead
    from evcrisp.pipeline.many.executors import open_workers

    n_workers = workers or os.cpu_count() or 1
    with open_workers(n_workers, scheduler) as opened:
        share = overhead(opened, n_workers)
    label = (
        counted(n_workers, "process", "processes")
        if scheduler is None
        else f"{counted(n_workers, 'worker')} of {scheduler}"
    )
    click.echo(f"{label}, tasks of 1 s: {share:.1%} more than the work alone.")
