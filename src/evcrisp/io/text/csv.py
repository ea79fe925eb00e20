"""CSV: one event per line, columns named in the first line and in any order.

Without names the columns are those of Metavision's converter, ``x,y,p,t``; where these do not fit
the values, ``t,x,y,p`` or ``x,y,t,p``, if one of them does. All are whole numbers then, and time is
in microseconds. The name of a column may say the unit of time, such as ``t_us`` or ``t [s]``. Where it
does not, time is in seconds if one of the first lines (those of the first 64 KiB) has a fraction, else
in microseconds, be they written as ``1000``, ``1000.0`` or ``1e3``; a fraction that comes later
contradicts that and is damage.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from evcrisp.core.errors import FormatError
from evcrisp.io.arrays.matrix import best_orders
from evcrisp.io.byte_blocks import file_blocks, first_bytes, uncompressed
from evcrisp.io.event_columns import find_columns
from evcrisp.io.protocol import Packet, Source
from evcrisp.io.standard_sizes import ALL_SIZES
from evcrisp.io.text.event_text import (
    HEAD_BYTES,
    Layout,
    Line,
    TextSink,
    create_text,
    head_lines,
    is_number,
    is_whole,
    stated_size,
    text_packets,
)

_METAVISION = ("x", "y", "p", "t")
_UNIT_SUFFIXES = {"_us": False, "[us]": False, "(us)": False, "_s": True, "[s]": True, "(s)": True}


@dataclass(slots=True)
class CsvSource(Source):
    """An open CSV file."""

    path: Path = field(kw_only=True)
    layout: Layout = field(kw_only=True)

    def packets(self) -> Iterator[Packet]:
        """Yield the events in file order."""
        return text_packets(file_blocks(self.path), self.layout)


@dataclass(frozen=True, slots=True)
class CsvReader:
    """Read CSV with comma, semicolon, tab or blank between the columns; plain or gzip."""

    name: ClassVar[str] = "csv"
    title: ClassVar[str] = "CSV"
    suffixes: ClassVar[tuple[str, ...]] = (".csv", ".csv.gz")
    standard_sizes: ClassVar[tuple[tuple[int, int], ...]] = ALL_SIZES
    foreign_errors: ClassVar[tuple[type[Exception], ...]] = ()

    def recognizes(self, head: bytes, path: Path) -> bool:
        """Look for a line that names the columns, or for four columns of whole numbers that fit."""
        head = uncompressed(head)
        if path.is_dir() or b"\0" in head:
            return False
        try:
            found = find_layout(head_lines(head))
        except FormatError:
            return False
        return found is not None

    def open(self, path: Path) -> CsvSource:
        """Open a file and find its columns."""
        lines = head_lines(first_bytes(file_blocks(path), HEAD_BYTES))
        layout = find_layout(lines)
        if layout is None:  # nothing but comments: no events
            layout = Layout(_METAVISION, ",")
        return CsvSource(
            resolution=stated_size(lines),
            metadata={"columns": [name for name in layout.columns if name]},
            path=path,
            layout=layout,
        )


def find_layout(lines: list[Line]) -> Layout | None:
    """Find out what each column holds; None if there is no line but comments.

    Raises
    ------
    FormatError
        If the columns are not named and do not fit the usual orders either.
    """
    data = [line for line in lines if not line.is_comment]
    if not data:
        return None
    delimiter = next((mark for mark in ",;" if mark.encode() in data[0].content), " ")
    first = _fields(data[0], delimiter)
    if all(is_number(item) for item in first):
        columns = _unnamed([_fields(line, delimiter) for line in data], data[0].offset)
        return Layout(columns, delimiter, False, data[0].offset, data[0].number, is_guessed=True)
    columns, seconds = _named(first, data[0].offset)
    t = columns.index("t")
    times = [row[t] for line in data[1:] if len(row := _fields(line, delimiter)) > t]
    if seconds is None:
        seconds = any(is_number(time) and float(time) % 1.0 > 0.0 for time in times)
        return Layout(columns, delimiter, seconds, data[0].end, data[0].number, is_guessed=True)
    return Layout(columns, delimiter, seconds, data[0].end, data[0].number)


def _fields(line: Line, delimiter: str) -> list[bytes]:
    if delimiter == " ":
        return line.content.split()
    return [item.strip() for item in line.content.split(delimiter.encode())]


def _named(fields: list[bytes], offset: int) -> tuple[tuple[str, ...], bool | None]:
    """Return what each column holds, and whether the name of time says seconds (None: no word)."""
    seconds = None
    names: list[str] = []
    for item in fields:
        name = item.decode("latin-1").strip("\"' ").lower()
        suffix = next((suffix for suffix in _UNIT_SUFFIXES if name.endswith(suffix)), "")
        if suffix and name.removesuffix(suffix).strip() in ("t", "ts", "time", "timestamp"):
            seconds = _UNIT_SUFFIXES[suffix]
            name = "t"
        names.append(name)
    try:
        found = find_columns(names)
    except FormatError as error:
        raise FormatError(error.reason, offset=offset) from None
    twice = next((name for name in found.values() if names.count(name) > 1), None)
    if twice is not None:
        raise FormatError(f"two columns are named {twice!r}", offset=offset)
    columns = {name: column for column, name in found.items()}
    return tuple(columns.get(name, "") for name in names), seconds


def _unnamed(rows: list[list[bytes]], offset: int) -> tuple[str, ...]:
    """Return the order that fits the values; of the rows before the first that is damaged."""
    good = list(itertools.takewhile(_are_whole, rows))
    best = best_orders(np.array(good, np.int64)) if good else []
    if _METAVISION in best:
        return _METAVISION
    if len(best) == 1:
        return best[0]
    raise FormatError(
        "the columns have no names, and their values do not tell which is which (x,y,p,t or t,x,y,p "
        "or x,y,t,p; whole numbers, t in microseconds). Add a first line that names them, such as "
        "`t,x,y,p`",
        offset=offset,
    )


def _are_whole(row: list[bytes]) -> bool:
    """Say whether a line holds four whole numbers of no more than 64 bits."""
    return len(row) == 4 and all(is_whole(item) and len(item) < 19 for item in row)


@dataclass(frozen=True, slots=True)
class CsvWriter:
    """Write ``t,x,y,p`` (and ``signal``) with t in microseconds; gzip if the name ends in ``.gz``.

    The first line is a comment that keeps the sensor size.
    """

    name: ClassVar[str] = "csv"
    title: ClassVar[str] = "CSV"
    suffixes: ClassVar[tuple[str, ...]] = (".csv", ".csv.gz")
    keeps_signal: ClassVar[bool] = True
    keeps_extras: ClassVar[bool] = False

    def open(self, path: Path, resolution: tuple[int, int]) -> TextSink:
        """Start a file."""
        file, below = create_text(path)
        size = b"# evcrisp width=%d height=%d\n" % resolution

        def preamble(labeled: bool) -> bytes:
            return size + (b"t,x,y,p,signal\n" if labeled else b"t,x,y,p\n")

        return TextSink(file, ",", False, preamble, keeps_labels=True, below=below)
