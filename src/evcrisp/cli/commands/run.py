"""``evcrisp run``: align and denoise a recording, window by window."""

import json
from pathlib import Path
from typing import Any

import click

from evcrisp.cli.options import (
    force_option,
    input_options,
    load_camera,
    method_options,
    output_option,
    parse_settings,
    recording_argument,
    window_option,
)
from evcrisp.cli.progress import reading_progress
from evcrisp.cli.signals import cancel_on_signal
from evcrisp.cli.types import Number


@click.command("run")
@recording_argument
@output_option(
    "Folder for the results; created if it does not exist.", is_folder=True, required=True
)
@method_options
@window_option("Length of a window, ms. Default: 30.", default=None)
@click.option(
    "--window-events",
    type=click.IntRange(1, 10**9),
    help="Number of events per window (instead of --window-ms).",
)
@click.option(
    "--displacement-px",
    type=Number(min=0, min_open=True),
    help="Displacement of the image within a window, px (instead of --window-ms); the length of "
    "a window follows from the motion of the previous one.",
)
@click.option(
    "--overlap",
    type=Number(min=0, max=0.9),
    default=0.0,
    show_default=True,
    help="Share of a window that the next one repeats; the label is the majority of the windows.",
)
@force_option
@input_options
def run_command(
    recording: Path,
    output: Path,
    method: str,
    motion: str,
    camera: Path | None,
    settings: tuple[str, ...],
    window_us: int | None,
    window_events: int | None,
    displacement_px: float | None,
    overlap: float,
    overwrite: bool,
    **opening: Any,
) -> None:
    """Align and denoise RECORDING, and write the results to a folder.

    The results are the cleaned recording (in the format of the input, or .npz), labels.npz (signal,
    score and confidence of every event of the input), motion.csv (the motion of every window) and
    summary.json. After Ctrl+C or SIGTERM, the results of the finished windows are written.
    """
    from evcrisp.core.messages import counted
    from evcrisp.io.reading import open_recording
    from evcrisp.pipeline.run import run
    from evcrisp.pipeline.windowing import Windowing

    windowing = Windowing(
        window_us=window_us,
        window_events=window_events,
        displacement_px=displacement_px,
        overlap=overlap,
    )
    with (
        open_recording(recording, **opening) as opened,
        cancel_on_signal(f"{output} has no new results.") as cancellation,
        reading_progress("Running", opened, "events kept") as advance,
    ):
        result = run(
            opened,
            output,
            method=method,
            motion=motion,
            camera=load_camera(camera, opened),
            windowing=windowing,
            overwrite=overwrite,
            on_chunk=advance,
            cancellation=cancellation.token,
            **parse_settings(settings),
        )
    summary = result.summary
    click.echo(json.dumps(summary, indent=2))
    if summary["stopped"]:
        raise cancellation.error(
            f"Kept {counted(summary['n_windows'], 'window')} "
            f"({counted(summary['n_events'], 'event')}) in {output}. To run the whole recording, "
            "use the same command with --force."
        )
