"""``evcrisp tune``: tune hyper-parameters for a rate of noise on a training split."""

import json
from pathlib import Path
from typing import Any

import click

from evcrisp.cli import options
from evcrisp.cli.progress import task_progress


@click.command("tune")
@click.argument("methods", nargs=-1, required=True)
@options.option(
    "--root",
    "Folder of DND21, real or simulated.",
    click.Path(exists=True, file_okay=False, path_type=Path),
    required=True,
)
@options.option(
    "--rate rates",
    "Noise in percent of the signal events. May be repeated.",
    options.Number(0, 10_000, min_open=True),
    multiple=True,
    default=(1.0, 5.0, 10.0),
)
@options.noise_option
@options.output_option("File for the hyper-parameters.", default=Path("tuned.json"))
@options.option(
    "--trials",
    "Number of settings to try per method and rate.",
    click.IntRange(1, 100_000),
    default=40,
)
@options.option(
    "--train-share",
    "Share of each recording, at its start, used for tuning. Table 2 then uses the rest.",
    options.Number(0, 1, min_open=True, max_open=True),
    default=0.5,
)
@options.max_events_option
@options.seed_option("Seed of noise and search.", default=1)
@options.force_option
def tune_command(
    methods: tuple[str, ...],
    root: Path,
    rates: tuple[float, ...],
    output: Path,
    trials: int,
    overwrite: bool,
    **training: Any,
) -> None:
    """Find the best hyper-parameters of METHODS for a rate of noise.

    Maximizes the mean of sensitivity and specificity on the first part of each recording of DND21
    with added noise. Methods: eja, proposed, baf, knoise, ynoise, ts, dwf, ebf, pfd, pfdslices, and
    installed methods that declare a search_space. The result is a file for evcrisp reproduce table2
    --tuned.
    """
    from evcrisp.core.registry import require
    from evcrisp.experiments.methods import method_for
    from evcrisp.experiments.tuning import Training, search_space, tune, tuned_file
    from evcrisp.io.atomic_output import replacing

    require("optuna", extra="tune", purpose="Tuned hyper-parameters")
    for method in methods:
        search_space(method_for(method))
    found: dict[str, dict[str, dict[str, float]]] = {method: {} for method in methods}
    with replacing(output, overwrite=overwrite) as temporary:
        for rate in rates:
            data = Training.of(root, rate / 100, **training)
            for method in methods:
                with task_progress(f"{method} at {rate:g} %") as (on_start, on_done):
                    on_start(trials)
                    params, score = tune(
                        method, data, trials=trials, seed=training["seed"], on_trial=on_done
                    )
                found[method][f"{rate:g}"] = params
                click.echo(f"{method} tuned for {rate:g} %: {json.dumps(params)} ({score:.4f})")
        file = tuned_file(found, training["train_share"], [training["noise"]])
        temporary.write_text(json.dumps(file, indent=2) + "\n")
    click.echo(f"Wrote {output}.")
