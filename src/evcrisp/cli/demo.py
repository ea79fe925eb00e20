"""``evcrisp demo``: the main job on a scene that comes with the program."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evcrisp.cli._options import force_option

if TYPE_CHECKING:
    from evcrisp.filters import Labels
    from evcrisp.simulation import Simulation

METHODS = {"raw": {}, "baf": {"tau_us": 5_000}}


@click.command("demo")
@click.option(
    "--noise-hz", type=float, default=5.0, show_default=True, help="Uniform noise, Hz per pixel."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same scene.")
@click.option(
    "--picture",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also save a picture (PNG, PDF, SVG): noisy, cleaned, and aligned with the true motion. "
    "Needs the extra 'plot'.",
)
@force_option
def demo_command(noise_hz: float, seed: int, picture: Path | None, force: bool) -> None:
    """Simulate a noisy scene with known truth, clean it, and print how well that went."""
    from evcrisp.filters import denoise
    from evcrisp.io._writing import replacing
    from evcrisp.metrics import rank_auc, sensitivity, specificity
    from evcrisp.simulation import Origin, simulate

    scene = simulate(noise_hz=noise_hz, seed=seed)
    events, truth = scene.events, scene.origin == Origin.SIGNAL
    velocity = ", ".join(f"{v:.0f}" for v in scene.theta(0, scene.config.duration_us))
    click.echo(
        f"Scene: {len(events):,} events in {events.duration_us / 1e3:.0f} ms on "
        f"{events.width} x {events.height} px, moving at ({velocity}) px/s; "
        f"{1 - truth.mean():.0%} of the events are noise.\n"
    )
    click.echo(
        f"{'method':<8}{'kept':>10}{'sensitivity':>13}{'specificity':>13}{'AUC':>8}{'ms':>8}"
    )
    labels = None
    for name, params in METHODS.items():
        denoise(events[:1], name, **params)  # compile before the clock runs
        start = time.perf_counter()
        labels = denoise(events, name, **params)
        elapsed_ms = 1e3 * (time.perf_counter() - start)
        click.echo(
            f"{name:<8}{labels.signal.sum():>10,}{sensitivity(labels.signal, truth):>13.3f}"
            f"{specificity(labels.signal, truth):>13.3f}{rank_auc(labels.score, truth):>8.3f}"
            f"{elapsed_ms:>8.1f}"
        )
    if picture is not None and labels is not None:
        with replacing(picture, overwrite=force) as temporary:
            _save_picture(temporary, scene, labels)
        click.echo(f"\nSaved {picture}.")


def _save_picture(path: Path, scene: "Simulation", labels: "Labels") -> None:
    from evcrisp.plots import draw_contrast_map, draw_events, save_strip
    from evcrisp.windows import seconds_since

    window = scene.events.between(0, 30_000)
    clean = window[labels.signal[: len(window)]]
    x, y = scene.motion.warp(
        scene.theta(0, 30_000), clean.x, clean.y, seconds_since(clean.t, 15_000)
    )
    save_strip(
        path,
        {
            "noisy events, 30 ms": lambda axes: draw_events(axes, window),
            "cleaned": lambda axes: draw_events(axes, clean),
            "contrast map, not aligned": lambda axes: draw_contrast_map(
                axes, clean.x, clean.y, clean.shape
            ),
            "contrast map, aligned": lambda axes: draw_contrast_map(axes, x, y, clean.shape),
        },
    )
