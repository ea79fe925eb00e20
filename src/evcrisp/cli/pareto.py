"""``evcrisp pareto``: the whole trade-off between alignment and denoising of one window."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evcrisp.cli._options import (
    camera_option,
    force_option,
    input_options,
    parse_settings,
    recording_argument,
)
from evcrisp.cli._times import microseconds

if TYPE_CHECKING:
    from evcrisp.estimators.pareto import ParetoFront


@click.command("pareto")
@recording_argument
@click.option("--motion", default="translation", show_default=True, help="Motion model.")
@camera_option
@click.option(
    "--start-ms",
    type=float,
    default=0.0,
    show_default=True,
    help="Start after the first event, ms.",
)
@click.option(
    "--window-ms", type=float, default=30.0, show_default=True, help="Length of the window, ms."
)
@click.option("--points", type=int, default=21, show_default=True, help="Points of the sweep.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a parameter of the method. May be repeated.",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File for the JSON. Default: standard output.",
)
@force_option
@input_options
def pareto_command(
    recording: Path,
    motion: str,
    camera: Path | None,
    start_ms: float,
    window_ms: float,
    points: int,
    settings: tuple[str, ...],
    output: Path | None,
    force: bool,
    format: str | None,
    resolution: tuple[int, int] | None,
    on_error: Any,
) -> None:
    """Print the Pareto front of one window of RECORDING as JSON.

    Every point has its motion, both objectives and how many events it keeps; the point that the
    regret selects is marked, with the ideal and the nadir point.
    """
    from evcrisp.camera import Camera
    from evcrisp.estimators.estimate import model_for
    from evcrisp.estimators.exact import ExactRegret
    from evcrisp.estimators.pareto import pareto_front
    from evcrisp.io._writing import replacing
    from evcrisp.io.reading import open_recording
    from evcrisp.registry import configured
    from evcrisp.windows import window_at

    config = configured({"exact": ExactRegret}, "exact", "method", parse_settings(settings))
    with open_recording(
        recording, format=format, resolution=resolution, on_error=on_error
    ) as opened:
        window = window_at(
            opened.chunks(),
            microseconds(start_ms, "--start-ms"),
            microseconds(window_ms, "--window-ms"),
        )
        size = opened.resolution
    model = model_for(motion, size, None if camera is None else Camera.from_file(camera))
    front = pareto_front(window, model, config, n_points=points)
    text = json.dumps(_as_dict(front), indent=2)
    if output is None:
        click.echo(text)
        return
    with replacing(output, overwrite=force) as temporary:
        temporary.write_text(text + "\n")
    click.echo(f"Wrote {len(front.points)} points to {output}.")


def _as_dict(front: "ParetoFront") -> dict[str, Any]:
    """Return the front as JSON types."""
    motion = front.problem.data.warp.model
    return {
        "param_names": list(motion.param_names),
        "param_units": list(motion.param_units),
        "status": front.status.name.lower(),
        "regret_index": front.regret_index,
        "ideal": {"cost_ea": front.ideal[0], "cost_ed": front.ideal[1]},
        "nadir": {"cost_ea": front.nadir[0], "cost_ed": front.nadir[1]},
        "points": [
            {
                "theta": point.theta.tolist(),
                "lam": point.lam,
                "f_ea": point.f_ea,
                "f_ed": point.f_ed,
                "cost_ea": point.cost_ea,
                "cost_ed": point.cost_ed,
                "n_signal": int(point.signal.sum()),
                "n_events": point.signal.size,
            }
            for point in front.points
        ],
    }
