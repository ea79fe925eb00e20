"""Options that several verbs share."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click


class ResolutionType(click.ParamType):
    """``WIDTHxHEIGHT``, px."""

    name = "size"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        """Parse ``346x260``."""
        if isinstance(value, tuple):
            return value
        width, separator, height = str(value).lower().partition("x")
        if not (
            separator and width.isdecimal() and height.isdecimal() and int(width) and int(height)
        ):
            self.fail(f"expected WIDTHxHEIGHT in px, such as 346x260; got {value!r}.", param, ctx)
        return int(width), int(height)


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
set_option = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set an option of the output format, such as compression=zstd. May be repeated.",
)


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


def decorated(*decorators: Callable[[Any], Any]) -> Callable[[Any], Any]:
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


camera_option = click.option(
    "--camera",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Calibration for rotation: fx fy cx cy k1 k2 p1 p2 k3. Default: an ideal lens of 60 degrees.",
)

#: Everything about the method.
method_options = decorated(
    click.option(
        "--method",
        "-m",
        default="auto",
        show_default=True,
        help="Method; auto has nothing to tune.",
    ),
    click.option("--motion", default="translation", show_default=True, help="Motion model."),
    camera_option,
    click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="KEY=VALUE",
        help="Set a parameter of the method. May be repeated.",
    ),
)
