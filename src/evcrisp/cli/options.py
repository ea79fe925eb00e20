"""Types of option values, and options that several commands share."""

import functools
import importlib
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

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


class CameraFile(NamedTuple):
    """A calibration file, and the name of a camera in it."""

    path: Path
    name: str | None = None


class CameraFileType(click.ParamType):
    """``FILE`` or ``FILE:NAME``."""

    name = "file"

    def convert(self, value: Any, param: _Parameter, ctx: _Context) -> CameraFile:
        """Split off the name, unless the whole text is the name of a file."""
        if isinstance(value, CameraFile):
            return value
        text = os.fsdecode(value)
        file, separator, name = text.rpartition(":")
        if Path(text).exists() or not separator or not name or not Path(file).exists():
            file, name = text, ""
        checked = click.Path(exists=True, dir_okay=False, path_type=Path).convert(file, param, ctx)
        return CameraFile(Path(os.fsdecode(checked)), name or None)


def camera_path(camera: CameraFile | None) -> Path | None:
    """Return the file of a calibration."""
    return None if camera is None else camera.path


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


#: Microseconds per unit of time; a number without a unit is in seconds.
_UNITS_US = {"us": 1, "ms": 1000, "s": 1_000_000, "": 1_000_000}


class Time(click.ParamType):
    """A time with a unit, such as ``1.5s``, ``200ms`` or ``30us``, in whole microseconds."""

    name = "time"

    def __init__(self, least_us: int = 0) -> None:
        self.least_us = least_us

    def convert(self, value: Any, param: _Parameter, ctx: _Context) -> int:
        """Parse ``1.5s``; a plain number means seconds."""
        if isinstance(value, int):
            return value
        found = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*(us|ms|s|)\s*", str(value))
        if found is None:
            expected = "expected a time such as 1.5s, 200ms or 30us; a plain number means seconds"
            self.fail(f"{expected}; got {value!r}.", param, ctx)
        time_us = Decimal(found[1]) * _UNITS_US[found[2]]
        if not self.least_us <= time_us <= LONGEST_US:
            limits = f"{self.least_us} us to {LONGEST_US // 10**6} s"
            self.fail(f"expected {limits}; got {value}.", param, ctx)
        if time_us != int(time_us):
            self.fail(f"expected whole microseconds; got {value}.", param, ctx)
        return int(time_us)


class RoiType(click.ParamType):
    """A region of the sensor, ``X,Y,W,H``, px."""

    name = "roi"

    def convert(self, value: Any, param: _Parameter, ctx: _Context) -> tuple[int, ...]:
        """Parse ``100,50,64,48``."""
        if isinstance(value, tuple):
            return value
        numbers = [number.strip() for number in str(value).split(",")]
        fits = len(numbers) == 4 and all(
            n.isascii() and n.isdecimal() and len(n) < 6 for n in numbers
        )
        if not fits or min(int(number) for number in numbers[2:]) < 1:
            expected = "expected X,Y,W,H in px, such as 100,50,64,48, with W and H of 1 or more"
            self.fail(f"{expected}; got {value!r}.", param, ctx)
        return tuple(int(number) for number in numbers)


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


def inputs_and_output_argument(what: str) -> Decorator:
    """Return the paths ``RECORDING OUTPUT``, or recordings with ``--output``; see `only_pair`."""
    return decorated(
        click.argument(
            "recordings",
            type=click.Path(path_type=Path),
            nargs=-1,
            required=True,
            metavar="RECORDING OUTPUT | RECORDINGS...",
        ),
        output_option(f"Folder for several recordings, instead of OUTPUT: {what}", is_folder=True),
    )


