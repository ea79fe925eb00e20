"""MATLAB files, versions 5 to 7: a matrix of four columns, a struct, or one variable per column.

A variable is read whole, because MATLAB stores one column after the other.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import FormatError
from evcrisp.io.arrays.mat5 import HEADER_BYTES, Numbers, Variable, list_variables, load
from evcrisp.io.event_columns import ColumnConverter, find_columns, find_order
from evcrisp.io.protocol import PACKET_EVENTS, Packet, Reader, Source


@dataclass(slots=True, kw_only=True)
class MatSource(Source):
    """A MATLAB file, not yet read."""

    #: The variables of the events: one matrix or struct, or one per column.
    variables: list[Variable]
    #: Damage of the file after them.
    damage: FormatError | None = None

    def packets(self) -> Iterator[Packet]:
        """Yield the events in file order."""
        contents = {variable.name: load(self.path, variable) for variable in self.variables}
        first = next(iter(contents.values()))
        if isinstance(first, dict):
            yield from _column_packets(first)
        elif len(contents) == 1:
            yield from _matrix_packets(first)
        else:
            yield from _column_packets(
                {name: item for name, item in contents.items() if isinstance(item, Numbers)}
            )
        if self.damage is not None:
            raise self.damage


def _matrix_packets(numbers: Numbers) -> Iterator[Packet]:
    height, width = numbers.shape
    values = numbers.values
    if width == 4:  # one column after the other
        n = min(height, max(0, values.size - 3 * height))
        columns = [values[k * height : k * height + n] for k in range(4)]
    else:
        columns = list(values[: values.size // 4 * 4].reshape(-1, 4).T)
    if columns[0].size:
        head = np.stack([column[:PACKET_EVENTS] for column in columns], axis=1)
        order = find_order(head, HEADER_BYTES)
        yield from _packets(dict(zip(order, columns, strict=True)))
    if numbers.damage is not None:
        raise numbers.damage


def _column_packets(contents: dict[str, Numbers]) -> Iterator[Packet]:
    found = find_columns(contents)
    parts = {column: contents[name] for column, name in found.items()}
    lengths = {column: math.prod(part.shape) for column, part in parts.items()}
    if len(set(lengths.values())) > 1:
        raise FormatError(f"the columns must have one length; got {lengths}", offset=HEADER_BYTES)
    n_there = min(part.values.size for part in parts.values())
    yield from _packets({column: part.values[:n_there] for column, part in parts.items()})
    damage = next((part.damage for part in parts.values() if part.damage is not None), None)
    if damage is not None:
        raise damage


def _packets(columns: dict[str, NDArray[Any]]) -> Iterator[Packet]:
    converter = ColumnConverter()
    for first in range(0, columns["t"].size, PACKET_EVENTS):
        part = slice(first, first + PACKET_EVENTS)
        parts = {name: column[part] for name, column in columns.items()}
        yield from converter.packets(parts, HEADER_BYTES)


class MatReader(Reader):
    """Read MATLAB files."""

    name = "mat"
    title = "MATLAB (.mat)"
    suffixes = (".mat",)
    magic = (b"MATLAB 5.0 MAT-file", b"MATLAB 7.3 MAT-file")

    def open(self, path: Path) -> MatSource:
        """Find the variables of the events."""
        with path.open("rb") as file:
            if file.read(10) == b"MATLAB 7.3":
                raise FormatError("MATLAB 7.3 files are not read; save it with the option '-v7'")
        found, damage = list_variables(path)
        variables = {variable.name: variable for variable in found}
        try:
            chosen = _choose(variables)
        except FormatError as error:
            raise damage or error from error
        return MatSource(
            metadata={"variables": sorted(variables)}, path=path, variables=chosen, damage=damage
        )


def _choose(variables: dict[str, Variable]) -> list[Variable]:
    """Return the variables of the events: one matrix or struct, or one per column."""
    wholes = {
        name: variable
        for name, variable in variables.items()
        if variable.is_struct
        or (variable.is_numeric and len(variable.shape) == 2 and 4 in variable.shape)
    }
    if "events" in wholes:
        return [wholes["events"]]
    if len(wholes) == 1:
        return list(wholes.values())
    vectors = [name for name, item in variables.items() if item.is_numeric and 1 in item.shape]
    try:
        return [variables[name] for name in find_columns(vectors).values()]
    except FormatError:
        listing = ", ".join(f"{name} {item.shape}" for name, item in sorted(variables.items()))
        raise FormatError(
            "expected a variable `events` with four columns, a struct with x, y, t, p, or variables "
            f"with these names; the file has {listing or 'no variables'}"
        ) from None
