"""Options that several commands share."""

import importlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from evcrisp.cli.error_messages import option_name
from evcrisp.cli.types import LONGEST_US, Milliseconds, ResolutionType

if TYPE_CHECKING:
    from evcrisp.core.camera import Camera
    from evcrisp.estimators.protocol import Estimator
    from evcrisp.io.recording import Recording

Decorator = Callable[[Any], Any]

#: Maximum number of points of a Pareto front; more take minutes, and no figure resolves them.
MAX_FRONT_POINTS = 1001


#: Registries whose names are listed in the help: "module:attribute".
METHODS = "evcrisp.estimators.registry:ESTIMATORS"
MOTION_MODELS = "evcrisp.motion.registry:MOTION_MODELS"


class NamesOption(click.Option):
    """Option with the names of a registry in its help, for NAMES; the registry is imported then."""

    def __init__(self, *args: Any, registry: str, **more: Any) -> None:
        super().__init__(*args, **more)
        self.registry = registry

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the option and its help, with the names."""
        record = super().get_help_record(ctx)
        module, _, attribute = self.registry.partition(":")
        names = ", ".join(getattr(importlib.import_module(module), attribute))
        return record and (record[0], record[1].replace("NAMES", names))


def option(names: str, help: str, kind: Any = None, **more: Any) -> Decorator:
    """Return an option that shows its default; ``more`` as for `click.option`.

    Parameters
    ----------
    names : str
        Names, separated by spaces; the last can be the library's name of the parameter.
    help : str
        Help; with ``registry="module:attribute"``, NAMES stands for the names of the registry.
    kind : click.ParamType, optional
        Type of the value; text by default.
    """
    more.setdefault("show_default", True)
    kind_of_option = NamesOption if "registry" in more else None
    return click.option(*names.split(), cls=kind_of_option, help=help, type=kind, **more)


recording_argument = click.argument("recording", type=click.Path(exists=True, path_type=Path))
resolution_option = option(
    "--resolution",
    "Width and height of the sensor, px. Default: from the file, or else the smallest standard "
    "size that holds all events.",
    ResolutionType(),
    metavar="WxH",
)
on_error_option = option(
    "--on-error",
    "For a damaged file: stop with an error, or use the events before the damage.",
    click.Choice(["raise", "truncate"]),
    default="raise",
)
force_option = click.option(
    "--force", "overwrite", is_flag=True, help="Replace existing output files."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
to_option = option("--to", "Output format. Default: from the suffix of OUTPUT.")
motion_option = option(
    "--motion", "Motion model: NAMES.", default="translation", registry=MOTION_MODELS
)
camera_option = option(
    "--camera",
    "Text file with the calibration for rotation: fx fy cx cy (px) k1 k2 p1 p2 k3. Default: a "
    "field of view of 60 degrees without distortion.",
    click.Path(exists=True, dir_okay=False, path_type=Path),
)


def output_option(help: str, *, is_folder: bool = False, **more: Any) -> Decorator:
    """Return ``--output``, a file or a folder; ``more`` as for `click.option`."""
    kind = click.Path(file_okay=not is_folder, dir_okay=is_folder, path_type=Path)
    return option("--output -o", help, kind, **more)


def set_option(what: str) -> Decorator:
    """Return ``--set KEY=VALUE``."""
    return option(
        "--set settings", f"Set {what}. Can be repeated.", multiple=True, metavar="KEY=VALUE"
    )


def window_option(
    help: str = "Length of a window, ms.",
    *,
    default: float | None = 30.0,
    least_us: int = 1,
    most_us: int = LONGEST_US,
) -> Decorator:
    """Return ``--window-ms``, which sets ``window_us``."""
    kind = Milliseconds(least_us, most_us)
    return option("--window-ms window_us", help, kind, default=default, metavar="MS")


start_option = option(
    "--start-ms start_us",
    "Start of the window, ms after the first event.",
    Milliseconds(),
    default=0.0,
    metavar="MS",
)


def points_option(help: str) -> Decorator:
    """Return ``--points``, the number of points of a Pareto front, which sets ``n_points``."""
    return option("--points n_points", help, click.IntRange(3, MAX_FRONT_POINTS), default=21)


def seed_option(help: str, *, default: int = 0) -> Decorator:
    """Return ``--seed``, limited to 32 bits, which all random generators accept."""
    kind = click.IntRange(0, 2**32 - 1)
    return option("--seed", help, kind, default=default)


def decorated(*decorators: Decorator) -> Decorator:
    """Return a decorator that applies several, the first one outermost."""

    def apply(function: Any) -> Any:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return apply


#: How a recording is opened.
input_options = decorated(
    option("--format -f", "Input format. Default: detected from the content."),
    resolution_option,
    on_error_option,
)

#: The method, its parameters and the motion model.
method_options = decorated(
    option(
        "--method -m",
        "Method: NAMES. `evcrisp methods` lists their parameters; auto needs none.",
        default="auto",
        registry=METHODS,
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


def build_method(name: str, settings: Iterable[str]) -> "Estimator":
    """Return a method with the parameters of ``--set``."""
    from evcrisp.core.registry import build
    from evcrisp.estimators.registry import ESTIMATORS

    return build(ESTIMATORS, name, "method", **parse_settings(settings))


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
