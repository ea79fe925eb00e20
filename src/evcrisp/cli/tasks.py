"""What the verbs share that run many tasks: where they run, and on how much."""

import click

from evcrisp.cli.options import decorated

#: Everything about where tasks run.
pool_options = decorated(
    click.option(
        "--workers",
        type=click.IntRange(min=0),
        help="Processes; 0 = none but this one. Default: one per processor. With --scheduler: how "
        "many workers to wait for.",
    ),
    click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="Run on a dask.distributed cluster, such as tcp://host:8786.",
    ),
)

noise_option = click.option(
    "--noise",
    default="uniform",
    show_default=True,
    help="Noise that is added to DND21: uniform, or a measured one: light, dark-ba, dark-5hz, leak.",
)
max_events_option = click.option(
    "--max-events", type=click.IntRange(min=1), help="Use so many events of each recording."
)
