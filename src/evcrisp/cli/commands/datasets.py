"""``evcrisp datasets``: are the data sets of the paper complete, and their simulated twins."""

from pathlib import Path

import click

from evcrisp.cli.options import seed_option
from evcrisp.cli.signals import message_when_stopped

#: The names of the data sets; here, so that the help loads nothing.
NAMES = ("emlb", "dnd21", "ecd")

_NAME = click.argument("name", type=click.Choice(NAMES))


@click.group("datasets")
def datasets_command() -> None:
    """Check the data sets of the paper, or simulate twins of them."""


@datasets_command.command("check")
@_NAME
@click.argument("folder", type=click.Path(path_type=Path))
def check_command(name: str, folder: Path) -> None:
    """Say whether FOLDER has the layout of the data set, and what is missing.

    Nothing is opened. The exit code is 1 if something is missing.
    """
    from evcrisp.core.messages import counted
    from evcrisp.experiments.datasets import DATASETS

    dataset = DATASETS[name]
    where = f"Get it from {dataset.source}."
    if not folder.is_dir():
        raise click.ClickException(f"{folder} is not a folder. {where}")
    found = dataset.layout(folder)
    places: dict[str, int] = {}
    for clip in found.clips:
        place = " ".join(clip.group)
        places[place] = places.get(place, 0) + 1
    for place, n in places.items():
        click.echo(f"{place:<24}{n:>6} {counted(n, 'recording').partition(' ')[2]}")
    for problem in found.problems:
        click.echo(f"missing: {problem}")
    if found.problems:
        raise click.ClickException(f"{folder} is not all of {dataset.title}. {where}")
    click.echo(f"{dataset.title} is complete: {counted(len(found.clips), 'recording')}.")


@datasets_command.command("make-twin")
@_NAME
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--small", is_flag=True, help="So small that tables take seconds, for tests.")
@seed_option("Same seed, same bytes.")
def make_twin_command(name: str, folder: Path, small: bool, seed: int) -> None:
    """Simulate a small data set in the layout of the real one, and write it to FOLDER.

    E-MLB: levels of light are levels of shot noise. DND21: clean sequences and noise files, in AEDAT
    2.0. ECD: text with calibration, IMU samples and poses. True labels are in NAME.truth.npz beside
    each recording.
    """
    from evcrisp.experiments.simulated_datasets import make_twin

    n_files = 0

    def say(path: Path) -> None:
        nonlocal n_files
        n_files += 1
        click.echo(str(path))

    with message_when_stopped(
        f"The twin in {folder} is not complete; the same command completes it."
    ):
        make_twin(name, folder, small=small, seed=seed, on_file=say)
    if not n_files:
        click.echo(f"{folder} holds this twin already; it is complete.")
