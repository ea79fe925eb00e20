"""``evcrisp tune``: hyper-parameters for a rate of noise, found on a training split."""

import json
from pathlib import Path

import click

from evcrisp.cli.options import force_option, output_option, seed_option
from evcrisp.cli.progress import task_progress
from evcrisp.cli.tasks import max_events_option, noise_option
from evcrisp.cli.types import Number


@click.command("tune")
@click.argument("methods", nargs=-1, required=True)
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    required=True,
    help="DND21, or its twin.",
)
@click.option(
    "--rate",
    "rates",
    type=Number(0, 10_000, min_open=True),
    multiple=True,
    default=(1.0, 5.0, 10.0),
    show_default=True,
    help="Noise in percent of the signal events. May be repeated.",
)
@noise_option
@output_option("File for the hyper-parameters.", default=Path("tuned.json"))
@click.option(
    "--trials",
    type=click.IntRange(1, 100_000),
    default=40,
    show_default=True,
    help="Settings to try each.",
)
@click.option(
    "--train-share",
    type=Number(0, 1, min_open=True, max_open=True),
    default=0.5,
    show_default=True,
    help="Share of each recording, at its start, that is tuned on. Table 2 then uses the rest.",
)
@max_events_option
@seed_option("Of noise and search.", default=1)
@force_option
def tune_command(
    methods: tuple[str, ...],
    root: Path,
    rates: tuple[float, ...],
    noise: str,
    output: Path,
    trials: int,
    train_share: float,
    max_events: int | None,
    seed: int,
    overwrite: bool,
) -> None:
    """Find the hyper-parameters of METHODS that suit a rate of noise best.

    What is maximized is the mean of sensitivity and specificity on the first part of each recording
    of DND21 with noise added. Methods: eja, proposed, baf, knoise, ynoise, ts, dwf. The result is a
    file for evcrisp reproduce table2 --tuned.
    """
    from evcrisp.core.registry import lookup, require
    from evcrisp.experiments.tuning import SPACES, Training, tune, tuned_file
    from evcrisp.io.atomic_output import replacing

    require("optuna", extra="tune", purpose="Tuned hyper-parameters")
    for method in methods:
        lookup(SPACES, method, "method that can be tuned")
    found: dict[str, dict[str, dict[str, float]]] = {method: {} for method in methods}
    with replacing(output, overwrite=overwrite) as temporary:
        for rate in rates:
            training = Training.of(
                root,
                rate / 100,
                noise=noise,
                train_share=train_share,
                max_events=max_events,
                seed=seed,
            )
            for method in methods:
                with task_progress(f"{method} at {rate:g} %") as (on_start, on_done):
                    on_start(trials)
                    params, score = tune(
                        method,
                        training,
                        trials=trials,
                        seed=seed,
                        on_trial=lambda *_: on_done(None),
                    )
                found[method][f"{rate:g}"] = params
                click.echo(f"{method} tuned for {rate:g} %: {json.dumps(params)} ({score:.4f})")
        temporary.write_text(json.dumps(tuned_file(found, train_share, [noise]), indent=2) + "\n")
    click.echo(f"Wrote {output}.")
