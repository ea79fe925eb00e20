"""Options that several verbs share."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from evcrisp.cli.types import LONGEST_US, Milliseconds, ResolutionType

Decorator = Callable[[Any], Any]

#: A front of more points is finer than any figure shows, and takes minutes.
MAX_FRONT_POINTS = 1001

#: The names of the methods and of the motion models; here, so that the help loads nothing.
METHODS = ("auto", "exact", "paper", "cmax", "sequential", "baf+cmax", "eja", "entropy")
MOTIONS = ("zoom", "translation", "rotation", "similarity", "affine", "homography")

recording_argument = click.argument("recording", type=click.Path(exists=True, path_type=Path))
resolution_option = click.option(
    "--resolution",
    type=ResolutionType(),
    metavar="WxH",
    help="Sensor size in px; overrides what the file says. By default the file's, or the smallest "
    "standard size that holds all events.",
)
on_error_option = click.option(
    "--on-error",
    type=click.Choice(["raise", "truncate"]),
    default="raise",
    show_default=True,
    help="At damage: stop with a message, or keep everything before it.",
)
force_option = click.option("--force", is_flag=True, help="Replace an existing output.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
to_option = click.option("--to", help="Format of the output. Default: from its suffix.")
motion_option = click.option(
    "--motion",
    default="translation",
    show_default=True,
    help=f"Motion model: {', '.join(MOTIONS)}.",
)
camera_option = click.option(
    "--camera",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Calibration for rotation: fx fy cx cy k1 k2 p1 p2 k3. Default: an ideal lens of 60 degrees.",
)


def output_option(help: str, *, is_folder: bool = False, **more: Any) -> Decorator:
    """Return ``--output``, a file or a folder; ``more`` as for `click.option`."""
    kind = click.Path(file_okay=not is_folder, dir_okay=is_folder, path_type=Path)
    return click.option("--output", "-o", type=kind, help=help, **more)


def set_option(what: str) -> Decorator:
    """Return ``--set KEY=VALUE``, which sets one of what it says."""
    return click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="KEY=VALUE",
        help=f"Set {what}. May be repeated.",
    )


def window_option(
    help: str = "Length of a window, ms.",
    *,
    default: float | None = 30.0,
    least_us: int = 1,
    most_us: int = LONGEST_US,
) -> Decorator:
    """Return ``--window-ms``; the verb gets ``window_us``."""
    return click.option(
        "--window-ms",
        "window_us",
        type=Milliseconds(least_us, most_us),
        metavar="MS",
        default=default,
        show_default=default is not None,
        help=help,
    )


#: The verb gets ``start_us``.
start_option = click.option(
    "--start-ms",
    "start_us",
    type=Milliseconds(),
    metavar="MS",
    default=0.0,
    show_default=True,
    help="Start after the first event, ms.",
)


def points_option(help: str) -> Decorator:
    """Return ``--points``, the number of points of a Pareto front; the verb gets ``n_points``."""
    return click.option(
        "--points",
        "n_points",
        type=click.IntRange(3, MAX_FRONT_POINTS),
        default=21,
        show_default=True,
        help=help,
    )


def seed_option(help: str, *, default: int = 0) -> Decorator:
    """Return ``--seed``; as large as every library takes."""
    kind = click.IntRange(0, 2**32 - 1)
    return click.option("--seed", type=kind, default=default, show_default=True, help=help)


def parse_settings(settings: Iterable[str]) -> dict[str, Any]:
    """Turn ``KEY=VALUE`` pairs into options; numbers and true/false are recognized."""
    options: dict[str, Any] = {}
    for setting in settings:
        key, separator, value = setting.partition("=")
        if not separator:
            raise click.UsageError(f"--set expects KEY=VALUE; got {setting!r}.")
        options[key.strip().replace("-", "_")] = _typed(value.strip())
    return options


def _typed(value: str) -> object:
    if value.lower() in ("true", "false"):
        return value.lower() == "true"
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value


def decorated(*decorators: Decorator) -> Decorator:
    """Apply several decorators, first one outermost."""

    def apply(function: Any) -> Any:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return apply


#: Everything about how a recording is opened.
input_options = decorated(
    click.option("--format", "-f", help="Format of the input. Default: found from its content."),
    resolution_option,
    on_error_option,
)

#: Everything about the method.
method_options = decorated(
    click.option(
        "--method",
        "-m",
        default="auto",
        show_default=True,
        help=f"Method: {', '.join(METHODS)}. `evcrisp methods` has their parameters; auto has nothing "
        "to tune.",
    ),
    motion_option,
    camera_option,
    set_option("a parameter of the method"),
)
