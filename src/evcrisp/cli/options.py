"""Options that several commands share."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from evcrisp.cli.error_messages import option_name
from evcrisp.cli.types import LONGEST_US, Milliseconds, ResolutionType

if TYPE_CHECKING:
    from evcrisp.core.camera import Camera
    from evcrisp.io.recording import Recording

Decorator = Callable[[Any], Any]

#: Maximum number of points of a Pareto front; more take minutes, and no figure resolves them.
MAX_FRONT_POINTS = 1001


def method_names() -> Iterable[str]:
    """Return the names of the methods."""
    from evcrisp.estimators.registry import ESTIMATORS

    return ESTIMATORS


def motion_names() -> Iterable[str]:
    """Return the names of the motion models."""
    from evcrisp.motion.registry import MOTION_MODELS

    return MOTION_MODELS


class NamesOption(click.Option):
    """Option whose help lists names of a registry, which is loaded only for the help.

    ``NAMES`` in the help stands for the names.
    """

    def __init__(self, *args: Any, names: Callable[[], Iterable[str]], **more: Any) -> None:
        super().__init__(*args, **more)
        self.names = names

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the option and its help, with the names."""
        record = super().get_help_record(ctx)
        return record and (record[0], record[1].replace("NAMES", ", ".join(self.names())))


recording_argument = click.argument("recording", type=click.Path(exists=True, path_type=Path))
resolution_option = click.option(
    "--resolution",
    type=ResolutionType(),
    metavar="WxH",
    help="Width and height of the sensor, px. Default: from the file, or else the smallest standard "
    "size that holds all events.",
)
on_error_option = click.option(
    "--on-error",
    type=click.Choice(["raise", "truncate"]),
    default="raise",
    show_default=True,
    help="For a damaged file: stop with an error, or use the events before the damage.",
)
force_option = click.option(
    "--force", "overwrite", is_flag=True, help="Replace existing output files."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
to_option = click.option("--to", help="Output format. Default: from the suffix of OUTPUT.")
motion_option = click.option(
    "--motion",
    cls=NamesOption,
    names=motion_names,
    default="translation",
    show_default=True,
    help="Motion model: NAMES.",
)
camera_option = click.option(
    "--camera",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Text file with the calibration for rotation: fx fy cx cy (px) k1 k2 p1 p2 k3. Default: a "
    "field of view of 60 degrees without distortion.",
)


def output_option(help: str, *, is_folder: bool = False, **more: Any) -> Decorator:
    """Return ``--output``, a file or a folder; ``more`` as for `click.option`."""
    kind = click.Path(file_okay=not is_folder, dir_okay=is_folder, path_type=Path)
    return click.option("--output", "-o", type=kind, help=help, **more)


def set_option(what: str) -> Decorator:
    """Return ``--set KEY=VALUE``."""
    return click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="KEY=VALUE",
        help=f"Set {what}. Can be repeated.",
    )


def window_option(
    help: str = "Length of a window, ms.",
    *,
    default: float | None = 30.0,
    least_us: int = 1,
    most_us: int = LONGEST_US,
) -> Decorator:
    """Return ``--window-ms``, which sets ``window_us``."""
    return click.option(
        "--window-ms",
        "window_us",
        type=Milliseconds(least_us, most_us),
        metavar="MS",
        default=default,
        show_default=default is not None,
        help=help,
    )


start_option = click.option(
    "--start-ms",
    "start_us",
    type=Milliseconds(),
    metavar="MS",
    default=0.0,
    show_default=True,
    help="Start of the window, ms after the first event.",
)


def points_option(help: str) -> Decorator:
    """Return ``--points``, the number of points of a Pareto front, which sets ``n_points``."""
    return click.option(
        "--points",
        "n_points",
        type=click.IntRange(3, MAX_FRONT_POINTS),
        default=21,
        show_default=True,
        help=help,
    )


def seed_option(help: str, *, default: int = 0) -> Decorator:
    """Return ``--seed``, limited to 32 bits, which all random generators accept."""
    kind = click.IntRange(0, 2**32 - 1)
    return click.option("--seed", type=kind, default=default, show_default=True, help=help)


def decorated(*decorators: Decorator) -> Decorator:
    """Return a decorator that applies several, the first one outermost."""

    def apply(function: Any) -> Any:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return apply


#: How a recording is opened.
input_options = decorated(
    click.option("--format", "-f", help="Input format. Default: detected from the content."),
    resolution_option,
    on_error_option,
)

#: The method, its parameters and the motion model.
method_options = decorated(
    click.option(
        "--method",
        "-m",
        cls=NamesOption,
        names=method_names,
        default="auto",
        show_default=True,
        help="Method: NAMES. `evcrisp methods` lists their parameters; auto needs none.",
    ),
    motion_option,
    camera_option,
    set_option("a parameter of the method"),
)


def parse_settings(settings: Iterable[str]) -> dict[str, Any]:
    """Parse ``KEY=VALUE`` pairs; numbers and true/false are recognized."""
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


def refuse_unused(context: click.Context, names: Iterable[str], reason: str) -> None:
    """Raise if one of these parameters was given; ``reason`` follows the name of its option."""
    for name in names:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = next(p for p in context.command.params if p.name == name)
            raise click.UsageError(f"{option_name(option)} {reason}", context)


def load_camera(path: Path | None, sensor: "Recording | Sequence[int]") -> "Camera | None":
    """Read a calibration file; log a warning if it does not match the sensor."""
    from evcrisp.core.camera import Camera, tell_doubt
    from evcrisp.io.recording import Recording

    if path is None:
        return None
    camera = Camera.from_file(path)
    width, height = sensor.resolution if isinstance(sensor, Recording) else sensor
    tell_doubt(camera, (width, height))
    return camera
