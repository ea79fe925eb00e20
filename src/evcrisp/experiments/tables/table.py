"""Tables of numbers, with the numbers of the paper beside ours."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from evcrisp.experiments.methods import Method

Better = Literal["high", "low"] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column; ``better`` is the direction of better values."""

    key: str
    label: str
    group: str = ""
    better: Better = "high"
    digits: int = 3


@dataclass(frozen=True, slots=True)
class Cell:
    """Our number with its interval, and that of the paper; None if missing."""

    value: float | None
    paper: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A method and its cells."""

    key: str
    label: str
    family: str
    cells: dict[str, Cell]
    ranked: bool = True  # False for controls

    @classmethod
    def of(cls, method: Method, cells: dict[str, Cell]) -> "Row":
        """Return the row of a method."""
        key, label, family = method.key, method.label, method.family
        return cls(key=key, label=label, family=family, cells=cells, ranked=family != "controls")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows, columns and notes."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = field(default=())

    def _repr_html_(self) -> str:
        """Return HTML for notebooks."""
        from evcrisp.experiments.tables.formats import as_html

        return as_html([self])

    def cell(self, row: Row, column: Column) -> Cell:
        """Return a cell, empty if missing."""
        return row.cells.get(column.key, Cell(None))

    def ranks(self, which: Literal["value", "paper"] = "value") -> dict[tuple[str, str], int]:
        """Return (row, column) -> rank 1 or 2 of the best values as printed; ties share it."""
        found: dict[tuple[str, str], int] = {}
        for column in self.columns:
            if column.better is None:
                continue
            values = {
                row.key: round(value, column.digits)
                for row in self.rows
                if row.ranked
                and (value := getattr(self.cell(row, column), which)) is not None
                and math.isfinite(value)
            }
            order = sorted(set(values.values()), reverse=column.better == "high")
            for key, value in values.items():
                rank = order.index(value) + 1
                if rank <= 2:
                    found[key, column.key] = rank
        return found

    def groups(self) -> Iterator[tuple[str, int]]:
        """Yield (group, number of its columns) from left to right."""
        for name, columns in itertools.groupby(self.columns, key=lambda column: column.group):
            yield name, len(list(columns))


def mean(values: list[float | None]) -> float | None:
    """Return the mean of the known numbers; None without any."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
