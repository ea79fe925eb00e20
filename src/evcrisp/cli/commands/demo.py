"""``evcrisp demo``: align and denoise a simulated scene."""

import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from evcrisp.cli import options

if TYPE_CHECKING:
    from evcrisp.estimators.result import Estimate
    from evcrisp.simulation import Simulation

#: Methods in the table.
METHODS = ("baf+cmax", "eja", "exact", "auto")
WINDOW_US = 30_000


@click.command("demo")
@options.option(
    "--noise-hz", "Rate of uniform noise, Hz per pixel.", options.Number(0, 500), default=5.0
)
@options.seed_option("Seed of the scene.")
@options.option(
    "--picture",
    "Also save a picture (.png, .pdf, .svg) of the noisy, cleaned and aligned events. Needs the "
    "extra 'plot'.",
    click.Path(dir_okay=False, path_type=Path),
)
@options.option(
    "--save",
    "Also write the scene with its true labels, for `evcrisp view`.",
    click.Path(dir_okay=False, path_type=Path),
)
@options.force_option
def demo_command(
    noise_hz: float, seed: int, picture: Path | None, save: Path | None, overwrite: bool
) -> None:
    """Simulate a noisy scene, align and denoise it with several methods, and print their accuracy."""
    from evcrisp.core.registry import require
    from evcrisp.io.atomic_output import replacing
    from evcrisp.io.writing import fill, writer_for
    from evcrisp.plots import picture_kind
    from evcrisp.simulation import simulate

    # Before the work: errors of the outputs are reported first.
    if picture is not None:
        require("matplotlib", extra="plot", purpose="Figures")
        picture_kind(picture)
    writer = None if save is None else writer_for(save)
    with ExitStack() as stack:
        new_picture, new_scene = (
            None if path is None else stack.enter_context(replacing(path, overwrite=overwrite))
            for path in (picture, save)
        )
        scene = simulate(duration_us=WINDOW_US, window_us=WINDOW_US, noise_hz=noise_hz, seed=seed)
        result = _print_table(scene)
        if new_picture is not None:
            _save_picture(new_picture, scene, result)
        if new_scene is not None and writer is not None:
            fill(new_scene, writer, scene.events)
    if picture is not None:
        click.echo(f"\nSaved {picture}.")
    saving = "" if save is not None else "evcrisp demo --save scene.npz, then "
    click.echo(f"\nView it in the browser: {saving}evcrisp view {save or 'scene.npz'}")


def _print_table(scene: "Simulation") -> "Estimate":
    """Print a line per method, and return the estimate of the last one."""
    from evcrisp.core.windows import Window
    from evcrisp.estimators.estimate import estimate

    window = Window(scene.events, 0, WINDOW_US)
    click.echo(_scene_line(scene))
    click.echo(
        f"\n{'method':<10}{'kept':>8}{'sensitivity':>13}{'specificity':>13}{'AUC':>8}"
        f"{'motion error px':>17}{'ms':>9}"
    )
    click.echo(_row(scene, "raw", None, 0.0))
    result = estimate(window, METHODS[0])
    for name in METHODS:
        estimate(window, name)  # compile before the clock runs
        start = time.perf_counter()
        result = estimate(window, name)
        click.echo(_row(scene, name, result, 1e3 * (time.perf_counter() - start)))
    return result


def _scene_line(scene: "Simulation") -> str:
    from evcrisp.core.messages import counted

    events = scene.events
    velocity = ", ".join(f"{v:.0f}" for v in scene.theta(0, WINDOW_US))
    noise = 1.0 - float((scene.origin == 0).mean())
    return (
        f"Scene: {counted(len(events), 'event')} in {WINDOW_US / 1e3:.0f} ms on {events.width} x "
        f"{events.height} px, moving at ({velocity}) px/s; {noise:.0%} of the events are noise."
    )


def _row(scene: "Simulation", name: str, result: "Estimate | None", elapsed_ms: float) -> str:
    """Return a line of the table; for the raw events without a result."""
    from evcrisp.metrics import rank_auc, sensitivity, specificity
    from evcrisp.simulation import Origin

    truth = scene.origin == Origin.SIGNAL
    signal = np.ones(truth.size, np.bool_) if result is None else result.signal
    score = np.ones(truth.size) if result is None else result.score
    theta = np.zeros(2) if result is None else result.theta
    return (
        f"{name:<10}{signal.sum():>8,}{sensitivity(signal, truth):>13.3f}"
        f"{specificity(signal, truth):>13.3f}{rank_auc(score, truth):>8.3f}"
        f"{scene.warp_error_px(theta, 0, WINDOW_US):>17.3f}{elapsed_ms:>9.1f}"
    )


def _save_picture(path: Path, scene: "Simulation", result: "Estimate") -> None:
    from evcrisp.plots import draw_contrast_map, draw_events, save_strip

    events, kept = scene.events, scene.events[result.signal]
    x, y = result.aligned_x[result.signal], result.aligned_y[result.signal]
    save_strip(
        path,
        {
            "noisy events, 30 ms": lambda axes: draw_events(axes, events),
            "cleaned": lambda axes: draw_events(axes, kept),
            "contrast map, not aligned": lambda axes: draw_contrast_map(
                axes, kept.x, kept.y, kept.image_shape
            ),
            "contrast map, aligned": lambda axes: draw_contrast_map(axes, x, y, kept.image_shape),
        },
    )
