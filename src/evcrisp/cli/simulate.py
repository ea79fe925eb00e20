"""``evcrisp simulate``: a recording whose truth is known."""

import json
import math
from pathlib import Path
from typing import Any

import click

from evcrisp.cli._options import ResolutionType, camera_option, force_option, parse_settings
from evcrisp.cli._progress import time_progress


class NumbersType(click.ParamType):
    """Numbers separated by commas."""

    name = "NUMBERS"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, ...]:
        """Parse ``300,-120``."""
        if isinstance(value, tuple):
            return value
        try:
            return tuple(float(part) for part in str(value).split(","))
        except ValueError:
            self.fail(f"expected numbers separated by commas; got {value!r}.", param, ctx)


@click.command("simulate")
@click.argument("output", type=click.Path(path_type=Path))
@click.option(
    "--texture", default="shapes", show_default=True, help="Texture's name, or an image file."
)
@click.option("--motion", default="translation", show_default=True, help="Motion model.")
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
@click.option("--duration-ms", type=float, default=100.0, show_default=True, help="Length, ms.")
@click.option("--noise-hz", type=float, help="Uniform noise, Hz per pixel. Default: 0.")
@click.option(
    "--noise-share", type=float, help="Uniform noise as a share of the signal. Default: 0."
)
@click.option("--noise", help="Noise preset of a sensor: none, light or dark.")
@click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same bytes.")
@click.option("--to", help="Format of the output. Default: from its suffix.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set any other setting, such as c_on=0.3, leak_hz=0.1, hot_pixels=20. May be repeated.",
)
@force_option
def simulate_command(
    output: Path,
    duration_ms: float,
    to: str | None,
    settings: tuple[str, ...],
    force: bool,
    **named: Any,
) -> None:
    """Simulate a textured plane that moves before an event camera, and write it to OUTPUT.

    Labels (signal or noise) are kept by NPZ, HDF5, CSV and numpy columns. The true motion per
    window, the gyroscope and all settings go to a JSON file beside it, OUTPUT.truth.json.
    """
    from evcrisp.camera import Camera
    from evcrisp.io._writing import replacing
    from evcrisp.io.writing import write
    from evcrisp.simulation import simulate_chunks, simulate_truth
    from evcrisp.simulation.overrides import build_config

    chosen = {name: value for name, value in named.items() if value is not None}
    if "camera" in chosen:
        chosen["camera"] = Camera.from_file(chosen["camera"])
    if not math.isfinite(duration_ms):
        raise click.BadParameter(
            f"expected a number of ms; got {duration_ms}.", param_hint="--duration-ms"
        )
    duration_us = round(duration_ms * 1000)
    config = build_config(None, {**chosen, "duration_us": duration_us, **parse_settings(settings)})
    truth = simulate_truth(config)
    beside = output.with_name(f"{output.name}.truth.json")
    with (
        replacing(beside, overwrite=force) as temporary,
        time_progress("Simulating", config.t_start_us, config.duration_us) as advance,
    ):
        n_events = write(
            output,
            simulate_chunks(config),
            format=to,
            overwrite=force,
            imu=truth.imu,
            on_chunk=advance,
        )
        temporary.write_text(json.dumps(truth.as_dict()) + "\n")
    click.echo(f"Wrote {n_events:,} events to {output}, and their truth to {beside}.")
