"""``evcrisp evaluate``: how good a recording is, or what a denoiser made of it."""

import json
import math
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evcrisp.cli.options import (
    force_option,
    input_options,
    json_option,
    output_option,
    recording_argument,
    seed_option,
)
from evcrisp.cli.types import Milliseconds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evcrisp.pipeline.evaluation import Evaluation

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("evaluate")
@recording_argument
@click.option(
    "--raw",
    type=click.Path(exists=True, path_type=Path),
    help="The recording that RECORDING was cleaned from.",
)
@click.option(
    "--labels",
    type=_FILE,
    help="Labels of RECORDING's events, to judge what they keep: .npz with signal and perhaps score, "
    "as evcrisp run writes it, or .npy.",
)
@click.option(
    "--truth",
    type=_FILE,
    help="True labels, in the same formats, for --labels. Default: those in RECORDING, if any.",
)
@click.option(
    "--slice-events",
    type=click.IntRange(min=1),
    help="Events of a slice of the ESR. Default: 30000.",
)
@click.option(
    "--slice-ms",
    "slice_us",
    type=Milliseconds(1),
    metavar="MS",
    help="Length of a slice of the ESR, ms, instead.",
)
@click.option(
    "--aocc/--no-aocc",
    "measures_aocc",
    default=True,
    show_default=True,
    help="Measure the contrast curve, which takes most of the time.",
)
@seed_option("Seed of the random control.")
@json_option
@output_option("Also write the JSON to a file.")
@force_option
@input_options
def evaluate_command(
    recording: Path,
    raw: Path | None,
    labels: Path | None,
    truth: Path | None,
    slice_events: int | None,
    slice_us: int | None,
    measures_aocc: bool,
    seed: int,
    as_json: bool,
    output: Path | None,
    force: bool,
    format: str | None,
    resolution: tuple[int, int] | None,
    on_error: Any,
) -> None:
    """Measure RECORDING: event structural ratio, contrast curve, entropy, rate.

    With the raw recording, or with labels, the raw events and as many events drawn from them at
    random are measured beside it: a denoiser must beat the random column. Where the truth is known,
    the labels are measured against it. Recordings are streamed.
    """
    from evcrisp.io.atomic_output import refuse_inputs, replacing

    if raw is not None and labels is not None:
        raise click.UsageError("Give --raw (RECORDING is cleaned) or --labels (RECORDING is raw).")
    if truth is not None and labels is None:
        raise click.UsageError("--truth needs --labels, which it is compared with.")
    if slice_events is not None and slice_us is not None:
        raise click.UsageError("Give --slice-events or --slice-ms.")
    slices = {"slice_events": slice_events, "slice_us": slice_us}
    settings = {name: value for name, value in slices.items() if value is not None}
    settings["measures_aocc"] = measures_aocc
    if output is not None:
        refuse_inputs(output, recording, raw, labels, truth)
    opening = {"resolution": resolution, "on_error": on_error}
    names = {"recording": recording, "raw": raw, "labels": labels, "truth": truth}
    # The name of the output is checked before the work, not after it.
    with nullcontext() if output is None else replacing(output, overwrite=force) as temporary:
        result = _evaluate(recording, format, raw, labels, truth, opening, settings, seed)
        facts = {
            **{name: str(path) for name, path in names.items() if path is not None},
            "seed": seed,
            **_facts(result),
        }
        text = json.dumps(_without_nan(facts), indent=2)
        if temporary is not None:
            temporary.write_text(text + "\n")
    titles = next(iter(result.columns.values())).titles
    click.echo(text if as_json else _page(facts, titles))


def _evaluate(
    path: Path,
    format: str | None,
    raw: Path | None,
    labels: Path | None,
    truth: Path | None,
    opening: dict[str, Any],
    settings: dict[str, Any],
    seed: int,
) -> "Evaluation":
    from evcrisp.cli.progress import reading_progress
    from evcrisp.io.reading import open_recording
    from evcrisp.pipeline.evaluation import evaluate_alone, evaluate_beside, evaluate_labels

    with open_recording(path, format=format, **opening) as opened:
        if labels is not None:
            return evaluate_labels(opened, labels, truth, settings, seed, reading_progress)
        if raw is None:
            return evaluate_alone(opened, settings, reading_progress)
        with open_recording(raw, **opening) as opened_raw:
            return evaluate_beside(opened, opened_raw, settings, seed, reading_progress)


def _facts(result: "Evaluation") -> dict[str, Any]:
    columns = result.columns
    first = next(iter(columns.values()))
    facts: dict[str, Any] = {"slicing": first.esr.slicing}
    if "raw" in columns:
        raw = columns["raw"]
        facts["retention"] = first.n_events / raw.n_events if raw.n_events else math.nan
        facts["entropy_reduction_bits"] = raw.entropy_bits - first.entropy_bits
    facts["quality"] = {name: quality.as_dict() for name, quality in columns.items()}
    facts["against_truth"] = result.labels
    return facts


#: Key -> how the table names it, and how it prints it.
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


def _page(facts: dict[str, Any], titles: "Mapping[str, str]") -> str:
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
        lines[-1] += " None is complete; choose shorter ones with --slice-events or --slice-ms."
    if facts["against_truth"] is not None:
        lines.append("\nagainst the truth")
        for key, value in facts["against_truth"].items():
            form = ",d" if isinstance(value, int) else ".6f"
            lines.append(f"{key.replace('_', ' '):<20}{_number(value, form):>16}")
    return "\n".join(lines)


def _in_ms(slicing: str) -> str:
    """Return how slices are cut, with time in ms, as it was given."""
    number, _, unit = slicing.partition(" ")
    return f"{int(number) / 1000:g} ms" if unit == "us" else slicing


def _number(value: float, form: str) -> str:
    return "-" if math.isnan(value) else format(value, form)


def _without_nan(facts: Any) -> Any:
    """Return the facts with null for what is not finite, since JSON has no word for it."""
    if isinstance(facts, dict):
        return {name: _without_nan(value) for name, value in facts.items()}
    if isinstance(facts, float) and not math.isfinite(facts):
        return None
    return facts
