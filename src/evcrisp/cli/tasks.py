"""Options of the commands that run many tasks."""

import click

from evcrisp.cli import options

#: Where tasks run.
pool_options = options.decorated(
    options.option(
        "--workers",
        "Number of processes; 0 = this process only. Default: one per processor. With "
        "--scheduler: number of workers to wait for.",
        click.IntRange(min=0),
    ),
    options.option(
        "--scheduler",
        "Run on a dask.distributed cluster, such as tcp://host:8786.",
        metavar="ADDRESS",
    ),
)

noise_option = options.option(
    "--noise",
    "Noise to add to DND21: uniform; or measured: light, dark-ba, dark-5hz, leak.",
    default="uniform",
)
max_events_option = options.option(
    "--max-events",
    "Number of events to use of each recording. Default: all.",
    click.IntRange(min=1),
)
