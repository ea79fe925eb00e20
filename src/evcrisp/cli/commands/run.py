"""``evcrisp run``: clean a recording and estimate its motion, window by window."""

import json
from pathlib import Path
from typing import Any

import click

from evcrisp.cli.camera import camera_for
from evcrisp.cli.options import (
    force_option,
    input_options,
    method_options,
    output_option,
    parse_settings,
    recording_argument,
    window_option,
)
from evcrisp.cli.progress import reading_progress
from evcrisp.cli.signals import asked_by_signal
from evcrisp.cli.types import Number


@click.command("run")
@recording_argument
@output_option("Folder for the results; made if it does not exist.", is_folder=True, required=True)
@method_options
@window_option("Length of a window, ms. Default: 30.", default=None)
@click.option("--window-events", type=click.IntRange(1, 10**9), help="Events of a window, instead.")
@click.option(
    "--displacement-px",
    type=Number(min=0, min_open=True),
    help="Motion within a window, px, instead.",
)
@click.option(
    "--overlap",
    type=Number(min=0, max=0.9),
    default=0.0,
    show_default=True,
    help="Share of a window that the next one holds again; labels are then voted on.",
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
    force: bool,
    **opening: Any,
) -> None:
    """Align and denoise RECORDING, and write the results to a folder.

    The folder gets the cleaned recording (in the format of the input where evcrisp writes it),
    labels.npz (signal, score and confidence of every event of the input), motion.csv (the motion of
    every window) and summary.json. Ctrl+C, or the end of a job (SIGTERM), ends after the windows that
    are finished, and keeps them.
    """
    from evcrisp.core.messages import counted
    from evcrisp.io.reading import open_recording
    from evcrisp.pipeline.run import run
    from evcrisp.pipeline.windowing import Windowing

    windows = Windowing(
        window_us=window_us,
        window_events=window_events,
        displacement_px=displacement_px,
        overlap=overlap,
    )
    with (
        open_recording(recording, **opening) as opened,
        asked_by_signal(f"Nothing new is in {output}.") as asked,
        reading_progress("Running", opened, "events kept") as advance,
    ):
        result = run(
            opened,
            output,
            method=method,
            motion=motion,
            camera=camera_for(camera, opened),
            windowing=windows,
            overwrite=force,
            on_chunk=advance,
            cancellation=asked.stop,
            **parse_settings(settings),
        )
    summary = result.summary
    click.echo(json.dumps(summary, indent=2))
    if summary["stopped"]:
        raise asked.stopped(
            f"Kept {counted(summary['n_windows'], 'window')} "
            f"({counted(summary['n_events'], 'event')}) in {output}. To run the whole recording, use the same command with --force."
        )
