"""``evcrisp methods``: list the methods and the motions."""

import inspect
import json
import re
import shutil
import textwrap
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

from evcrisp.cli import options

if TYPE_CHECKING:
    from evcrisp.estimators.protocol import Estimator
    from evcrisp.motion import MotionModel


@click.command("methods")
@options.json_option
def methods_command(as_json: bool) -> None:
    """List the methods with their parameters and defaults, and the motions.

    The parameters can be set with --set. For a default of none, the method chooses the value. The
    method auto finds the model of an open motion; other methods take it as a translation.
    """
    from evcrisp.estimators.registry import ESTIMATORS
    from evcrisp.motion import MOTION_MODELS
    from evcrisp.motion.open_motion import OPEN_MOTIONS

    facts = {
        "methods": [_method(kind) for kind in ESTIMATORS.values()],
        "open_motions": [{"name": name, "about": text} for name, text in OPEN_MOTIONS.items()],
        "motions": [_motion(kind) for kind in MOTION_MODELS.values()],
    }
    click.echo(json.dumps(facts, indent=2) if as_json else _page(facts))


def _method(kind: "type[Estimator]") -> dict[str, Any]:
    from evcrisp.core.registry import plain_parameters

    return {
        "name": kind.name,
        "about": _first_sentence(kind),
        "parameters": plain_parameters(kind),
    }


def _motion(kind: "type[MotionModel]") -> dict[str, Any]:
    return {
        "name": kind.name,
        "parameters": dict(zip(kind.param_names, kind.param_units, strict=True)),
    }


def _first_sentence(kind: type) -> str:
    first = (inspect.getdoc(kind) or "").partition("\n")[0]
    return re.sub(r"; see :.*", ".", first)


def _page(facts: dict[str, Any]) -> str:
    methods = [
        entry(f"{row['name']}: {row['about']}", [parameters_line(row["parameters"])])
        for row in facts["methods"]
    ]
    found = [entry(f"{row['name']}: {row['about']}", []) for row in facts["open_motions"]]
    motions = [
        entry(f"{row['name']}: {', '.join(map(' '.join, row['parameters'].items()))}", [])
        for row in facts["motions"]
    ]
    sections = {"Methods": methods, "Open motions": found, "Motion models": motions}
    return "\n\n".join("\n".join([title, "", *lines]) for title, lines in sections.items())


#: Minimum width, columns; below it most words would not fit on a line.
_MIN_COLUMNS = 40


def entry(title: str, lines: Iterable[str]) -> str:
    """Return a title and indented lines below it, wrapped."""
    width = max(shutil.get_terminal_size().columns, _MIN_COLUMNS)
    parts = [_wrapped(title, width, ""), *(_wrapped(line, width, "    ") for line in lines)]
    return "\n".join(parts)


def parameters_line(parameters: Mapping[str, object]) -> str:
    """Return the parameters with their defaults, such as ``tau_us=5000``."""
    words = (f"{name}={_word(value)}" for name, value in parameters.items())
    return f"parameters: {' '.join(words) or 'none'}"


def _wrapped(text: str, width: int, indent: str) -> str:
    return textwrap.fill(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=f"{indent}    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _word(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else str(value)
