"""Types of option values, and options that several commands share."""

import functools
import importlib
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from evcrisp.cli.error_messages import option_name

if TYPE_CHECKING:
    from evcrisp.core.camera import Camera
    from evcrisp.io.recording import Recording

_Parameter = click.Parameter | None
_Context = click.Context | None
Decorator = Callable[[Any], Any]

#: Longest time, us: 30 years, more than any camera clock counts.
LONGEST_US = 10**15

#: Registries whose names are listed in the help: "module:attribute".
METHODS = "evcrisp.estimators.registry:ESTIMATORS"
MOTION_MODELS = "evcrisp.motion.registry:MOTION_MODELS"


class ResolutionType(click.ParamType):
    """``WIDTHxHEIGHT``, px."""

    name = "size"

    def convert(self, value: Any, param: _Parameter, ctx: _Context) -> tuple[int, int]:
        """Parse ``346x260``."""
        if isinstance(value, tuple):
            return value
        sides = str(value).lower().split("x")
        if len(sides) != 2 or not all(s.isdecimal() and 0 < int(s) <= 65_536 for s in sides):
            expected = "expected WIDTHxHEIGHT in px, such as 346x260, up to 65536 a side"
            self.fail(f"{expected}; got {value!r}.", param, ctx)
        return int(sides[0]), int(sides[1])


class Number(click.FloatRange):
    """A finite number in a range; click itself accepts NaN."""

    def convert(self, value: Any, param: _Parameter, ctx: _Context) -> float:
        """Parse a number."""
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"expected a finite number; got {value}.", param, ctx)
        return number


#: Word for the length of windows that the events choose.
AUTO = "auto"


class Milliseconds(click.ParamType):
    """A time in milliseconds, converted to whole microseconds."""

    name = "ms"
    words = ""  # that are accepted beside a number

    def __init__(self, least_us: int = -LONGEST_US, most_us: int = LONGEST_US) -> None:
        self.least_us, self.most_us = least_us, most_us

    def convert(self, value: Any, param: _Parameter, ctx: _Context) -> int:
        """Parse ``30`` or ``0.5``."""
        try:
            ms = float(value)
        except ValueError:
            ms = math.nan
        if not math.isfinite(ms):
            expected = f"a finite number of milliseconds{self.words}"
            self.fail(f"expected {expected}; got {value}.", param, ctx)
        if not self.least_us <= 1000 * ms <= self.most_us:
            limits = f"{self.least_us / 1000:g} to {self.most_us / 1000:g} ms"
            self.fail(f"expected {limits}; got {ms:g}.", param, ctx)
        return round(1000 * ms)


class WindowLength(Milliseconds):
    """A time in milliseconds, or ``auto``, which becomes None."""

    words = f", or {AUTO}"

    def convert(self, value: Any, param: _Parameter, ctx: _Context) -> Any:
        """Parse ``auto``, ``30`` or ``0.5``."""
        if isinstance(value, str) and value.strip().lower() == AUTO:
            return None
        return super().convert(value, param, ctx)


