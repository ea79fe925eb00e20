"""``evcrisp run``: clean a recording and estimate its motion, window by window."""

import json
from pathlib import Path
from typing import Any

import click

from evcrisp.cli._options import (
    force_option,
    input_options,
    method_options,
    parse_settings,
    recording_argument,
)
from evcrisp.cli._progress import reading_progress
from evcrisp.cli._times import microseconds


@click.command("run")
@recording_argument
@click.option(
    "--output",
    "-o",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the results; made if it does not exist.",
)
@method_options
@click.option("--window-ms", type=float, help="Length of a window, ms. Default: 30.")
@click.option("--window-events", type=int, help="Events of a window, instead.")
@click.option("--displacement-px", type=float, help="Motion within a window, px, instead.")
@click.option(
    "--overlap",
    type=float,
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
    window_ms: float | None,
    window_events: int | None,
    displacement_px: float | None,
    overlap: float,
    force: bool,
    format: str | None,
    resolution: tuple[int, int] | None,
    on_error: Any,
) -> None:
    """Align and denoise RECORDING, and write the results to a folder.

    The folder gets the cleaned recording (in the format of the input where evcrisp writes it),
    labels.npz (signal, score and confidence of every event of the input), motion.csv (the motion of
    every window) and summary.json.
    """
    from evcrisp.camera import Camera
    from evcrisp.io.reading import open_recording
    from evcrisp.outputs import run_to_folder
    from evcrisp.tracking import Windows

    windows = Windows(
        window_us=None if window_ms is None else microseconds(window_ms, "--window-ms"),
        window_events=window_events,
        displacement_px=displacement_px,
        overlap=overlap,
    )
    with (
        open_recording(
            recording, format=format, resolution=resolution, on_error=on_error
        ) as opened,
        reading_progress("Running", opened) as advance,
    ):
        summary = run_to_folder(
            opened,
            output,
            method=method,
            motion=motion,
            camera=None if camera is None else Camera.from_file(camera),
            windows=windows,
            overwrite=force,
            on_chunk=advance,
            **parse_settings(settings),
        )
    click.echo(json.dumps(summary, indent=2))
