"""``evcrisp pareto``: print the trade-off between alignment and denoising of one window."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evcrisp.cli import options
from evcrisp.cli.progress import work_progress

if TYPE_CHECKING:
    from evcrisp.estimators.joint.pareto import ParetoFront


@click.command("pareto")
@options.recording_argument
@options.model_option
@options.camera_option
@options.start_option
@options.window_option("Length of the window, ms.")
@options.points_option("Number of points of the front.")
@options.set_option("a parameter of the method `exact`; beta_hat is 1 here by default")
@options.output_option("File for the JSON. Default: standard output.")
@options.force_option
@options.input_options
def pareto_command(
    recording: Path,
    motion: str,
    camera: options.CameraFile | None,
    window_start_us: int,
    window_us: int,
    settings: tuple[str, ...],
    output: Path | None,
    overwrite: bool,
    opening: dict[str, Any],
    **front_options: Any,
) -> None:
    """Print the Pareto front of one window of RECORDING as JSON.

    Every point has its motion, both objectives, both regrets and the number of kept events. The
    regrets are distances from the ideal point, which has the best value of each cost; regret_index is
    the compromise, where the larger regret is smallest. With --set b_hat=... or b_ea=..., they are
    distances from these baselines, and regret_index is the solution of the method exact.
    """
    from evcrisp.core.messages import counted
    from evcrisp.io.atomic_output import refuse_inputs, replacing
    from evcrisp.io.reading import open_recording
    from evcrisp.pipeline.camera_motion.recorded_camera import camera_for
    from evcrisp.pipeline.figure_data import FigureSource, read_window

    if output is not None:
        refuse_inputs(output, recording, options.camera_path(camera))
    # Before the work: an invalid output name is reported first.
    with nullcontext() if output is None else replacing(output, overwrite=overwrite) as temporary:
        with open_recording(recording, **opening) as opened:
            _, window = read_window(opened, window_start_us, window_us)
            lens = options.load_camera(camera, opened, motion)
            lens = camera_for(opened, motion, lens)
        params = options.parse_settings(settings)
        source = FigureSource(motion=motion, camera=lens, params=params, **front_options)
        with work_progress(f"Tracing {counted(source.n_points, 'point')}") as on_share:
            front = source.front(window, on_share=on_share)
        text = json.dumps(_as_dict(front), indent=2)
        if temporary is not None:
            temporary.write_text(text + "\n")
    if output is None:
        click.echo(text)
    else:
        click.echo(f"Wrote {counted(len(front.points), 'point')} to {output}.")


def _as_dict(front: "ParetoFront") -> dict[str, Any]:
    """Return the front as JSON types."""
    motion = front.problem.data.warp.model
    columns = ("lam", "f_ea", "f_ed", "cost_ea", "cost_ed")
    return {
        "param_names": list(motion.param_names),
        "param_units": list(motion.param_units),
        "status": front.status.name.lower(),
        "regret_index": front.regret_index,
        "ideal": {"cost_ea": front.ideal[0], "cost_ed": front.ideal[1]},
        "nadir": {"cost_ea": front.nadir[0], "cost_ed": front.nadir[1]},
        "baseline": {"cost_ea": front.baseline[0], "cost_ed": front.baseline[1]},
        "b_ea": front.problem.terms.baseline_ea,
        "is_compromise": front.is_compromise,
        "points": [
            {
                "theta": point.theta.tolist(),
                **{name: getattr(point, name) for name in columns},
                "regret_ea": float(regret_ea),
                "regret_ed": float(regret_ed),
                "n_signal": int(point.signal.sum()),
                "n_events": point.signal.size,
            }
            for point, (regret_ea, regret_ed) in zip(front.points, front.regrets, strict=True)
        ],
    }
