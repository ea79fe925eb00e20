"""``evcrisp filter``: denoise a recording event by event."""

from pathlib import Path
from typing import Any, cast

import click

from evcrisp.cli import options
from evcrisp.cli.batch_progress import batch_progress
from evcrisp.cli.progress import open_with_progress


@click.command("filter")
@options.inputs_and_output_argument("a folder per recording, with its name.")
@options.batch_options
@options.option("--method -m", "Filter; `evcrisp filters` lists them.", default="baf")
@options.option(
    "--preset",
    "Preset of the filter, such as emlb, which reproduces another program. Default: none.",
)
@options.set_option("a parameter of the filter, such as tau_us=2000")
@options.option(
    "--labels",
    "Also write signal (true = kept) and score of every event of the input to a file.",
    options.OutputFile(".npz"),
    metavar="FILE.npz",
)
@options.to_option
@options.device_option
@options.force_option
@options.input_options
def filter_command(
    recordings: tuple[Path, ...],
    output: Path | None,
    batch: dict[str, Any],
    method: str,
    preset: str | None,
    settings: tuple[str, ...],
    labels: Path | None,
    to: str | None,
    overwrite: bool,
    device: str | None,
    opening: dict[str, Any],
) -> None:
    """Write the events of RECORDING that a filter keeps to OUTPUT; its suffix selects the format.

    The recording is streamed, so its size is not limited by memory. OUTPUT appears when it is
    complete. IMU samples, triggers and frames are kept if the output format can hold them.

    Several RECORDINGS (files, folders with recordings, patterns) are filtered side by side to the folder
    --output, as AEDAT4 unless --to names another format, with labels.npz beside each if --labels is
    given (its name is not used). summary.json there has totals and failures, which do not stop the
    others; the exit code is 1 then. Complete results with the same settings are kept, so that the same
    command continues after Ctrl+C; --force computes them again.
    """
    from evcrisp.core.messages import counted
    from evcrisp.filters import build_filter
    from evcrisp.pipeline.filter_recording import filter_recording

    options.refuse_method(method)
    config = build_filter(method, preset, device, **options.parse_settings(settings))
    pair = options.only_pair(recordings, output, batch)
    if pair is None and output is not None:
        chosen: dict[str, Any] = {} if to is None else {"to": to}
        chosen |= {
            "labels": labels is not None,
            "overwrite": overwrite,
            "opening": opening,
            **batch,
        }
        _filter_many(recordings, output, config, **chosen)
        return
    recording, target = cast(tuple[Path, Path], pair)
    with open_with_progress("Filtering", recording, **opening) as (opened, advance):
        result = filter_recording(
            opened, target, config, labels=labels, format=to, overwrite=overwrite, on_chunk=advance
        )
    n, n_kept = result.n_events, result.n_kept
    kept, dropped = (f"{k:,} ({k / n:.1%})" if n else f"{k:,}" for k in (n_kept, n - n_kept))
    files = target if labels is None else f"{target} and {labels}"
    click.echo(f"Kept {kept} of {counted(n, 'event')}, dropped {dropped}. Wrote {files}.")


def _filter_many(recordings: tuple[Path, ...], output: Path, config: Any, **chosen: Any) -> None:
    from evcrisp.cli.batch_page import event_rows, print_batch
    from evcrisp.pipeline.many.filter_many import filter_many

    with batch_progress("Filtering", output) as callbacks:
        result = filter_many(recordings, output, config, **callbacks, **chosen)
    print_batch(result, output, event_rows)
