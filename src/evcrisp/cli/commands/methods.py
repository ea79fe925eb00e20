"""``evcrisp methods``: list the methods and the motions, or explain a method."""

import inspect
import json
import re
from typing import TYPE_CHECKING, Any

import click

from evcrisp.cli import options
from evcrisp.cli.part_docs import read_doc
from evcrisp.cli.part_page import (
    entry,
    explanation,
    paragraph,
    parameter_facts,
    parameters_line,
)

if TYPE_CHECKING:
    from evcrisp.estimators.protocol import Estimator
    from evcrisp.motion import MotionModel


@click.command("methods")
@click.argument("name", required=False)
@options.json_option
def methods_command(name: str | None, as_json: bool) -> None:
    """List the methods and the motions; or explain the method or the motion NAME.

    The parameters can be set with --set. For a default of none, the method chooses the value. The
    method auto finds the model of an open motion; other methods take it as a translation.
    """
    from evcrisp.core.registry import lookup
    from evcrisp.estimators.registry import ESTIMATORS
    from evcrisp.motion import MOTION_MODELS
    from evcrisp.motion.open_motion import OPEN_MOTIONS

    if name is not None and name in MOTION_MODELS and name not in ESTIMATORS:
        row = _motion(MOTION_MODELS[name])
        click.echo(json.dumps(row, indent=2) if as_json else _motion_page(row))
        return
    if name is not None:
        kind = lookup(ESTIMATORS, name, "method")
        explained = {"name": kind.name, **parameter_facts(kind, ESTIMATORS.values())}
        text = json.dumps(explained, indent=2, default=str) if as_json else _explained(explained)
        click.echo(text)
        return
    facts = {
        "methods": [_method(kind) for kind in ESTIMATORS.values()],
        "open_motions": [{"name": name, "about": text} for name, text in OPEN_MOTIONS.items()],
        "motions": [_motion(kind) for kind in MOTION_MODELS.values()],
    }
    click.echo(json.dumps(facts, indent=2) if as_json else _page(facts))


def _explained(facts: dict[str, Any]) -> str:
    """Return the page of one method."""
    page = explanation(facts, f"evcrisp run -m {facts['name']} --set NAME=VALUE")
    return "\n\n".join(
        [page, entry("Reference", facts["references"])] if facts["references"] else [page]
    )


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
        "about": list(read_doc(kind).rule),
    }


def _motion_page(row: dict[str, Any]) -> str:
    """Return the page of one motion model."""
    first, *rest = row["about"] or ("",)
    parameters = ", ".join(f"{name} [{unit}]" for name, unit in row["parameters"].items())
    texts = [f"{row['name']}: {first}", *(text for text in rest if not text.startswith(">>>"))]
    return "\n\n".join(map(paragraph, [*texts, f"Parameters: {parameters}"]))


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
