"""``evcrisp reproduce``: the tables of the paper, from its data sets or from simulated twins."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evcrisp.cli.options import refuse_unused, seed_option
from evcrisp.cli.progress import task_progress
from evcrisp.cli.signals import message_when_stopped
from evcrisp.cli.tasks import max_events_option, noise_option, pool_options
from evcrisp.cli.types import Milliseconds

if TYPE_CHECKING:
    from evcrisp.experiments.executors import Pool
    from evcrisp.experiments.reproduction import Reproduced
    from evcrisp.experiments.tables import Options

TABLES = {"table1": "emlb", "table2": "dnd21", "table3": "ecd"}

_ALL = (*TABLES, "all")

#: Option -> what takes it, where that is not everything.
_TAKEN_BY = {
    "slice_events": ("table1", "all"),
    "noise": ("table2", "all"),
    "tuned": ("table2", "all"),
    "window_events": ("table3", "all"),
    "imu_offset_us": ("table3", "all"),
    "methods": (*_ALL, "scale"),
    "workers": (*_ALL, "overhead"),
    "scheduler": (*_ALL, "overhead"),
    **dict.fromkeys(
        ("root", "out", "small", "gpu_methods", "retry_failed", "max_events", "seed"), _ALL
    ),
}


def _words(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> tuple[str, ...]:
    return tuple(word.strip() for word in (value or "").split(",") if word.strip())


@click.command("reproduce")
@click.argument("what", type=click.Choice([*TABLES, "all", "scale", "overhead"]))
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The data set; for all: a folder that holds emlb, dnd21 and ecd. Default: simulated twins.",
)
@click.option(
    "--out",
    "-o",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("reproduced"),
    show_default=True,
    help="Folder for tables and results; a run that was ended goes on there.",
)
@click.option("--small", is_flag=True, help="Without --root: small twins, for a first look.")
@click.option(
    "--methods", callback=_words, metavar="A,B,...", help="Rows of the table. Default: all."
)
@pool_options
@click.option(
    "--gpu-methods",
    callback=_words,
    metavar="A,B,...",
    help="Methods that only workers with the resource GPU get.",
)
@click.option("--retry-failed", is_flag=True, help="Run again what failed earlier.")
@max_events_option
@click.option(
    "--slice-events",
    type=click.IntRange(min=1),
    help="Table 1: slices of the ESR. Default: 30000.",
)
@noise_option
@click.option(
    "--tuned",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Table 2: hyper-parameters as evcrisp tune writes them.",
)
@click.option(
    "--window-events",
    type=click.IntRange(min=1),
    help="Table 3: events of a window. Default: 30000.",
)
@click.option(
    "--imu-offset-ms",
    "imu_offset_us",
    type=Milliseconds(),
    metavar="MS",
    default=0.0,
    show_default=True,
    help="Table 3: read the gyroscope at the middle of a window plus this.",
)
@seed_option("Noise, controls, bootstrap.")
@click.pass_context
def reproduce_command(
    context: click.Context,
    what: str,
    root: Path | None,
    out: Path,
    small: bool,
    workers: int | None,
    scheduler: str | None,
    retry_failed: bool,
    **chosen: Any,
) -> None:
    """Make the paper's tables again, with its numbers beside ours.

    table1: structural ratio on E-MLB. table2: labels on DND21 with noise. table3: angular velocity
    on ECD. all: the three, and a report in one HTML file. scale: what large data sets cost, from the
    throughput of this machine. overhead: what it costs to hand out tasks of a second.

    Every table is written to the output folder as Markdown, CSV, JSON and LaTeX. One recording with
    one method is one task; its result is a file named by input, settings and version, so that a run
    that was killed goes on where it was. The exit code is 1 if tasks failed; failures.log has them.
    """
    from evcrisp.core.messages import counted
    from evcrisp.experiments.executors import open_pool

    _refuse_what_is_not_taken(context, what, root)
    options = _options(chosen)
    if what == "scale":
        _print_scale(options)
        return
    if what == "overhead":
        _print_overhead(workers, scheduler)
        return
    roots = _roots(what, root)
    each = _shared_out(options, roots)
    out.mkdir(parents=True, exist_ok=True)
    with message_when_stopped(f"Results so far are in {out}; the same command goes on there."):
        with open_pool(workers, scheduler) as pool:
            parts = [
                _reproduced(name, roots[name], out, pool, chosen_here, small, retry_failed)
                for name, chosen_here in each.items()
            ]
        if what == "all":
            _report(out, parts, options)
    n_failed = sum(len(part.outcome.failures) for part in parts)
    if n_failed:
        raise click.ClickException(
            f"{counted(n_failed, 'task')} failed; see {out / 'failures.log'}. --retry-failed runs "
            f"{'it' if n_failed == 1 else 'them'} again."
        )


def _refuse_what_is_not_taken(context: click.Context, what: str, root: Path | None) -> None:
    """Complain of an option that would do nothing."""
    for name, takers in _TAKEN_BY.items():
        if what not in takers:
            refuse_unused(context, [name], f"is not for {what}, only for {', '.join(takers)}.")
    if root is not None:
        refuse_unused(context, ["small"], "is not for --root: it is about simulated twins.")


def _report(out: Path, parts: "list[Reproduced]", options: "Options") -> None:
    from evcrisp.experiments.figures import report_figures
    from evcrisp.experiments.interactive import report_page
    from evcrisp.experiments.report import write_report

    figures, page = report_figures(parts, out / "figures"), report_page(parts)
    write_report(out / "report.html", parts, options, figures, page)
    click.echo(f"The report is {out / 'report.html'}.")


def _options(chosen: dict[str, Any]) -> "Options":
    from evcrisp.experiments.tables import Options

    tuned = chosen.pop("tuned")
    named = {name: value for name, value in chosen.items() if value is not None}
    if tuned is not None:
        try:
            named["tuned"] = json.loads(tuned.read_text())
        except ValueError as error:
            raise click.UsageError(f"{tuned} is not what evcrisp tune writes: {error}") from error
    return Options(**named)


def _roots(what: str, root: Path | None) -> dict[str, Path | None]:
    """Return table -> data set; None for a twin."""
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
        click.echo(f"Left out, since {root} does not hold them: {', '.join(missing)}.", err=True)
    return found


def _shared_out(options: "Options", roots: dict[str, Path | None]) -> "dict[str, Options]":
    """Return table -> options with those of the chosen methods that the table has."""
    from evcrisp.experiments.tables import TABLES as KINDS

    each = options.for_each({name: KINDS[name].methods(options) for name in roots})
    for name in roots.keys() - each.keys():
        click.echo(f"{name} has none of the methods {', '.join(options.methods)}.", err=True)
    return each


def _reproduced(
    name: str,
    root: Path | None,
    out: Path,
    pool: "Pool",
    options: "Options",
    small: bool,
    retry_failed: bool,
) -> "Reproduced":
    from evcrisp.core.messages import counted
    from evcrisp.experiments.reproduction import reproduce
    from evcrisp.experiments.tables.formats import as_markdown

    with task_progress(name) as (on_start, on_done):
        part = reproduce(
            name,
            out,
            pool,
            root=root,
            small=small,
            options=options,
            retry_failed=retry_failed,
            on_start=on_start,
            on_done=on_done,
        )
    click.echo(as_markdown(part.tables))
    n_new, n = part.outcome.n_new, len(part.tasks)
    click.echo(f"{counted(n, 'task')}, {n_new} run now, {n - n_new} taken from {out}.\n")
    return part


def _print_scale(options: "Options") -> None:
    from evcrisp.experiments.methods import TABLE1, chosen
    from evcrisp.experiments.scale import CORES, cost_lines, load_lines, throughput_hz

    methods = chosen(TABLE1, options.methods or ("baf", "eja", "proposed", "auto"))
    rates = [(method, throughput_hz(method)) for method in methods]
    click.echo("\n".join(cost_lines(rates)))
    click.echo("\n" + "\n".join(load_lines()))
    click.echo(f"A machine has {CORES} cores, each as fast as one here; one recording is one task.")


def _print_overhead(workers: int | None, scheduler: str | None) -> None:
    import os

    from evcrisp.core.messages import counted
    from evcrisp.experiments.executors import open_pool
    from evcrisp.experiments.overhead import overhead

    n_workers = workers or os.cpu_count() or 1
    with open_pool(n_workers, scheduler) as pool:
        share = overhead(pool, n_workers)
    who = (
        counted(n_workers, "process", "processes")
        if scheduler is None
        else f"{counted(n_workers, 'worker')} of {scheduler}"
    )
    click.echo(f"{who}, tasks of 1 s: {share:.1%} more than the work alone.")
