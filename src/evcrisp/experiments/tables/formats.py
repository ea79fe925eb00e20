"""Tables as Markdown, CSV, JSON, LaTeX and HTML. Same numbers, same bytes."""

import csv
import html
import io
import json
from collections.abc import Callable, Sequence

from evcrisp.experiments.tables.table import Cell, Column, Row, Table


def number(value: float | None, column: Column) -> str:
    """Return a number as the column prints it."""
    return "-" if value is None else f"{value:.{column.digits}f}"


def as_markdown(tables: Sequence[Table]) -> str:
    """Return tables in Markdown; the paper's numbers are in parentheses."""
    parts = []
    for table in tables:
        ours, paper = table.ranks(), table.ranks("paper")
        heads = [f"{column.group} {column.label}".strip() for column in table.columns]
        lines = [f"### {table.title}", "", f"| | {' | '.join(heads)} |"]
        lines.append(f"|---|{'---|' * len(heads)}")
        for row in table.rows:
            cells = (
                _cell(table, row, column, ours, paper, _markdown_rank, " ± {}")
                for column in table.columns
            )
            lines.append(f"| {row.label} | {' | '.join(cells)} |")
        lines += ["", *(f"- {note}" for note in table.notes)]
        parts.append("\n".join(lines).rstrip() + "\n")
    return "\n".join(parts)


def as_latex(tables: Sequence[Table]) -> str:
    """Return tables in LaTeX, for the packages booktabs; the paper's numbers are in parentheses."""
    parts = []
    for table in tables:
        ours, paper = table.ranks(), table.ranks("paper")
        spans = [f"\\multicolumn{{{n}}}{{c}}{{{_escaped(name)}}}" for name, n in table.groups()]
        lines = [
            "\\begin{table}[tb]",
            f"  \\caption{{{_escaped(table.title)}}}",
            "  \\centering",
            f"  \\begin{{tabular}}{{@{{}}l{'c' * len(table.columns)}@{{}}}}",
            "    \\toprule",
            f"    & {' & '.join(spans)} \\\\",
            f"    & {' & '.join(_escaped(column.label) for column in table.columns)} \\\\",
        ]
        family = None
        for row in table.rows:
            if row.family != family:
                lines.append("    \\midrule")
                family = row.family
            cells = (
                _cell(table, row, column, ours, paper, _latex_rank, " $\\pm$ {}")
                for column in table.columns
            )
            lines.append(f"    {_escaped(row.label)} & {' & '.join(cells)} \\\\")
        lines += ["    \\bottomrule", "  \\end{tabular}"]
        lines += [f"  % {note}" for note in table.notes]
        lines += [f"  \\label{{tab:{table.name}}}", "\\end{table}"]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def as_html(tables: Sequence[Table]) -> str:
    """Return tables in HTML, for a report."""
    parts = []
    for table in tables:
        ours, paper = table.ranks(), table.ranks("paper")
        spans = "".join(f'<th colspan="{n}">{html.escape(name)}</th>' for name, n in table.groups())
        heads = "".join(f"<th>{html.escape(column.label)}</th>" for column in table.columns)
        lines = [f"<h3>{html.escape(table.title)}</h3>", "<table>"]
        lines.append(f"<tr><th></th>{spans}</tr><tr><th></th>{heads}</tr>")
        for row in table.rows:
            cells = "".join(
                f"<td>{_cell(table, row, column, ours, paper, _html_rank, ' ± {}')}</td>"
                for column in table.columns
            )
            lines.append(f"<tr><th>{html.escape(row.label)}</th>{cells}</tr>")
        lines.append("</table>")
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in table.notes)
        parts.append("\n".join(lines) + (f"\n<ul>{notes}</ul>\n" if notes else "\n"))
    return "\n".join(parts)


def as_csv(tables: Sequence[Table]) -> str:
    """Return one line per cell, with all digits."""
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(["table", "method", "group", "column", "ours", "paper", "low", "high"])
    for table in tables:
        for row in table.rows:
            for column in table.columns:
                cell = table.cell(row, column)
                numbers = (cell.value, cell.paper, cell.low, cell.high)
                shown = ["" if value is None else repr(float(value)) for value in numbers]
                writer.writerow([table.name, row.key, column.group, column.label, *shown])
    return lines.getvalue()


def as_json(tables: Sequence[Table]) -> str:
    """Return everything, for machines."""
    content = [
        {
            "name": table.name,
            "title": table.title,
            "notes": list(table.notes),
            "rows": [
                {
                    "method": row.key,
                    "label": row.label,
                    "family": row.family,
                    "cells": {
                        column.key: _facts(table.cell(row, column)) for column in table.columns
                    },
                }
                for row in table.rows
            ],
        }
        for table in tables
    ]
    return json.dumps(content, indent=2) + "\n"


#: Suffix -> how the file is made.
FORMATS: dict[str, Callable[[Sequence[Table]], str]] = {
    ".md": as_markdown,
    ".csv": as_csv,
    ".json": as_json,
    ".tex": as_latex,
}


def _facts(cell: Cell) -> dict[str, float]:
    facts = {"ours": cell.value, "paper": cell.paper, "low": cell.low, "high": cell.high}
    return {name: value for name, value in facts.items() if value is not None}


def _cell(
    table: Table,
    row: Row,
    column: Column,
    ours: dict[tuple[str, str], int],
    paper: dict[tuple[str, str], int],
    marked: Callable[[str, int | None], str],
    interval: str,
) -> str:
    cell = table.cell(row, column)
    place = (row.key, column.key)
    text = marked(number(cell.value, column), ours.get(place))
    if cell.value is not None and cell.low is not None and cell.high is not None:
        text += interval.format(number((cell.high - cell.low) / 2, column))
    if cell.paper is not None:
        text += f" ({marked(number(cell.paper, column), paper.get(place))})"
    return text


def _markdown_rank(text: str, rank: int | None) -> str:
    return {1: f"**{text}**", 2: f"<u>{text}</u>"}.get(rank or 0, text)


def _latex_rank(text: str, rank: int | None) -> str:
    return {1: f"\\textbf{{{text}}}", 2: f"\\underline{{{text}}}"}.get(rank or 0, text)


def _html_rank(text: str, rank: int | None) -> str:
    return {1: f"<b>{text}</b>", 2: f"<u>{text}</u>"}.get(rank or 0, text)


def _escaped(text: str) -> str:
    for letter in "\\&%#_":
        text = text.replace(letter, f"\\{letter}" if letter != "\\" else "\\textbackslash ")
    return text
