"""``evcrisp run``: align and denoise a recording, window by window."""

import json
from pathlib import Path
from typing import Any

import click

from evcrisp.cli import options
from evcrisp.cli.batch_progress import batch_progress
from evcrisp.cli.progress import reading_progress
from evcrisp.cli.signals import cancel_on_signal


@click.command("run")
@options.recordings_argument
@options.output_option(
    "Folder for the results; created if it does not exist.", is_folder=True, required=True
)
@options.batch_options
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
    "Format of the cleaned recording, or the suffix of its file. Default: that of the input, or aedat4 "
    "if it is not written.",
)
@options.device_option
@options.deterministic_option
@options.json_option
@options.force_option
@options.input_options
def run_command(
    recordings: tuple[Path, ...],
    output: Path,
    batch: dict[str, Any],
    estimation: dict[str, Any],
    as_json: bool,
    opening: dict[str, Any],
    to: str | None,
    overwrite: bool,
    device: str | None,
    deterministic: bool,
    **windowing: Any,
) -> None:
    """Align and denoise recordings, and write the results to a folder.

    The results are the cleaned recording, labels.npz (signal, score and confidence of every event
    that was read), motion.csv (the motion of every window), layers.csv (the objects of every window)
    and summary.json. IMU samples, triggers and frames are kept if the format of the cleaned recording
    can hold them. A short summary is printed; --json prints that of summary.json. After Ctrl+C or
    SIGTERM, the results of the finished windows are written.

    Several RECORDINGS (files, folders with recordings, patterns), or --jobs: they are processed side by
    side. Each has a folder below the output folder, and summary.json there has totals, doubts and
    failures. Failures do not stop the others; the exit code is 1 then. Complete results with the same
    settings are kept, so that the same command continues after Ctrl+C; --force computes them again.
    """
    from evcrisp.pipeline.windowing import Windowing

    chosen = {
        "windowing": Windowing(**windowing),
        "to": to,
        "overwrite": overwrite,
        "device": device,
        "deterministic": deterministic,
    }
    recording = options.only_recording(recordings, batch)
    if recording is None:
        _run_many(recordings, output, estimation, as_json, opening=opening, **batch, **chosen)
    else:
        _run_one(recording, output, estimation, as_json, opening, **chosen)


def _run_one(
    recording: Path,
    output: Path,
    estimation: dict[str, Any],
    as_json: bool,
    opening: dict[str, Any],
    **chosen: Any,
) -> None:
    from evcrisp.cli.run_page import run_page
    from evcrisp.core.messages import counted
    from evcrisp.io.reading import open_recording
    from evcrisp.pipeline.run import run

    with (
        open_recording(recording, **opening) as opened,
        cancel_on_signal(f"{output} has no new results.") as cancellation,
        reading_progress("Running", opened, "events kept") as advance,
    ):
        result = run(
            opened,
            output,
            **options.method_arguments(estimation, opened),
            on_chunk=advance,
            cancellation=cancellation.token,
            **chosen,
        )
    summary = result.summary
    click.echo(json.dumps(summary, indent=2) if as_json else run_page(result))
    if summary["stopped"]:
        raise cancellation.error(
            f"Kept {counted(summary['n_windows'], 'window')} "
            f"({counted(summary['n_events'], 'event')}) in {output}. To run the whole recording, "
            "use the same command with --force."
        )


def _run_many(
    recordings: tuple[Path, ...],
    output: Path,
    estimation: dict[str, Any],
    as_json: bool,
    **chosen: Any,
) -> None:
    from evcrisp.cli.batch_page import print_batch
    from evcrisp.cli.run_page import batch_rows
    from evcrisp.pipeline.many.run_many import run_many

    options.refuse_filter(estimation["method"])
    with batch_progress("Running", output) as callbacks:
        result = run_many(
            recordings,
            output,
            method=estimation["method"],
            motion=estimation["motion"],
            camera=options.read_camera(estimation["camera"]),
            **options.parse_settings(estimation["settings"]),
            **callbacks,
            **chosen,
        )
    print_batch(result, output, batch_rows, as_json=as_json)
