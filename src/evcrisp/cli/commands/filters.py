"""``evcrisp filters``: list the filters, or explain one of them."""

import inspect
import json
from typing import TYPE_CHECKING, Any

import click

from evcrisp.cli import options
from evcrisp.cli.part_page import entry, explanation, parameter_facts, parameters_line, settings

if TYPE_CHECKING:
    from evcrisp.filters import Filter


@click.command("filters")
@click.argument("name", required=False)
@options.json_option
def filters_command(name: str | None, as_json: bool) -> None:
    """List the filters; or explain the filter NAME: its rule, parameters, presets and reference.

    The list has the source of each filter, its cost per event, its memory, its parameters with their
    defaults, and its presets. A preset follows another program. The list says for which presets the
    labels were compared with those of the program and are equal bit for bit.
    """
    from evcrisp.core.registry import lookup
    from evcrisp.filters import FILTERS

    if name is not None:
        kind = lookup(FILTERS, name, "filter")
        facts = {**_facts(kind), **parameter_facts(kind, FILTERS.values())}
        click.echo(json.dumps(facts, indent=2, default=str) if as_json else _explained(facts))
        return
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
        "compared_presets": list(about(kind).compared),
    }


def _page(rows: list[dict[str, Any]]) -> str:
    titles = (": ".join(filter(None, (row["name"], row["source"]))) for row in rows)
    return "\n".join(entry(title, _lines(row)) for title, row in zip(titles, rows, strict=True))


def _lines(row: dict[str, Any]) -> list[str]:
    return [
        *([f"cost {cost}"] if (cost := _cost(row)) else []),
        parameters_line(row["parameters"]),
        *([f"presets: {_presets(row)}"] if row["presets"] else []),
        *([f"reconstructed: {row['reconstruction']}"] if row["reconstruction"] else []),
    ]


def _cost(row: dict[str, Any]) -> str:
    """Return the cost per event and the memory; filters of other packages need not state them."""
    parts = (("per event", row["cost"]), ("memory", row["memory"]))
    return "; ".join(f"{name}: {text}" for name, text in parts if text)


def _presets(row: dict[str, Any]) -> str:
    """Return the presets, and which of them were compared with their program."""
    compared = row["compared_presets"]
    others = [name for name in row["presets"] if name not in compared]
    parts = []
    if compared:
        parts.append(f"{' '.join(compared)} (equal to the program bit for bit)")
    if others:
        parts.append(f"{' '.join(others)} (by its description; not compared)")
    return ", ".join(parts)


def _explained(facts: dict[str, Any]) -> str:
    """Return the page of one filter."""
    sections = [
        explanation(facts, f"evcrisp filter -m {facts['name']} --set NAME=VALUE"),
    ]
    if sources := [text for text in (facts["source"], *facts["references"]) if text]:
        sections.append(entry("Source", sources))
    if cost := _cost(facts):
        sections.append(entry("Cost", [cost]))
    if facts["presets"]:
        rows = (
            f"{name}: {settings(values) or 'the defaults'}; {_comparison(name, facts)}"
            for name, values in facts["presets"].items()
        )
        sections.append(entry(f"Presets (evcrisp filter -m {facts['name']} --preset NAME)", rows))
    if facts["reconstruction"]:
        sections.append(entry("Reconstructed", [facts["reconstruction"]]))
    return "\n\n".join(sections)


def _comparison(preset: str, facts: dict[str, Any]) -> str:
    if preset in facts["compared_presets"]:
        return "equal to the program bit for bit"
    return "by the description of the program; not compared with it"
