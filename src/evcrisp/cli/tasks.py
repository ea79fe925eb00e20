"""Options of the commands that run many tasks."""

import click

from evcrisp.cli.options import decorated

#: Where tasks run.
pool_options = decorated(
    click.option(
        "--workers",
        type=click.IntRange(min=0),
        help="Number of processes; 0 = this process only. Default: one per processor. With "
        "--scheduler: number of workers to wait for.",
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
    help="Noise to add to DND21: uniform; or measured: light, dark-ba, dark-5hz, leak.",
)
max_events_option = click.option(
    "--max-events",
    type=click.IntRange(min=1),
    help="Number of events to use of each recording. Default: all.",
)
