"""``evcrisp convert``: convert a recording to another format."""

from pathlib import Path
from typing import Any

import click

from evcrisp.cli import options
from evcrisp.cli.progress import open_with_progress


@click.command("convert")
@options.recording_argument
@click.argument("output", type=click.Path(path_type=Path))
@options.to_option
@click.option(
    "--start-at-zero",
    is_flag=True,
    help="Shift the time of events, IMU samples, triggers and frames so that the first event is at 0.",
)
@options.set_option("an option of the output format, such as compression=zstd")
@options.force_option
@options.input_options
def convert_command(
    recording: Path,
    output: Path,
    to: str | None,
    start_at_zero: bool,
    settings: tuple[str, ...],
    overwrite: bool,
    opening: dict[str, Any],
) -> None:
    """Convert RECORDING to OUTPUT; the suffix of OUTPUT selects the format.

    The recording is streamed, so its size is not limited by memory. OUTPUT appears when it is
    complete. IMU samples, triggers, frames and labels are kept if the output format can hold them;
    a warning names those that are left out.
    """
    from evcrisp.core.messages import counted
    from evcrisp.pipeline.convert import convert_recording

    with open_with_progress("Converting", recording, **opening) as (opened, advance):
        result = convert_recording(
            opened,
            output,
            format=to,
            start_at_zero=start_at_zero,
            overwrite=overwrite,
            on_chunk=advance,
            options=options.parse_settings(settings),
        )
    click.echo(f"Wrote {counted(result.n_events, 'event')} to {output}.")
