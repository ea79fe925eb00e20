"""``evcrisp tune``: hyper-parameters for a rate of noise, found on a training split."""

import json
from pathlib import Path

import click

from evcrisp.cli._options import force_option
from evcrisp.cli._tasks import max_events_option, noise_option


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
    type=float,
    multiple=True,
    default=(1.0, 5.0, 10.0),
    show_default=True,
    help="Noise in percent of the signal events. May be repeated.",
)
@noise_option
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("tuned.json"),
    show_default=True,
    help="File for the hyper-parameters.",
)
@click.option("--trials", type=int, default=40, show_default=True, help="Settings to try each.")
@click.option(
    "--train-share",
    type=float,
    default=0.5,
    show_default=True,
    help="Share of each recording, at its start, that is tuned on. Table 2 then uses the rest.",
)
@max_events_option
@click.option("--seed", type=int, default=1, show_default=True, help="Of noise and search.")
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
    force: bool,
) -> None:
    """Find the hyper-parameters of METHODS that suit a rate of noise best.

    What is maximized is the mean of sensitivity and specificity on the first part of each recording
    of DND21 with noise added. Methods: eja, proposed, baf, knoise, ynoise, ts, dwf. The result is a
    file for evcrisp reproduce table2 --tuned.
    """
    from evcrisp.experiments.tuning import Training, tune, tuned_file
    from evcrisp.io._writing import replacing

    found: dict[str, dict[str, dict[str, float]]] = {method: {} for method in methods}
    with replacing(output, overwrite=force) as temporary:
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
                params, score = tune(method, training, trials=trials, seed=seed)
                found[method][f"{rate:g}"] = params
                click.echo(f"{method} tuned for {rate:g} %: {json.dumps(params)} ({score:.4f})")
        temporary.write_text(json.dumps(tuned_file(found, train_share, [noise]), indent=2) + "\n")
    click.echo(f"Wrote {output}.")
