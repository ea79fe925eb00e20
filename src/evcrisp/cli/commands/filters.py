"""``evcrisp filters``: list the filters."""

import inspect
import json
from typing import TYPE_CHECKING, Any

import click

from evcrisp.cli import options
from evcrisp.cli.commands.methods import entry, parameters_line

if TYPE_CHECKING:
    from evcrisp.filters import Filter


@click.command("filters")
@options.json_option
def filters_command(as_json: bool) -> None:
    """List the filters: source, cost, memory, presets, and parameters with their defaults."""
    from evcrisp.filters import FILTERS

    rows = [_facts(kind) for kind in FILTERS.values()]
    click.echo(json.dumps(rows, indent=2, default=str) if as_json else _page(rows))


def _facts(kind: "type[Filter]") -> dict[str, Any]:
    from evcrisp.filters.protocol import about, presets

    return {
        "name": kind.name,
        "parameters": {
            name: None if parameter.default is parameter.empty else parameter.default
            for name, parameter in inspect.signature(kind).parameters.items()
        },
        "cost": about(kind).cost,
        "memory": about(kind).memory,
        "source": about(kind).source,
        "reconstruction": about(kind).reconstruction,
        "presets": {name: dict(params) for name, params in presets(kind).items()},
    }


def _page(rows: list[dict[str, Any]]) -> str:
    return "\n".join(entry(f"{row['name']}: {row['source']}", _lines(row)) for row in rows)


def _lines(row: dict[str, Any]) -> list[str]:
    lines = [
        f"cost per event: {row['cost']}; memory: {row['memory']}",
        parameters_line(row["parameters"]),
    ]
    return [*lines, f"presets: {' '.join(row['presets'])}"] if row["presets"] else lines
