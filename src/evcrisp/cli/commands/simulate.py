"""``evcrisp simulate``: simulate a recording with known motion and labels."""

import json
from pathlib import Path
from typing import Any

import click

from evcrisp.cli import options
from evcrisp.cli.progress import time_progress


@click.command("simulate")
@click.argument("output", type=click.Path(path_type=Path))
@options.option("--texture", "Name of a texture, or an image file.", default="shapes")
@options.model_option
@options.option(
    "--theta",
    "Parameters of the motion, such as 300,-120 (px/s) for a translation. Default: a moderate motion.",
    options.NumbersType(),
)
@options.option(
    "--trajectory", "Change of the motion with time: constant, sine or random.", default="constant"
)
@options.option(
    "--object-theta",
    "Parameters of the motion of an object in front. Default: no object.",
    options.NumbersType(),
)
@options.option(
    "--object object_texts",
    "An object that moves, turns and grows: 'theta=200,-50,3,0.5 center=0.3,0.4 size=0.2,0.3'. Theta "
    "is vx, vy (px/s), turn (rad/s) and growth (1/s); center and size are shares of the view. Also "
    "motion, pivot, field, texture, outline (ellipse, rectangle, patches). Can be repeated, the "
    "farthest first.",
    multiple=True,
    metavar="KEY=VALUE...",
)
@options.option(
    "--field",
    "Velocity field of the background instead of --theta: NAMES. Parameters follow the name: 'vortex "
    "peak_px_s=300'.",
    metavar="NAME",
    registry="evcrisp.simulation:FIELDS",
)
@options.camera_option
@options.option(
    "--resolution",
    "Width and height of the sensor, px.",
    options.ResolutionType(),
    default="346x260",
    metavar="WxH",
)
@options.option(
    "--duration-ms duration_us",
    "Length of the recording, ms.",
    options.Milliseconds(1, 600_000_000),
    default=100.0,
    metavar="MS",
)
@options.option(
    "--noise-hz uniform_hz",
    "Rate of uniform noise, Hz per pixel. Default: 0.",
    options.Number(0, 1e4),
)
@options.option(
    "--noise-share uniform_share",
    "Number of uniform noise events divided by signal events. Default: 0.",
    options.Number(0, 1e3),
)
@options.option(
    "--noise-measured measured",
    "Folder with noise measured on a sensor, noise_pos_<lux>.npy and noise_neg_<lux>.npy; with several "
    "illuminations, also --set measured_lux=0.1.",
    click.Path(exists=True, path_type=Path),
    metavar="DIR",
)
@options.option("--noise", "Noise preset of a sensor: none, light or dark. Default: none.")
@options.seed_option("Seed; the same seed gives the same bytes.")
@options.to_option
@options.set_option("another setting, such as c_on=0.3, leak_hz=0.1, hot_pixels=20")
@options.force_option
@click.pass_context
def simulate_command(
    context: click.Context,
    output: Path,
    to: str | None,
    settings: tuple[str, ...],
    overwrite: bool,
    object_texts: tuple[str, ...],
    **named: Any,
) -> None:
    """Simulate textured layers that move in front of an event camera, and write them to OUTPUT.

    The formats npz, dsec, csv and columns keep the labels (signal or noise). The true motion per
    window, the gyroscope samples and all settings are written to OUTPUT.truth.json.
    """
    from evcrisp.core.messages import counted
    from evcrisp.io.atomic_output import refuse_inputs, replacing, withdrawing
    from evcrisp.io.writing import fill, writer_for
    from evcrisp.simulation import simulate_chunks, simulate_truth
    from evcrisp.simulation.settings import build_config

    writer = writer_for(output, to)
    truth_path = output.with_name(f"{output.name}.truth.json")
    for path in (output, truth_path):
        refuse_inputs(path, options.camera_path(named["camera"]), Path(named["texture"]))
    chosen = {name: value for name, value in named.items() if value is not None}
    if "camera" in chosen:
        chosen["camera"] = options.load_camera(chosen["camera"], chosen["resolution"])
    if object_texts:
        chosen["objects"] = tuple(_object(text) for text in object_texts)
    if "field" in chosen:
        chosen["field"] = _field(chosen["field"])
    more = options.parse_settings(settings)
    _refuse_duplicates(context, more)
    config = build_config(None, {**chosen, **more})
    truth = simulate_truth(config)
    with (
        replacing(truth_path, overwrite=overwrite) as new_truth,
        replacing(output, overwrite=overwrite) as new_events,
        withdrawing(truth_path, overwrite=overwrite),
        time_progress("Simulating", config.t_start_us, config.duration_us) as advance,
    ):
        new_truth.write_text(json.dumps(truth.as_dict()) + "\n")
        n_events = fill(
            new_events,
            writer,
            simulate_chunks(config),
            # The truth file has the gyroscope samples too, so no warning is needed.
            imu=truth.imu if "imu" in writer.keeps else None,
            on_chunk=advance,
        )
    click.echo(f"Wrote {counted(n_events, 'event')} to {output}, and the truth to {truth_path}.")


def _object(text: str) -> Any:
    """Return the object of ``theta=200,-50,3,0.5 center=0.3,0.4``, a similarity by default."""
    from evcrisp.core.registry import build
    from evcrisp.simulation import ObjectConfig

    values = _parse_words("--object", text.split())
    if "field" in values:
        values["field"] = _field(str(values["field"]).replace(":", " "))
    else:
        values.setdefault("motion", "similarity")
    return build({"object": ObjectConfig}, "object", "part of the scene", **values)


def _field(text: str) -> Any:
    """Return the field of ``vortex peak_px_s=300``."""
    from evcrisp.core.registry import build
    from evcrisp.simulation import FIELDS

    name, *words = text.split() or [""]
    return build(FIELDS, name, "velocity field", **_parse_words("--field", words))


def _parse_words(option: str, words: list[str]) -> dict[str, Any]:
    """Parse ``KEY=VALUE`` words; numbers separated by commas become a tuple."""
    found: dict[str, Any] = {}
    for word in words:
        key, separator, value = word.partition("=")
        if not separator:
            raise click.UsageError(
                f"{option} expects KEY=VALUE, separated by spaces; got {word!r}."
            )
        if key in found:
            raise click.UsageError(f"{option} has {key!r} twice.")
        found[key] = _parse_value(value)
    return found


def _parse_value(value: str) -> Any:
    if "," in value:
        return options.NumbersType().convert(value, None, None)
    return options.parse_settings([f"value={value}"])["value"]


def _refuse_duplicates(context: click.Context, settings: dict[str, Any]) -> None:
    """Raise if an option and --set give the same setting."""
    from evcrisp.simulation.settings import SETTINGS

    for key in settings:
        names = [name for name, place in SETTINGS.items() if place == SETTINGS.get(key)]
        options.refuse_unused(
            context, names, f"and --set {key} are the same setting; give one of them."
        )