recording_argument = click.argument("recording", type=click.Path(exists=True, path_type=Path))
recordings_argument = click.argument(
    "recordings", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="RECORDINGS..."
)
force_option = click.option(
    "--force", "overwrite", is_flag=True, help="Replace existing output files."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
to_option = option(
    "--to", "Output format, or the suffix of its files. Default: from the suffix of OUTPUT."
)
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
    "Calibration for rotation: YAML of ROS (camera_info), Kalibr or OpenCV, or a text with fx fy cx cy "
    "(px) k1 k2 p1 p2 k3. FILE:NAME takes a camera of several, such as chain.yaml:cam1. Default: "
    "calib.txt of an ECD folder or zip, or else a field of view of 60 degrees without distortion.",
    CameraFileType(),
    metavar="FILE[:NAME]",
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
    "--start-ms window_start_us",
    "Start of the window, ms after the first event that is read.",
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


#: Parameters of `evcrisp.open` that `input_options` set.
OPENING = ("format", "resolution", "on_error", "stream", "start_us", "duration_us", "roi")

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
    option(
        "--stream",
        "Stream of events to read, if the file has several: a number or name of AEDAT4, a topic of "
        "ROS bags, left or right; `evcrisp info` lists them. Default: the first.",
        metavar="NAME",
    ),
    option(
        "--start start_us",
        "Skip the time before, counted from the first event of the recording: 1.5s, 200ms, 30us; a "
        "plain number means seconds.",
        Time(),
        default=0,
        show_default=False,
        metavar="TIME",
    ),
    option(
        "--duration duration_us",
        "Read this much time from --start on. Default: to the end.",
        Time(least_us=1),
        metavar="TIME",
    ),
    option(
        "--roi",
        "Read only the events in a region of the sensor, px, and move its corner to (0, 0). A "
        "--camera is shifted with it.",
        RoiType(),
        metavar="X,Y,W,H",
    ),
    _collected("opening", *OPENING),
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


device_option = option(
    "--device",
    "Where to compute: cpu; cuda, an NVIDIA GPU through torch; auto, a GPU if there is one. Default: cpu.",
    metavar="NAME",
)

#: For commands that measure many methods.
device_of_methods_option = option(
    "--device",
    "Where methods with a parallel form run: cpu; cuda, an NVIDIA GPU through torch; auto, a GPU if there "
    "is one. The others use the CPU. Default: cpu.",
    metavar="NAME",
)

deterministic_option = option(
    "--deterministic",
    "Same bits from run to run on a GPU, which is slower; the CPU always gives them.",
    is_flag=True,
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

    refuse_filter(estimation["method"])
    parameters = parse_settings(estimation["settings"])
    return {
        "method": build(ESTIMATORS, estimation["method"], "method", **parameters),
        "motion": estimation["motion"],
        "camera": load_camera(estimation["camera"], recording, estimation["motion"]),
    }


def refuse_filter(method: str) -> None:
    """Raise if a filter is given where a method is wanted; say which command takes it."""
    from evcrisp.estimators.registry import ESTIMATORS
    from evcrisp.filters import FILTERS

    if method not in ESTIMATORS and method in FILTERS:
        raise click.UsageError(
            f"{method!r} is a filter, which finds no motion. Use `evcrisp filter RECORDING OUTPUT -m "
            f"{method}`; or filter first and then align, with -m sequential --set filter={method}."
        )


def refuse_method(filter: str) -> None:
    """Raise if a method is given where a filter is wanted; say which command takes it."""
    from evcrisp.estimators.registry import ESTIMATORS
    from evcrisp.filters import FILTERS

    if filter not in FILTERS and filter in ESTIMATORS:
        raise click.UsageError(
            f"{filter!r} is a method, which works window by window. Use `evcrisp run RECORDING -o FOLDER "
            f"-m {filter}`, which writes the cleaned recording too."
        )


def refuse_unused(context: click.Context, names: Iterable[str], reason: str) -> None:
    """Raise if one of these parameters was given; ``reason`` follows the name of its option."""
    for name in names:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = next(p for p in context.command.params if p.name == name)
            raise click.UsageError(f"{option_name(option)} {reason}", context)


def load_camera(
    file: CameraFile | None, sensor: "Recording | Sequence[int]", motion: str = ""
) -> "Camera | None":
    """Read a calibration file, for the region that is read; see `region_camera`."""
    from evcrisp.pipeline.camera_motion.region_camera import region_camera

    return region_camera(read_camera(file), sensor, motion)


def read_camera(file: CameraFile | None) -> "Camera | None":
    """Read a calibration file, if one is given."""
    from evcrisp.core.camera import Camera

    return None if file is None else Camera.from_file(*file)


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

#: Where several recordings are processed.
batch_options = decorated(
    option(
        "--jobs -j",
        "Recordings at a time, each in a process; 0 = this process. Default: one per processor. With "
        "--scheduler: number of workers to wait for.",
        click.IntRange(min=0),
        metavar="N",
    ),
    option(
        "--scheduler",
        "Process the recordings on a dask.distributed cluster, such as tcp://host:8786.",
        metavar="ADDRESS",
    ),
    _collected("batch", "jobs", "scheduler"),
)


def only_recording(recordings: Sequence[Path], batch: Mapping[str, Any]) -> Path | None:
    """Return the recording if one was given, or None if several are meant.

    Several are meant by several paths, a folder of recordings, a pattern, ``--jobs`` or ``--scheduler``.
    """
    from evcrisp.pipeline.many.inputs import holds_recordings, is_pattern

    for path in recordings:
        if not path.exists() and not is_pattern(str(path)):
            raise click.BadParameter(f"Path {str(path)!r} does not exist.", param_hint="RECORDINGS")
    is_batch = any(value is not None for value in batch.values())
    first = recordings[0]
    if is_batch or len(recordings) > 1 or not first.exists() or holds_recordings(first):
        return None
    return first


def only_pair(
    paths: Sequence[Path], folder: Path | None, batch: Mapping[str, Any]
) -> tuple[Path, Path] | None:
    """Return RECORDING and OUTPUT of one recording, or None with a folder for several."""
    if folder is not None:
        only_recording(paths, batch)  # checks that they exist
        return None
    if len(paths) != 2 or any(value is not None for value in batch.values()):
        raise click.UsageError(
            "Give RECORDING and OUTPUT, or several recordings and a folder with --output."
        )
    recording, output = paths
    if not recording.exists():
        raise click.BadParameter(
            f"Path {str(recording)!r} does not exist.", param_hint="'RECORDING'"
        )
    return recording, output


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
