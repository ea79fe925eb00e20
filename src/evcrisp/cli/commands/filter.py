"""``evcrisp filter``: denoise a recording event by event."""

from pathlib import Path
from typing import Any

import click

from evcrisp.cli import options
from evcrisp.cli.progress import open_with_progress


@click.command("filter")
@options.recording_argument
@click.argument("output", type=click.Path(path_type=Path))
@options.option("--method -m", "Filter; `evcrisp filters` lists them.", default="baf")
@options.option(
    "--preset",
    "Preset of the filter, such as emlb, which reproduces another program. Default: none.",
)
@options.set_option("a parameter of the filter, such as tau_us=2000")
@options.option(
    "--labels",
    "Also write signal (true = kept) and score of every event of the input to a file.",
    options.OutputFile(".npz"),
    metavar="FILE.npz",
)
@options.to_option
@options.force_option
@options.input_options
def filter_command(
    recording: Path,
    output: Path,
    method: str,
    preset: str | None,
    settings: tuple[str, ...],
    labels: Path | None,
    to: str | None,
    overwrite: bool,
    opening: dict[str, Any],
) -> None:
    """Write the events of RECORDING that a filter keeps to OUTPUT; its suffix selects the format.

    The recording is streamed, so its size is not limited by memory. OUTPUT appears when it is
    complete. IMU samples, triggers and frames are kept if the output format can hold them.
    """
    from evcrisp.core.messages import counted
    from evcrisp.filters import build_filter
    from evcrisp.pipeline.filter_recording import filter_recording

    options.refuse_method(method)
    config = build_filter(method, preset, **options.parse_settings(settings))
    with open_with_progress("Filtering", recording, **opening) as (opened, advance):
        result = filter_recording(
            opened, output, config, labels=labels, format=to, overwrite=overwrite, on_chunk=advance
        )
    n, n_kept = result.n_events, result.n_kept
    kept, dropped = (f"{k:,} ({k / n:.1%})" if n else f"{k:,}" for k in (n_kept, n - n_kept))
    files = output if labels is None else f"{output} and {labels}"
    click.echo(f"Kept {kept} of {counted(n, 'event')}, dropped {dropped}. Wrote {files}.")
