"""``evcrisp evaluate``: measure the quality of a recording, or of the labels of a filter."""

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evcrisp.cli import options
from evcrisp.cli.batch_progress import batch_progress
from evcrisp.cli.part_page import paragraph
from evcrisp.cli.progress import reading_progress
from evcrisp.cli.run_page import doubt_lines
from evcrisp.core.messages import counted
from evcrisp.pipeline.json_numbers import without_nan

if TYPE_CHECKING:
    from evcrisp.io.recording import Recording

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("evaluate")
@options.recordings_argument
@options.batch_options
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
@options.option(
    "--motion",
    "Also estimate the motion of every window, and measure how it sharpens the events (FWL). A "
    "rotation is compared with the gyroscope, if there is one. auto, or a model: NAMES. Default: none.",
    registry=options.MOTION_MODELS,
)
@options.option(
    "--method -m", "Method for --motion: NAMES.", default="auto", registry=options.METHODS
)
@options.camera_option
@options.auto_window_option(
    "Length of a window for --motion, ms, or auto: it ends when the image has moved. Default: auto."
)
@options.json_option
@options.option(
    "--output -o",
    "Also write the JSON to this file; of several recordings, to files in this folder.",
    click.Path(path_type=Path),
)
@options.force_option
@options.input_options
@click.pass_context
def evaluate_command(
    context: click.Context,
    recordings: tuple[Path, ...],
    batch: dict[str, Any],
    raw: Path | None,
    labels: Path | None,
    truth: Path | None,
    seed: int,
    motion: str | None,
    method: str,
    camera: options.CameraFile | None,
    window_us: int | None,
    as_json: bool,
    output: Path | None,
    overwrite: bool,
    opening: dict[str, Any],
    **settings: Any,
) -> None:
    """Measure a recording: event structural ratio (ESR), contrast curve, entropy, event rate.

    With --raw or --labels, the raw events and a random control are measured too. The control has as
    many raw events as are kept, drawn at random: a filter must exceed its numbers. If true labels
    are known, the labels are compared with them. Recordings are streamed. With --raw, both are cut
    at the same times: --start counts from the first raw event. A cleaned recording of the size of --roi
    is one of that region. --stream is that of the raw recording.

    With --motion rotation, the estimated angular velocity is compared with the gyroscope: correlation,
    scale and error per axis, in the axes of the camera where those of the IMU are known.

    Several RECORDINGS (files, folders with recordings, patterns), or --jobs, need the folder --output:
    they are measured side by side, without --raw, --labels and --motion. Each has a JSON file there, and
    summary.json has all measures and their means. Failures do not stop the others; the exit code is 1
    then. Complete files with the same settings are kept; --force measures again.
    """
    from evcrisp.io.atomic_output import refuse_inputs, replacing
    from evcrisp.io.reading import open_recording
    from evcrisp.pipeline.evaluation import evaluate

    recording = options.only_recording(recordings, batch)
    if recording is None:
        options.refuse_unused(context, _OF_ONE, "is for one recording.")
        chosen = {"overwrite": overwrite, "opening": opening, **batch, **settings}
        _evaluate_many(recordings, output, as_json, **chosen)
        return
    if motion is None:
        options.refuse_unused(context, ("method", "camera", "window_us"), "needs --motion.")
    else:
        _check_names(method, motion)
    raw_opening: dict[str, Any] = {**opening, "format": None}
    paths = {"recording": recording, "raw": raw, "labels": labels, "truth": truth}
    with ExitStack() as stack:
        temporary = None
        if output is not None:
            refuse_inputs(output, *paths.values(), options.camera_path(camera))
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
        if motion is not None:
            facts["motion"] = _motion_facts(measured, method, motion, camera, window_us)
        text = json.dumps(without_nan(facts), indent=2)
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


#: Parameters that do not apply to several recordings.
_OF_ONE = ("raw", "labels", "truth", "seed", "motion", "method", "camera", "window_us")


def _evaluate_many(
    recordings: tuple[Path, ...], output: Path | None, as_json: bool, **chosen: Any
) -> None:
    from evcrisp.cli.batch_page import print_batch
    from evcrisp.pipeline.many.evaluate_many import evaluate_many

    if output is None:
        raise click.UsageError(
            "Several recordings need a folder for their measures: --output FOLDER."
        )
    with batch_progress("Measuring", output) as callbacks:
        result = evaluate_many(recordings, output, **callbacks, **chosen)
    print_batch(result, output, _mean_rows, as_json=as_json)


