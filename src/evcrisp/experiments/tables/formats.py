"""Tables as Markdown, CSV, JSON, LaTeX and HTML. Equal numbers give equal bytes."""

import csv
import html
import io
import json
from collections.abc import Callable, Iterator, Sequence

from evcrisp.experiments.tables.table import Cell, Column, Row, Table


def number(value: float | None, column: Column) -> str:
    """Return a number with the digits of its column."""
    return "-" if value is None else f"{value:.{column.digits}f}"


def as_markdown(tables: Sequence[Table]) -> str:
    """Return tables in Markdown; numbers of the paper are in parentheses."""
    parts = []
    for table in tables:
        heads = [f"{column.group} {column.label}".strip() for column in table.columns]
        lines = [f"### {table.title}", "", f"| | {' | '.join(heads)} |"]
        lines.append(f"|---|{'---|' * len(heads)}")
        for row, cells in _rows(table, {1: "**{}**", 2: "<u>{}</u>"}, " ± {}"):
            lines.append(f"| {row.label} | {' | '.join(cells)} |")
        lines += ["", *(f"- {note}" for note in table.notes)]
        parts.append("\n".join(lines).rstrip() + "\n")
    return "\n".join(parts)


def as_latex(tables: Sequence[Table]) -> str:
    """Return tables in LaTeX with booktabs; numbers of the paper are in parentheses."""
    parts = []
    for table in tables:
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
        for row, cells in _rows(table, {1: "\\textbf{{{}}}", 2: "\\underline{{{}}}"}, " $\\pm$ {}"):
            if row.family != family:
                lines.append("    \\midrule")
                family = row.family
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
        spans = "".join(f'<th colspan="{n}">{html.escape(name)}</th>' for name, n in table.groups())
        heads = "".join(f"<th>{html.escape(column.label)}</th>" for column in table.columns)
        lines = [f"<h3>{html.escape(table.title)}</h3>", "<table>"]
        lines.append(f"<tr><th></th>{spans}</tr><tr><th></th>{heads}</tr>")
        for row, cells in _rows(table, {1: "<b>{}</b>", 2: "<u>{}</u>"}, " ± {}"):
            shown = "".join(f"<td>{cell}</td>" for cell in cells)
            lines.append(f"<tr><th>{html.escape(row.label)}</th>{shown}</tr>")
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
    """Return tables in JSON, with all digits and notes."""
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


#: Suffix of a file -> function that returns its text.
FORMATS: dict[str, Callable[[Sequence[Table]], str]] = {
    ".md": as_markdown,
    ".csv": as_csv,
    ".json": as_json,
    ".tex": as_latex,
}


def _facts(cell: Cell) -> dict[str, float]:
    facts = {"ours": cell.value, "paper": cell.paper, "low": cell.low, "high": cell.high}
    return {name: value for name, value in facts.items() if value is not None}


def _rows(table: Table, marks: dict[int, str], interval: str) -> Iterator[tuple[Row, list[str]]]:
    """Yield rows with their cells as text; ``marks`` are templates of the two best ranks."""
    ours, paper = table.ranks(), table.ranks("paper")

    def text(row: Row, column: Column) -> str:
        cell, place = table.cell(row, column), (row.key, column.key)
        shown = marks.get(ours.get(place, 0), "{}").format(number(cell.value, column))
        if cell.value is not None and cell.low is not None and cell.high is not None:
            shown += interval.format(number((cell.high - cell.low) / 2, column))
        if cell.paper is not None:
            mark = marks.get(paper.get(place, 0), "{}")
            shown += f" ({mark.format(number(cell.paper, column))})"
        return shown

    for row in table.rows:
        yield row, [text(row, column) for column in table.columns]


def _escaped(text: str) -> str:
    special = {letter: f"\\{letter}" for letter in "&%#_"}
    return text.translate(str.maketrans({**special, "\\": "\\textbackslash "}))
