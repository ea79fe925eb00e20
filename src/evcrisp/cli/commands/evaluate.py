"""``evcrisp evaluate``: measure the quality of a recording, or of the labels of a filter."""

import json
import math
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evcrisp.cli import options
from evcrisp.cli.progress import reading_progress

if TYPE_CHECKING:
    from evcrisp.io.recording import Recording

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("evaluate")
@options.recording_argument
@options.option(
    "--raw",
    "The recording from which RECORDING was cleaned.",
    click.Path(exists=True, path_type=Path),
)
@options.option(
    "--labels",
    "Labels of the events of RECORDING: .npz with signal (and score), as evcrisp run and evcrisp "
    "filter write it, or .npy. The events that they keep are measured.",
    _FILE,
)
@options.option(
    "--truth",
    "True labels in the same formats, to compare --labels with. Default: those in RECORDING.",
    _FILE,
)
@options.option(
    "--slice-events",
    "Number of events per slice of the ESR. Default: 30000.",
    click.IntRange(min=1),
)
@options.option(
    "--slice-ms slice_us",
    "Length of a slice of the ESR, ms (instead of --slice-events).",
    options.Milliseconds(1),
    metavar="MS",
)
@options.option(
    "--aocc/--no-aocc measures_aocc",
    "Measure the area of the contrast curve (AOCC), which takes most of the time.",
    default=True,
)
@options.seed_option("Seed of the random control.")
@options.json_option
@options.output_option("Also write the JSON to this file.")
@options.force_option
@options.input_options
def evaluate_command(
    recording: Path,
    raw: Path | None,
    labels: Path | None,
    truth: Path | None,
    seed: int,
    as_json: bool,
    output: Path | None,
    overwrite: bool,
    opening: dict[str, Any],
    **settings: Any,
) -> None:
    """Measure RECORDING: event structural ratio (ESR), contrast curve, entropy, event rate.

    With --raw or --labels, the raw events and a random control are measured too. The control has as
    many raw events as are kept, drawn at random: a filter must exceed its numbers. If true labels
    are known, the labels are compared with them. Recordings are streamed. With --raw, both are cut
    at the same times: --start counts from the first raw event. A cleaned recording of the size of --roi
    is one of that region. --stream is that of the raw recording.
    """
    from evcrisp.io.atomic_output import refuse_inputs, replacing
    from evcrisp.io.reading import open_recording
    from evcrisp.pipeline.evaluation import evaluate

    raw_opening: dict[str, Any] = {**opening, "format": None}
    paths = {"recording": recording, "raw": raw, "labels": labels, "truth": truth}
    with ExitStack() as stack:
        temporary = None
        if output is not None:
            refuse_inputs(output, *paths.values())
            # Before the work: an invalid output name is reported first.
            temporary = stack.enter_context(replacing(output, overwrite=overwrite))
        base = None if raw is None else stack.enter_context(open_recording(raw, **raw_opening))
        measured = stack.enter_context(_open_measured(recording, opening, base))
        result = evaluate(
            measured,
            base,
            labels,
            truth,
            seed=seed,
            progress=reading_progress,
            **settings,
        )
        facts = {
            **{name: str(path) for name, path in paths.items() if path is not None},
            "seed": seed,
            **result.as_dict(),
        }
        text = json.dumps(_without_nan(facts), indent=2)
        if temporary is not None:
            temporary.write_text(text + "\n")
    titles = next(iter(result.quality.values())).titles
    click.echo(text if as_json else _page(facts, titles))


def _open_measured(path: Path, opening: dict[str, Any], raw: "Recording | None") -> "Recording":
    """Open the recording to measure, cut as the raw one, or with the size of its region already."""
    from evcrisp.io.reading import open_recording

    if raw is None:
        return open_recording(path, **opening)
    own: dict[str, Any] = {**opening, "stream": None}
    uncut: dict[str, Any] = {**own, "roi": None}
    recording = open_recording(path, **uncut)
    if raw.cut.roi is not None and recording.sensor_size != raw.resolution:
        recording.close()
        recording = open_recording(path, **own)
    recording.count_from(raw)
    return recording


#: Key -> name and number format in the table.
_ROWS = {
    "n_events": ("events", ",d"),
    "duration_s": ("duration s", ".6f"),
    "rate_hz": ("rate /s", ",.0f"),
    "esr": ("ESR", ".6f"),
    "esr_v2": ("ESR V2", ".6f"),
    "n_slices": ("slices", ",d"),
    "ntss": ("NTSS", ".4e"),
    "l_n": ("L_N", ",.1f"),
    "occupied_px": ("occupied px", ",.1f"),
    "aocc": ("AOCC", ",.0f"),
    "entropy_bits": ("entropy bits", ".4f"),
}


def _page(facts: dict[str, Any], titles: Mapping[str, str]) -> str:
    columns: dict[str, dict[str, Any]] = facts["quality"]
    lines = ["".join([f"{'':<20}", *(f"{name:>16}" for name in columns)])]
    own_rows = {key: (title, ".6g") for key, title in titles.items()}
    for key, (name, form) in (_ROWS | own_rows).items():
        values = (_number(column[key], form) for column in columns.values())
        lines.append("".join([f"{name:<20}", *(f"{value:>16}" for value in values)]))
    lines.append(f"\nESR over slices of {_in_ms(facts['slicing'])}.")
    if "retention" in facts:
        lines[-1] += f" Kept {facts['retention']:.2%} of the raw events."
    if not any(column["n_slices"] for column in columns.values()):
        lines[-1] += " No slice is complete; choose shorter ones with --slice-events or --slice-ms."
    if facts["against_truth"] is not None:
        lines.append("\nagainst the truth")
        for key, value in facts["against_truth"].items():
            form = ",d" if isinstance(value, int) else ".6f"
            lines.append(f"{key.replace('_', ' '):<20}{_number(value, form):>16}")
    return "\n".join(lines)


def _in_ms(slicing: str) -> str:
    """Return the size of slices with times in ms, as in the option."""
    number, _, unit = slicing.partition(" ")
    return f"{int(number) / 1000:g} ms" if unit == "us" else slicing


def _number(value: float, form: str) -> str:
    return "-" if math.isnan(value) else format(value, form)


def _without_nan(facts: Any) -> Any:
    """Replace numbers that are not finite by None, because JSON has none of them."""
    if isinstance(facts, dict):
        return {name: _without_nan(value) for name, value in facts.items()}
    if isinstance(facts, float) and not math.isfinite(facts):
        return None
    return facts
