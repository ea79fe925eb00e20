"""``evcrisp filters``: what filters there are."""

import inspect
import json
from typing import TYPE_CHECKING, Any

import click

from evcrisp.cli._options import json_option

if TYPE_CHECKING:
    from evcrisp.filters import Denoiser


@click.command("filters")
@json_option
def filters_command(as_json: bool) -> None:
    """List the filters: cost and memory, source, presets, and parameters with their defaults."""
    from evcrisp.filters import DENOISERS

    rows = [_facts(kind) for kind in DENOISERS.values()]
    click.echo(json.dumps(rows, indent=2, default=str) if as_json else _table(rows))


def _facts(kind: "type[Denoiser]") -> dict[str, Any]:
    return {
        "name": kind.name,
        "parameters": {
            name: None if parameter.default is parameter.empty else parameter.default
            for name, parameter in inspect.signature(kind).parameters.items()
        },
        "cost": kind.about.cost,
        "memory": kind.about.memory,
        "source": kind.about.source,
        "reconstruction": kind.about.reconstruction,
        "presets": {name: dict(params) for name, params in kind.presets.items()},
    }


def _table(rows: list[dict[str, Any]]) -> str:
    """Return a line per filter, and one with its parameters below."""
    titles = ("name", "cost per event", "memory", "source")
    cells = [[row["name"], row["cost"], row["memory"], row["source"]] for row in rows]
    widths = [max(map(len, column)) for column in zip(titles, *cells, strict=True)]
    lines = [_line(titles, widths)]
    for row, cell in zip(rows, cells, strict=True):
        lines.append(_line(cell, widths))
        parameters = " ".join(f"{name}={_word(v)}" for name, v in row["parameters"].items())
        lines.append(f"    parameters: {parameters or 'none'}")
        if row["presets"]:
            lines.append(f"    presets: {' '.join(row['presets'])}")
    return "\n".join(lines)


def _line(cells: Any, widths: list[int]) -> str:
    return "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)).rstrip()


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
