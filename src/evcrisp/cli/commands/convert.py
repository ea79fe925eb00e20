"""``evcrisp convert``: convert a recording to another format."""

from pathlib import Path
from typing import Any, cast

import click

from evcrisp.cli import options
from evcrisp.cli.batch_progress import batch_progress
from evcrisp.cli.progress import open_with_progress


@click.command("convert")
@options.inputs_and_output_argument("a file per recording, with its name, in the format --to.")
@options.batch_options
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
    recordings: tuple[Path, ...],
    output: Path | None,
    batch: dict[str, Any],
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

    Several RECORDINGS (files, folders with recordings, patterns) are converted side by side to the
    folder --output. summary.json there has totals and failures, which do not stop the others; the
    exit code is 1 then. Complete files with the same settings are kept, so that the same command
    continues after Ctrl+C; --force converts them again.
    """
    from evcrisp.core.messages import counted
    from evcrisp.pipeline.convert import convert_recording

    pair = options.only_pair(recordings, output, batch)
    if pair is None and output is not None:
        chosen = {"to": to, "start_at_zero": start_at_zero, "opening": opening, **batch}
        _convert_many(recordings, output, settings, overwrite=overwrite, **chosen)
        return
    recording, target = cast(tuple[Path, Path], pair)

    with open_with_progress("Converting", recording, **opening) as (opened, advance):
        result = convert_recording(
            opened,
            target,
            format=to,
            start_at_zero=start_at_zero,
            overwrite=overwrite,
            on_chunk=advance,
            options=options.parse_settings(settings),
        )
    click.echo(f"Wrote {counted(result.n_events, 'event')} to {target}.")


def _convert_many(
    recordings: tuple[Path, ...],
    output: Path,
    settings: tuple[str, ...],
    *,
    to: str | None,
    **chosen: Any,
) -> None:
    from evcrisp.cli.batch_page import event_rows, print_batch
    from evcrisp.pipeline.many.convert_many import convert_many

    if to is None:
        raise click.UsageError(
            "Several recordings need the output format: --to, such as --to aedat4."
        )
    written = options.parse_settings(settings)
    with batch_progress("Converting", output) as callbacks:
        result = convert_many(recordings, output, to, options=written, **callbacks, **chosen)
    print_batch(result, output, event_rows)
