"""``evcrisp train``: train a network on simulated recordings with known labels."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from evcrisp.cli import options
from evcrisp.cli.progress import show_count

_COUNT = click.IntRange(1, 10_000)


@click.command("train")
@click.argument("network", type=click.Choice(["mlpf", "edncnn"]))
@options.output_option("File for the weights, such as my.npz.", required=True)
@options.option("--scenes", "Number of simulated scenes for training.", _COUNT, default=200)
@options.option(
    "--test-scenes", "Number of test scenes for each of seven noise rates.", _COUNT, default=4
)
@options.option("--epochs", "Number of epochs.", _COUNT, default=10)
@options.option(
    "--samples",
    "Number of events drawn in each epoch.",
    click.IntRange(1, 10**9),
    default=1_000_000,
)
@options.option(
    "--device", "Device for training.", click.Choice(["auto", "cpu", "cuda"]), default="auto"
)
@options.option(
    "--workers", "Number of processes for the simulation.", click.IntRange(min=1), default=1
)
@options.seed_option("Seed of the scenes and of the training.")
@options.option(
    "--data",
    "File of recordings: read if it exists, otherwise simulated and written. Default: not kept.",
    click.Path(path_type=Path),
)
@options.force_option
def train_command(
    network: str,
    output: Path,
    scenes: int,
    test_scenes: int,
    workers: int,
    seed: int,
    data: Path | None,
    overwrite: bool,
    **settings: Any,
) -> None:
    """Train NETWORK, the network of a filter, on simulated recordings.

    The weights are written to OUTPUT; use them with the parameter `weights` of the filter. A JSON
    file beside them holds the settings and the quality on test scenes. Needs torch.
    """
    from evcrisp import training
    from evcrisp.filters.learned.edncnn_network import find_device, import_torch
    from evcrisp.io.atomic_output import refuse_inputs, replacing, withdrawing

    import_torch()
    find_device(settings["device"])  # fail before the simulation
    if output.suffix != ".npz":
        raise click.BadParameter(
            f"expected a name that ends in .npz; got {output}.", param_hint="--output"
        )
    config = training.TrainingConfig(seed=seed, **settings)
    card = output.with_suffix(".json")

    def on_epoch(i: int, loss: float) -> None:
        show_count("epoch", i, config.epochs, f", loss {loss:.4f}")

    for path in (output, card):
        refuse_inputs(path, data)
    with (
        replacing(card, overwrite=overwrite) as new_card,
        replacing(output, overwrite=overwrite) as new_weights,
        withdrawing(card, overwrite=overwrite),
    ):
        if data is not None and data.exists():
            recordings = training.LabeledRecordings.load(data)
        else:
            recordings = training.simulate_recordings(
                scenes,
                seed=seed,
                n_test=test_scenes,
                workers=workers,
                on_scene=partial(show_count, "scene"),
            )
            if data is not None:
                with replacing(data, overwrite=False) as new_data:
                    recordings.save(new_data)
        trained = training.train(network, recordings, config, on_epoch)
        training.write_model(new_weights, new_card, trained)
    click.echo(_summary(trained.card["held_out"]))
    click.echo(f"Wrote {output} and {card}.")


def _summary(levels: list[dict[str, float]]) -> str:
    head = "noise Hz/px     AUC  balanced accuracy"
    rows = [
        f"{level['noise_hz']:11g}  {level['auc']:6.3f}  {level['balanced_accuracy']:17.3f}"
        for level in levels
    ]
    return "\n".join([head, *rows])
