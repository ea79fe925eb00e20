"""``evcrisp flow``: write the flow of every window of a recording to files."""

from pathlib import Path
from typing import Any

import click

from evcrisp.cli import options
from evcrisp.cli.progress import reading_progress
from evcrisp.cli.signals import cancel_on_signal


@click.command("flow")
@options.recording_argument
@options.output_option(
    "Folder for the files; created if it does not exist.", is_folder=True, required=True
)
@options.option(
    "--to flow_format",
    "Format of the flow files: npz (velocity; lossless), flo (Middlebury) or png (DSEC), both with "
    "the displacement over the window.",
    click.Choice(["npz", "flo", "png"]),
    default="npz",
)
@options.method_options
@options.windowing_options
@options.option(
    "--overlap",
    "Share of a window that the next one repeats.",
    options.Number(min=0, max=0.9),
    default=0.0,
)
@options.force_option
@options.input_options
def flow_command(
    recording: Path,
    output: Path,
    flow_format: str,
    estimation: dict[str, Any],
    overwrite: bool,
    opening: dict[str, Any],
    **windowing: Any,
) -> None:
    """Estimate the flow of every window of RECORDING, and write it to a folder.

    The results are flow-000000.npz and so on, one file per window, and flow.csv: time, share of valid
    pixels, mean speed, status and warnings of every window. After Ctrl+C or SIGTERM, the files of the
    finished windows are written.
    """
    from evcrisp.core.messages import counted
    from evcrisp.io.reading import open_recording
    from evcrisp.pipeline.flow_files import write_flow_files
    from evcrisp.pipeline.windowing import Windowing

    with (
        open_recording(recording, **opening) as opened,
        cancel_on_signal(f"{output} has no new files.") as cancellation,
        reading_progress("Estimating", opened) as advance,
    ):
        result = write_flow_files(
            opened,
            output,
            format=flow_format,
            **options.method_arguments(estimation, opened),
            windowing=Windowing(**windowing),
            overwrite=overwrite,
            on_chunk=advance,
            cancellation=cancellation.token,
        )
    files = counted(len(result.files), "flow file")
    if result.is_cut:
        raise cancellation.error(
            f"Kept {files} in {output}. For the whole recording, use the same command with --force."
        )
    click.echo(f"Wrote {files} and {result.table.name} to {output}.")
