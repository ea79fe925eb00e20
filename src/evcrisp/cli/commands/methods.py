"""``evcrisp methods``: list the methods and the motion models."""

import inspect
import json
import re
from typing import TYPE_CHECKING, Any, get_args

import click

from evcrisp.cli import options
from evcrisp.cli.listing import entry, parameters_line

if TYPE_CHECKING:
    from evcrisp.estimators.protocol import Estimator
    from evcrisp.motion import MotionModel

#: Types of parameters that --set can give.
_PLAIN = (bool, int, float, str)


@click.command("methods")
@options.json_option
def methods_command(as_json: bool) -> None:
    """List the methods with their parameters and defaults, and the motion models.

    The parameters can be set with --set. For a default of none, the method chooses the value.
    """
    from evcrisp.estimators.registry import ESTIMATORS
    from evcrisp.motion import MOTION_MODELS

    facts = {
        "methods": [_method(kind) for kind in ESTIMATORS.values()],
        "motions": [_motion(kind) for kind in MOTION_MODELS.values()],
    }
    click.echo(json.dumps(facts, indent=2) if as_json else _page(facts))


def _method(kind: "type[Estimator]") -> dict[str, Any]:
    parameters = inspect.signature(kind).parameters.values()
    return {
        "name": kind.name,
        "about": _first_sentence(kind),
        "parameters": {p.name: p.default for p in parameters if _is_plain(p)},
    }


def _motion(kind: "type[MotionModel]") -> dict[str, Any]:
    return {
        "name": kind.name,
        "parameters": dict(zip(kind.param_names, kind.param_units, strict=True)),
    }


def _first_sentence(kind: type) -> str:
    first = (inspect.getdoc(kind) or "").partition("\n")[0]
    return re.sub(r"; see :.*", ".", first)


def _is_plain(parameter: inspect.Parameter) -> bool:
    if parameter.default is None:
        kinds = set(get_args(parameter.annotation)) - {type(None)}
        return bool(kinds) and kinds <= set(_PLAIN)
    return isinstance(parameter.default, _PLAIN)


def _page(facts: dict[str, Any]) -> str:
    methods = [
        entry(f"{row['name']}: {row['about']}", [parameters_line(row["parameters"])])
        for row in facts["methods"]
    ]
    motions = [
        entry(f"{row['name']}: {', '.join(map(' '.join, row['parameters'].items()))}", [])
        for row in facts["motions"]
    ]
    return "\n".join(["Methods", "", *methods, "", "Motion models", "", *motions])
