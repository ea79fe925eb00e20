"""``evcrisp datasets``: check data sets, and simulate them."""

from collections import Counter
from pathlib import Path

import click

from evcrisp.cli import options
from evcrisp.cli.signals import message_when_stopped


class _Group(click.Group):
    """Accepts the earlier name of `simulate`, so that scripts continue to work."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return super().get_command(ctx, "simulate" if cmd_name == "make-twin" else cmd_name)


@click.group("datasets", cls=_Group)
def datasets_command() -> None:
    """Check data sets, or simulate those of the paper."""


@datasets_command.command("check")
@click.argument("name", metavar="{emlb|dnd21|ecd|...}")
@click.argument("folder", type=click.Path(path_type=Path))
def check_command(name: str, folder: Path) -> None:
    """Check whether FOLDER has the layout of a data set, and list missing parts.

    Recordings are not opened. Installed packages can add data sets. The exit code is 1 if a part is
    missing.
    """
    from evcrisp.core.messages import counted
    from evcrisp.experiments.datasets import dataset_for

    dataset = dataset_for(name)
    where = f"Get it from {dataset.source}."
    if not folder.is_dir():
        raise click.ClickException(f"{folder} is not a folder. {where}")
    found = dataset.layout(folder)
    for group, n in Counter(" ".join(clip.group) for clip in found.clips).items():
        click.echo(f"{group:<24}{n:>6} {counted(n, 'recording').partition(' ')[2]}")
    for problem in found.problems:
        click.echo(f"missing: {problem}")
    if found.problems:
        raise click.ClickException(f"{dataset.title} in {folder} is incomplete. {where}")
    click.echo(f"{dataset.title} is complete: {counted(len(found.clips), 'recording')}.")


@datasets_command.command("simulate")
@click.argument("name", type=click.Choice(["emlb", "dnd21", "ecd"]))
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--small", is_flag=True, help="Write less data, so that tables take seconds.")
@options.seed_option("Equal seeds give equal bytes.")
def simulate_command(name: str, folder: Path, small: bool, seed: int) -> None:
    """Simulate a small data set with the layout of the real one, and write it to FOLDER.

    E-MLB: levels of light are levels of shot noise. DND21: clean sequences and noise files, in AEDAT
    2.0. ECD: text with calibration, IMU samples and poses. True labels are in NAME.truth.npz beside
    each recording.
    """
    from evcrisp.experiments.simulated_datasets import simulate_dataset

    n_files = 0

    def on_file(path: Path) -> None:
        nonlocal n_files
        n_files += 1
        click.echo(str(path))

    with message_when_stopped(
        f"The data set in {folder} is incomplete; run the same command to complete it."
    ):
        simulate_dataset(name, folder, small=small, seed=seed, on_file=on_file)
    if not n_files:
        click.echo(f"{folder} already holds this data set, complete.")
