"""``evcrisp train``: teach a network on simulated recordings whose labels are known."""

import sys
from collections.abc import Callable
from pathlib import Path

import click

from evcrisp.cli.options import force_option, output_option, seed_option


@click.command("train")
@click.argument("network", type=click.Choice(["mlpf", "edncnn"]))
@output_option("Weights, such as my.npz.", required=True)
@click.option(
    "--scenes",
    type=click.IntRange(1, 10_000),
    default=200,
    show_default=True,
    help="Number of simulated scenes to learn from.",
)
@click.option(
    "--test-scenes",
    type=click.IntRange(1, 10_000),
    default=4,
    show_default=True,
    help="Number of other scenes to be judged on, for each of seven levels of noise.",
)
@click.option(
    "--epochs",
    type=click.IntRange(1, 10_000),
    default=10,
    show_default=True,
    help="Number of epochs.",
)
@click.option(
    "--samples",
    type=click.IntRange(1, 10**9),
    default=1_000_000,
    show_default=True,
    help="Number of events that are drawn in each epoch.",
)
@click.option(
    "--device",
    type=click.Choice(["auto", "cpu", "cuda"]),
    default="auto",
    show_default=True,
    help="Where to train.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Number of processes that simulate.",
)
@seed_option("Of scenes and training.")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="File of recordings: read if it exists, else simulated and written. Default: none is kept.",
)
@force_option
def train_command(
    network: str,
    output: Path,
    scenes: int,
    test_scenes: int,
    epochs: int,
    samples: int,
    device: str,
    workers: int,
    seed: int,
    data: Path | None,
    overwrite: bool,
) -> None:
    """Train NETWORK, the network of a filter, on simulated recordings.

    Weights go to OUTPUT; use them with the filter's option `weights`. How they came to be, and
    how good they are on scenes that they have not seen, goes to a JSON file beside them. Needs torch.
    """
    from evcrisp.filters.learned.edncnn_network import find_device, import_torch
    from evcrisp.io.atomic_output import refuse_inputs, replacing
    from evcrisp.training import (
        LabeledRecordings,
        TrainingConfig,
        simulate_recordings,
        train,
        write_model,
    )

    import_torch()
    find_device(device)  # before the recordings are made, not after
    if output.suffix != ".npz":
        raise click.BadParameter(
            f"expected a name that ends in .npz; got {output}.", param_hint="--output"
        )
    config = TrainingConfig(epochs=epochs, samples=samples, device=device, seed=seed)
    card = output.with_suffix(".json")
    for path in (output, card):
        refuse_inputs(path, data)
    with (
        replacing(output, overwrite=overwrite) as new_weights,
        replacing(card, overwrite=overwrite) as new_card,
    ):
        if data is not None and data.exists():
            recordings = LabeledRecordings.load(data)
        else:
            recordings = simulate_recordings(
                scenes, seed=seed, n_test=test_scenes, workers=workers, on_scene=_line("scene")
            )
            if data is not None:
                with replacing(data, overwrite=False) as new_data:
                    recordings.save(new_data)
        say = _line("epoch")
        trained = train(network, recordings, config, lambda i, loss: say(i, epochs, loss))
        write_model(new_weights, new_card, trained)
    click.echo(_summary(trained.card["held_out"]))
    click.echo(f"Wrote {output} and {card}.")


def _line(what: str) -> Callable[..., None]:
    """Return a function that says how far it got, on a terminal."""

    def say(i: int, n: int, loss: float | None = None) -> None:
        if sys.stderr is not None and sys.stderr.isatty():
            more = "" if loss is None else f", loss {loss:.4f}"
            click.echo(f"\r{what} {i} of {n}{more}", nl=i == n, err=True)

    return say


def _summary(levels: list[dict[str, float]]) -> str:
    head = "noise Hz/px     AUC  balanced accuracy"
    rows = [
        f"{level['noise_hz']:11g}  {level['auc']:6.3f}  {level['balanced_accuracy']:17.3f}"
        for level in levels
    ]
    return "\n".join([head, *rows])
