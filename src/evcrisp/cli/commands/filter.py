"""``evcrisp filter``: denoise a recording event by event, without knowing its motion."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evcrisp.cli.options import (
    force_option,
    input_options,
    parse_settings,
    recording_argument,
    set_option,
    to_option,
)
from evcrisp.cli.progress import Advance, reading_progress
from evcrisp.cli.types import OutputFile

if TYPE_CHECKING:
    from evcrisp.core.events import Events
    from evcrisp.filters import Denoiser, Labels
    from evcrisp.io.arrays.npz import NpzPacker
    from evcrisp.io.recording import Recording


@click.command("filter")
@recording_argument
@click.argument("output", type=click.Path(path_type=Path))
@click.option(
    "--method",
    "-m",
    default="baf",
    show_default=True,
    help="Filter; `evcrisp filters` lists them.",
)
@click.option("--preset", help="Parameters of another implementation, such as emlb.")
@set_option("a parameter of the filter, such as tau_us=2000")
@click.option(
    "--labels",
    "labels_path",
    type=OutputFile(".npz"),
    metavar="FILE.npz",
    help="Also write signal (true = kept) and score of every event of the input.",
)
@to_option
@force_option
@input_options
def filter_command(
    recording: Path,
    output: Path,
    method: str,
    preset: str | None,
    settings: tuple[str, ...],
    labels_path: Path | None,
    to: str | None,
    force: bool,
    **opening: Any,
) -> None:
    """Write the events of RECORDING that a filter keeps to OUTPUT, whose suffix chooses the format.

    The recording is streamed, so its size does not matter. OUTPUT appears under its name only when
    it is complete. IMU samples, triggers and frames go along where the output format keeps them.
    """
    from evcrisp.filters import denoiser
    from evcrisp.io.atomic_output import refuse_inputs, replacing
    from evcrisp.io.reading import open_recording
    from evcrisp.io.writing import fill, writer_for

    writer = writer_for(output, to)
    config = denoiser(method, preset, parse_settings(settings))
    if labels_path is not None and labels_path.resolve() == output.resolve():
        raise click.UsageError(f"--labels must name another file than the output; got {output}.")
    for path in (output, labels_path):
        if path is not None:
            refuse_inputs(path, recording)
    with ExitStack() as stack:
        opened = stack.enter_context(open_recording(recording, **opening))
        advance = stack.enter_context(reading_progress("Filtering", opened))
        labels = None if labels_path is None else _packer(labels_path, force, stack)
        temporary = stack.enter_context(replacing(output, overwrite=force))
        count = _Count()
        kept = _kept(opened, config, count, labels, advance)
        fill(temporary, writer, kept, sensor_data_from=opened)
        if labels is not None:
            labels.pack({})
    click.echo(count.sentence(output, labels_path))


@dataclass(slots=True)
class _Count:
    n_events: int = 0
    n_kept: int = 0

    def sentence(self, output: Path, labels: Path | None) -> str:
        from evcrisp.core.messages import counted

        n_dropped = self.n_events - self.n_kept
        shares = (
            f" ({n / self.n_events:.1%})" if self.n_events else "" for n in (self.n_kept, n_dropped)
        )
        kept, dropped = shares
        return (
            f"Kept {self.n_kept:,}{kept} of {counted(self.n_events, 'event')}, dropped "
            f"{n_dropped:,}{dropped}. Wrote {output}{'' if labels is None else f' and {labels}'}."
        )


def _packer(path: Path, force: bool, stack: ExitStack) -> "NpzPacker":
    """Return an archive of labels that appears when the stack ends well."""
    from evcrisp.io.arrays.npz import NpzPacker
    from evcrisp.io.atomic_output import replacing

    packer = NpzPacker(stack.enter_context(replacing(path, overwrite=force)))
    stack.callback(packer.remove)
    return packer


def _kept(
    recording: "Recording",
    config: "Denoiser",
    count: _Count,
    packer: "NpzPacker | None",
    advance: Advance,
) -> "Iterator[Events]":
    from evcrisp.core.events import Events
    from evcrisp.filters import Labels, denoise_chunks

    _note(packer, Labels.room(0))
    for events, labels in denoise_chunks(recording.chunks(), config):
        count.n_events += len(events)
        kept = labels.kept(events)
        count.n_kept += len(kept)
        _note(packer, labels)
        advance(events)
        yield kept
    if not count.n_events:
        yield Events.empty(recording.resolution)


def _note(packer: "NpzPacker | None", labels: "Labels") -> None:
    if packer is not None:
        packer.append({"signal": labels.signal, "score": labels.score})
