"""``evcrisp convert``: from any format that we read to any that we write."""

from pathlib import Path
from typing import Any

import click

from evcrisp.cli.options import (
    force_option,
    input_options,
    parse_settings,
    recording_argument,
    set_option,
    to_option,
)
from evcrisp.cli.progress import reading_progress


@click.command("convert")
@recording_argument
@click.argument("output", type=click.Path(path_type=Path))
@to_option
@click.option(
    "--start-at-zero",
    is_flag=True,
    help="Shift time so that the first event is at 0, and IMU samples, triggers and frames with it.",
)
@set_option("an option of the output format, such as compression=zstd")
@force_option
@input_options
def convert_command(
    recording: Path,
    output: Path,
    to: str | None,
    start_at_zero: bool,
    settings: tuple[str, ...],
    force: bool,
    **opening: Any,
) -> None:
    """Convert RECORDING to OUTPUT, whose suffix chooses the format.

    The recording is streamed, so its size does not matter. OUTPUT appears under its name only when
    it is complete. IMU samples, triggers, frames and labels go along where the output format keeps
    them; what it does not keep is named.
    """
    from evcrisp.cli.time_shift import FromZero
    from evcrisp.core.messages import counted
    from evcrisp.io.atomic_output import refuse_inputs
    from evcrisp.io.reading import open_recording
    from evcrisp.io.writing import write

    refuse_inputs(output, recording)
    with (
        open_recording(recording, **opening) as opened,
        reading_progress("Converting", opened) as advance,
    ):
        shifted = FromZero(opened) if start_at_zero else None
        n_events = write(
            output,
            opened if shifted is None else shifted.chunks(),
            format=to,
            overwrite=force,
            sensor_data_from=shifted,
            on_chunk=advance,
            options=parse_settings(settings),
        )
    click.echo(f"Wrote {counted(n_events, 'event')} to {output}.")