def _check_names(method: str, motion: str) -> None:
    """Raise if a name is unknown, before the recording is read."""
    from evcrisp.core.registry import lookup
    from evcrisp.estimators.registry import ESTIMATORS
    from evcrisp.motion import MOTION_MODELS
    from evcrisp.motion.open_motion import OPEN_MOTIONS

    options.refuse_filter(method)
    lookup(ESTIMATORS, method, "method")
    lookup({**dict.fromkeys(OPEN_MOTIONS), **MOTION_MODELS}, motion, "motion")


def _motion_facts(
    recording: "Recording",
    method: str,
    motion: str,
    camera: options.CameraFile | None,
    window_us: int | None,
) -> dict[str, Any]:
    """Return the measures of the motion as JSON types."""
    from evcrisp.pipeline.camera_motion.motion_evaluation import evaluate_motion
    from evcrisp.pipeline.windowing import Windowing

    lens = options.load_camera(camera, recording, motion)
    windowing = Windowing(window_us=window_us)
    with reading_progress("Aligning", recording) as advance:
        found = evaluate_motion(
            recording, method, motion, lens, windowing=windowing, on_chunk=advance
        )
    return {"method": method, "motion": motion, **found.as_dict()}


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


def _mean_rows(totals: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the number of events, and the means of the measures over recordings."""
    yield "events", f"{totals['n_events']:,}"
    for key, value in totals.items():
        name, form = _ROWS.get(key, (key, ".6g"))
        if key != "n_events":
            yield name, f"{_number(value, form.replace(',d', ',.6g'))} (mean)"


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
    return "\n".join([*lines, *_motion_lines(facts.get("motion"))])


#: Key -> name of a row of the comparison with a gyroscope.
_AXIS_ROWS = {
    "correlation": "correlation",
    "scale": "scale",
    "offset": "offset rad/s",
    "rms": "RMS error rad/s",
    "truth_std": "gyroscope std rad/s",
}

#: Least standard deviation of a gyroscope for a correlation and a scale, rad/s; below it, they are those
#: of its noise.
_LEAST_STD = 0.02


def _motion_lines(facts: dict[str, Any] | None) -> list[str]:
    """Return the lines about the motion."""
    if facts is None:
        return []
    windows = counted(facts["n_windows"], "window")
    lines = [
        f"\nmotion {facts['motion']}, method {facts['method']}: {windows}, "
        f"{facts['n_with_motion']:,} with a motion, {facts['n_reliable']:,} reliable",
        *doubt_lines(facts["doubts"], facts["n_windows"]),
        f"{'FWL mean':<20}{_number(facts['fwl_mean'], '.4f'):>16}",
        f"{'FWL median':<20}{_number(facts['fwl_median'], '.4f'):>16}",
    ]
    tables = [facts[key] for key in ("gyroscope", "gyroscope_reliable") if facts[key]]
    for table, title in zip(tables, ("window", "reliable window"), strict=False):
        if table["n"]:
            lines += _axis_lines(table, counted(table["n"], title))
    text = facts["compared"]
    if any(std < _LEAST_STD for table in tables if table["n"] for std in table["truth_std"]):
        text += (
            f" Where the gyroscope varies by less than {_LEAST_STD:g} rad/s over the windows, correlation, "
            "scale and offset are left out: they would be those of its noise."
        )
    return [*lines, "", paragraph(text)]


def _axis_lines(table: dict[str, Any], title: str) -> list[str]:
    """Return a table of the axes; numbers that mean nothing are left out."""
    lines = [f"\n{f'gyroscope, {title}':<36}{'x':>12}{'y':>12}{'z':>12}"]
    for key, name in _AXIS_ROWS.items():
        values = [
            math.nan if key in ("correlation", "scale", "offset") and std < _LEAST_STD else value
            for value, std in zip(table[key], table["truth_std"], strict=True)
        ]
        lines.append(f"{name:<36}" + "".join(f"{_number(v, '.4f'):>12}" for v in values))
    return lines


def _in_ms(slicing: str) -> str:
    """Return the size of slices with times in ms, as in the option."""
    number, _, unit = slicing.partition(" ")
    return f"{int(number) / 1000:g} ms" if unit == "us" else slicing


def _number(value: float, form: str) -> str:
    return "-" if math.isnan(value) else format(value, form)