class OutputFile(click.Path):
    """An output file whose name must have one of the suffixes."""

    def __init__(self, *suffixes: str) -> None:
        super().__init__(dir_okay=False, path_type=Path)
        self.suffixes = suffixes

    def convert(self, value: Any, param: _Parameter, ctx: _Context) -> Path:
        """Check the suffix."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if path.suffix.lower() not in self.suffixes:
            wanted = " or ".join(self.suffixes)
            self.fail(f"expected a name that ends in {wanted}; got {path}.", param, ctx)
        return path


class NumbersType(click.ParamType):
    """Numbers separated by commas."""

    name = "NUMBERS"

    def convert(self, value: Any, param: _Parameter, ctx: _Context) -> tuple[float, ...]:
        """Parse ``300,-120``."""
        if isinstance(value, tuple):
            return value
        try:
            numbers = tuple(float(part) for part in str(value).split(","))
        except ValueError:
            numbers = (math.nan,)
        if not all(math.isfinite(number) for number in numbers):
            self.fail(f"expected finite numbers separated by commas; got {value!r}.", param, ctx)
        return numbers


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
    """Return an option of a type (default: text) that shows its default value.

    ``names`` are separated by spaces; the last can be the library's name of the parameter. With
    ``registry="module:attribute"``, NAMES in the help stands for the names of the registry. Other
    arguments are those of `click.option`.
    """
    more.setdefault("show_default", True)
    kind_of_option = NamesOption if "registry" in more else None
    return click.option(*names.split(), cls=kind_of_option, help=help, type=kind, **more)


def words(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...]:
    """Return the words of an option that are separated by commas."""
    return tuple(word.strip() for word in (value or "").split(",") if word.strip())


recording_argument = click.argument("recording", type=click.Path(exists=True, path_type=Path))
force_option = click.option(
    "--force", "overwrite", is_flag=True, help="Replace existing output files."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
to_option = option("--to", "Output format. Default: from the suffix of OUTPUT.")
model_option = option(
    "--motion", "Motion model: NAMES.", default="translation", registry=MOTION_MODELS
)
motion_option = option(
    "--motion",
    "auto finds the simplest motion that explains each window; layers and flow look for several "
    "motions. Or one model for all: NAMES.",
    default="auto",
    registry=MOTION_MODELS,
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
    help: str = "Length of a window, ms.", *, default: float | None = 30.0, **limits: int
) -> Decorator:
    """Return ``--window-ms``, which sets ``window_us``; limits as for `Milliseconds`."""
    kind = Milliseconds(**{"least_us": 1, **limits})
    return option("--window-ms window_us", help, kind, default=default, metavar="MS")


def auto_window_option(
    help: str = "Length of a window, ms, or auto: each window ends when the image has moved. "
    "Default: auto.",
    **limits: int,
) -> Decorator:
    """Return ``--window-ms``, which sets ``window_us``, None for auto; limits as for `Milliseconds`."""
    kind = WindowLength(**{"least_us": 1, **limits})
    return option("--window-ms window_us", help, kind, metavar="MS|auto")


start_option = option(
    "--start-ms start_us",
    "Start of the window, ms after the first event.",
    Milliseconds(),
    default=0.0,
    metavar="MS",
)


def points_option(help: str) -> Decorator:
    """Return ``--points``, the number of points of a Pareto front, which sets ``n_points``."""
    # More than 1001 points take minutes, and no figure resolves them.
    return option("--points n_points", help, click.IntRange(3, 1001), default=21)


def seed_option(help: str, *, default: int = 0) -> Decorator:
    """Return ``--seed``, limited to 32 bits, which all random generators accept."""
    return option("--seed", help, click.IntRange(0, 2**32 - 1), default=default)


def decorated(*decorators: Decorator) -> Decorator:
    """Return a decorator that applies several, the first one outermost."""

    def apply(function: Any) -> Any:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return apply


def _collected(name: str, *keys: str) -> Decorator:
    """Return a decorator: the command gets the values of some options as one mapping."""

    def apply(function: Any) -> Any:
        @functools.wraps(function)
        def call(*args: Any, **values: Any) -> Any:
            values[name] = {key: values.pop(key) for key in keys}
            return function(*args, **values)

        return call

    return apply


#: How a recording is opened.
input_options = decorated(
    option("--format -f", "Input format. Default: detected from the content."),
    option(
        "--resolution",
        "Width and height of the sensor, px. Default: from the file, or else the smallest standard "
        "size that holds all events.",
        ResolutionType(),
        metavar="WxH",
    ),
    option(
        "--on-error",
        "For a damaged file: stop with an error, or use the events before the damage.",
        click.Choice(["raise", "truncate"]),
        default="raise",
    ),
    _collected("opening", "format", "resolution", "on_error"),
)

#: The method, its parameters and the motion model; see `method_arguments`.
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
    _collected("estimation", "method", "motion", "camera", "settings"),
)


#: How a recording is cut into windows, without ``--overlap``; the fields of `Windowing`.
windowing_options = decorated(
    auto_window_option(),
    option(
        "--window-events",
        "Number of events per window (instead of --window-ms).",
        click.IntRange(1, 10**9),
    ),
    option(
        "--displacement-px",
        "Displacement of the image within a window, px (instead of --window-ms); the length of "
        "a window follows from the motion of the previous one.",
        Number(min=0, min_open=True),
    ),
    option(
        "--max-latency-ms max_latency_us",
        "Longest window of --window-ms auto, ms. Default: 500.",
        Milliseconds(least_us=1_000),
        metavar="MS",
    ),
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


def method_arguments(estimation: Mapping[str, Any], recording: "Recording") -> dict[str, Any]:
    """Return ``method``, ``motion`` and ``camera`` as the library takes them."""
    from evcrisp.core.registry import build
    from evcrisp.estimators.registry import ESTIMATORS

    parameters = parse_settings(estimation["settings"])
    return {
        "method": build(ESTIMATORS, estimation["method"], "method", **parameters),
        "motion": estimation["motion"],
        "camera": load_camera(estimation["camera"], recording),
    }


def refuse_unused(context: click.Context, names: Iterable[str], reason: str) -> None:
    """Raise if one of these parameters was given; ``reason`` follows the name of its option."""
    for name in names:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = next(p for p in context.command.params if p.name == name)
            raise click.UsageError(f"{option_name(option)} {reason}", context)


def load_camera(path: Path | None, sensor: "Recording | Sequence[int]") -> "Camera | None":
    """Read a calibration file; log a warning if it does not match the sensor."""
    from evcrisp.core.camera import Camera, warn_of_mismatch
    from evcrisp.io.recording import Recording

    if path is None:
        return None
    camera = Camera.from_file(path)
    width, height = sensor.resolution if isinstance(sensor, Recording) else sensor
    warn_of_mismatch(camera, (width, height))
    return camera


#: Where tasks run.
pool_options = decorated(
    option(
        "--workers",
        "Number of processes; 0 = this process only. Default: one per processor. With "
        "--scheduler: number of workers to wait for.",
        click.IntRange(min=0),
    ),
    option(
        "--scheduler",
        "Run on a dask.distributed cluster, such as tcp://host:8786.",
        metavar="ADDRESS",
    ),
)

noise_option = option(
    "--noise",
    "Noise to add to DND21: uniform; or measured: light, dark-ba, dark-5hz, leak.",
    default="uniform",
)
max_events_option = option(
    "--max-events",
    "Number of events to use of each recording. Default: all.",
    click.IntRange(min=1),
)
