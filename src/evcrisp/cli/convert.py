"""``evcrisp convert``: from any format that we read to any that we write."""

from pathlib import Path
from typing import Any

import click

from evcrisp.cli._options import (
    force_option,
    input_options,
    parse_settings,
    recording_argument,
    set_option,
)
from evcrisp.cli._progress import reading_progress


@click.command("convert")
@recording_argument
@click.argument("output", type=click.Path(path_type=Path))
@click.option("--to", help="Format of the output. Default: from its suffix.")
@set_option
@force_option
@input_options
def convert_command(
    recording: Path,
    output: Path,
    to: str | None,
    settings: tuple[str, ...],
    force: bool,
    format: str | None,
    resolution: tuple[int, int] | None,
    on_error: Any,
) -> None:
    """Convert RECORDING to OUTPUT, whose suffix chooses the format.

    The recording is streamed, so its size does not matter. OUTPUT appears under its name only when
    it is complete. IMU samples, triggers, frames and labels go along where the output format keeps
    them; what it does not keep is named.
    """
    from evcrisp.io.reading import open_recording
    from evcrisp.io.writing import write

    with (
        open_recording(
            recording, format=format, resolution=resolution, on_error=on_error
        ) as opened,
        reading_progress("Converting", opened) as advance,
    ):
        n_events = write(
            output,
            opened,
            format=to,
            overwrite=force,
            on_chunk=advance,
            **parse_settings(settings),
        )
    click.echo(f"Wrote {n_events:,} events to {output}.")
