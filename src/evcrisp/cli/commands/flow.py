"""``evcrisp flow``: write the flow of every window of a recording to files."""

from pathlib import Path
from typing import Any

import click

from evcrisp.cli import options
from evcrisp.cli.batch_progress import batch_progress
from evcrisp.cli.progress import reading_progress
from evcrisp.cli.signals import cancel_on_signal


@click.command("flow")
@options.recordings_argument
@options.output_option(
    "Folder for the files; created if it does not exist.", is_folder=True, required=True
)
@options.batch_options
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
@options.device_option
@options.deterministic_option
@options.force_option
@options.input_options
def flow_command(
    recordings: tuple[Path, ...],
    output: Path,
    batch: dict[str, Any],
    flow_format: str,
    estimation: dict[str, Any],
    overwrite: bool,
    opening: dict[str, Any],
    device: str | None,
    deterministic: bool,
    **windowing: Any,
) -> None:
    """Estimate the flow of every window of a recording, and write it to a folder.

    The results are flow-000000.npz and so on, one file per window, and flow.csv: time, share of valid
    pixels, mean speed, status and warnings of every window. After Ctrl+C or SIGTERM, the files of the
    finished windows are written.

    Several RECORDINGS (files, folders with recordings, patterns), or --jobs: they are processed side by
    side, and each has a folder below the output folder; see `evcrisp run`.
    """
    from evcrisp.core.messages import counted
    from evcrisp.io.reading import open_recording
    from evcrisp.pipeline.flow_files import write_flow_files
    from evcrisp.pipeline.windowing import Windowing

    chosen = {
        "format": flow_format,
        "windowing": Windowing(**windowing),
        "overwrite": overwrite,
        "device": device,
        "deterministic": deterministic,
    }
    recording = options.only_recording(recordings, batch)
    if recording is None:
        _flow_many(recordings, output, estimation, opening=opening, **chosen, **batch)
        return
    with (
        open_recording(recording, **opening) as opened,
        cancel_on_signal(f"{output} has no new files.") as cancellation,
        reading_progress("Estimating", opened) as advance,
    ):
        result = write_flow_files(
            opened,
            output,
            **options.method_arguments(estimation, opened),
            **chosen,
            on_chunk=advance,
            cancellation=cancellation.token,
        )
    files = counted(len(result.files), "flow file")
    if result.is_cut:
        raise cancellation.error(
            f"Kept {files} in {output}. For the whole recording, use the same command with --force."
        )
    click.echo(f"Wrote {files} and {result.table.name} to {output}.")


def _flow_many(
    recordings: tuple[Path, ...], output: Path, estimation: dict[str, Any], **chosen: Any
) -> None:
    from evcrisp.cli.batch_page import print_batch, window_rows
    from evcrisp.pipeline.many.flow_many import flow_many

    options.refuse_filter(estimation["method"])
    with batch_progress("Estimating", output) as callbacks:
        result = flow_many(
            recordings,
            output,
            method=estimation["method"],
            motion=estimation["motion"],
            camera=options.read_camera(estimation["camera"]),
            params=options.parse_settings(estimation["settings"]),
            **callbacks,
            **chosen,
        )
    print_batch(result, output, window_rows)
