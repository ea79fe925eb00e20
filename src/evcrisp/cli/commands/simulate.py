"""``evcrisp simulate``: a recording whose truth is known."""

import json
from pathlib import Path
from typing import Any

import click

from evcrisp.cli.camera import camera_for
from evcrisp.cli.option_checks import refuse_unused
from evcrisp.cli.options import (
    camera_option,
    force_option,
    motion_option,
    parse_settings,
    seed_option,
    set_option,
    to_option,
)
from evcrisp.cli.progress import time_progress
from evcrisp.cli.types import Milliseconds, Number, NumbersType, ResolutionType


@click.command("simulate")
@click.argument("output", type=click.Path(path_type=Path))
@click.option(
    "--texture", default="shapes", show_default=True, help="Texture's name, or an image file."
)
@motion_option
@click.option(
    "--theta", type=NumbersType(), help="Parameters of the motion, such as 300,-120 px/s."
)
@click.option(
    "--trajectory",
    default="constant",
    show_default=True,
    help="How the motion changes with time: constant, sine or random.",
)
@click.option(
    "--object-theta", type=NumbersType(), help="Motion of an object in front. Default: none."
)
@camera_option
@click.option(
    "--resolution",
    type=ResolutionType(),
    metavar="WxH",
    default="346x260",
    show_default=True,
    help="Sensor size, px.",
)
@click.option(
    "--duration-ms",
    "duration_us",
    type=Milliseconds(1, 600_000_000),
    metavar="MS",
    default=100.0,
    show_default=True,
    help="Length, ms.",
)
@click.option("--noise-hz", type=Number(0, 1e4), help="Uniform noise, Hz per pixel. Default: 0.")
@click.option(
    "--noise-share",
    type=Number(0, 1e3),
    help="Uniform noise as a share of the signal. Default: 0.",
)
@click.option("--noise", help="Noise preset of a sensor: none, light or dark.")
@seed_option("Same seed, same bytes.")
@to_option
@set_option("any other setting, such as c_on=0.3, leak_hz=0.1, hot_pixels=20")
@force_option
@click.pass_context
def simulate_command(
    context: click.Context,
    output: Path,
    to: str | None,
    settings: tuple[str, ...],
    force: bool,
    **named: Any,
) -> None:
    """Simulate a textured plane that moves before an event camera, and write it to OUTPUT.

    Labels (signal or noise) are kept by NPZ, HDF5, CSV and numpy columns. The true motion per
    window, the gyroscope and all settings go to a JSON file beside it, OUTPUT.truth.json.
    """
    from evcrisp.core.messages import counted
    from evcrisp.io.atomic_output import refuse_inputs, replacing
    from evcrisp.io.writing import write, writer_for
    from evcrisp.simulation import simulate_chunks, simulate_truth
    from evcrisp.simulation.overrides import build_config

    writer = writer_for(output, to)
    beside = output.with_name(f"{output.name}.truth.json")
    for path in (output, beside):
        refuse_inputs(path, named["camera"], Path(named["texture"]))
    chosen = {name: value for name, value in named.items() if value is not None}
    if "camera" in chosen:
        chosen["camera"] = camera_for(chosen["camera"], chosen["resolution"])
    more = parse_settings(settings)
    _refuse_twice(context, more)
    config = build_config(None, {**chosen, **more})
    truth = simulate_truth(config)
    with (
        replacing(beside, overwrite=force) as temporary,
        time_progress("Simulating", config.t_start_us, config.duration_us) as advance,
    ):
        temporary.write_text(json.dumps(truth.as_dict()) + "\n")
        n_events = write(
            output,
            simulate_chunks(config),
            format=to,
            overwrite=force,
            # The truth beside it has the gyroscope in any case, so that nothing is lost.
            imu=truth.imu if writer.keeps_sensor_data else None,
            on_chunk=advance,
        )
    click.echo(f"Wrote {counted(n_events, 'event')} to {output}, and their truth to {beside}.")


def _refuse_twice(context: click.Context, settings: dict[str, Any]) -> None:
    """Complain of a setting that both an option and --set give, perhaps by another name."""
    from evcrisp.simulation.overrides import SETTINGS

    for key in settings:
        names = [name for name, place in SETTINGS.items() if place == SETTINGS.get(key)]
        refuse_unused(context, names, f"and --set {key} are the same setting; give one of them.")
