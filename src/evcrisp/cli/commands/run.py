"""``evcrisp run``: align and denoise a recording, window by window."""

import json
from pathlib import Path
from typing import Any

import click

from evcrisp.cli import options
from evcrisp.cli.progress import reading_progress
from evcrisp.cli.signals import cancel_on_signal


@click.command("run")
@options.recording_argument
@options.output_option(
    "Folder for the results; created if it does not exist.", is_folder=True, required=True
)
@options.method_options
@options.windowing_options
@options.option(
    "--overlap",
    "Share of a window that the next one repeats; labels follow from the mean confidence.",
    options.Number(min=0, max=0.9),
    default=0.0,
)
@options.option(
    "--to",
    "Format of the cleaned recording. Default: that of the input, or aedat4 if it is not written.",
)
@options.json_option
@options.force_option
@options.input_options
def run_command(
    recording: Path,
    output: Path,
    estimation: dict[str, Any],
    to: str | None,
    as_json: bool,
    overwrite: bool,
    opening: dict[str, Any],
    **windowing: Any,
) -> None:
    """Align and denoise RECORDING, and write the results to a folder.

    The results are the cleaned recording, labels.npz (signal, score and confidence of every event
    that was read), motion.csv (the motion of every window), layers.csv (the objects of every window)
    and summary.json. IMU samples, triggers and frames are kept if the format of the cleaned recording
    can hold them. A short summary is printed; --json prints that of summary.json. After Ctrl+C or
    SIGTERM, the results of the finished windows are written.
    """
    from evcrisp.cli.run_page import run_page
    from evcrisp.core.messages import counted
    from evcrisp.io.reading import open_recording
    from evcrisp.pipeline.run import run
    from evcrisp.pipeline.windowing import Windowing

    with (
        open_recording(recording, **opening) as opened,
        cancel_on_signal(f"{output} has no new results.") as cancellation,
        reading_progress("Running", opened, "events kept") as advance,
    ):
        result = run(
            opened,
            output,
            **options.method_arguments(estimation, opened),
            windowing=Windowing(**windowing),
            to=to,
            overwrite=overwrite,
            on_chunk=advance,
            cancellation=cancellation.token,
        )
    summary = result.summary
    click.echo(json.dumps(summary, indent=2) if as_json else run_page(result))
    if summary["stopped"]:
        raise cancellation.error(
            f"Kept {counted(summary['n_windows'], 'window')} "
            f"({counted(summary['n_events'], 'event')}) in {output}. To run the whole recording, "
            "use the same command with --force."
        )
