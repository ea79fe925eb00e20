"""CSV: one event per line; the first line names the columns, in any order.

Without names, the columns are ``x,y,p,t`` (Metavision's converter). If the values do not fit that
order, it is ``t,x,y,p`` or ``x,y,t,p``, if exactly one of them fits. All values are whole numbers
then, and time is in microseconds.

The name of the column can state the unit of time, such as ``t_us`` or ``t [s]``. Otherwise time is
in seconds if at least half of the first lines (64 KiB) have a fraction, lines at time 0 aside; else
in microseconds, written as ``1000``, ``1000.0`` or ``1e3``. A fraction is damage then.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evcrisp.core.errors import FormatError
from evcrisp.io.byte_blocks import file_blocks, first_bytes, uncompressed
from evcrisp.io.event_columns import are_seconds, best_orders, find_columns
from evcrisp.io.protocol import Packet, Reader, Source, Writer, located
from evcrisp.io.text import event_text

_METAVISION = ("x", "y", "p", "t")
_UNIT_SUFFIXES = {"_us": False, "[us]": False, "(us)": False, "_s": True, "[s]": True, "(s)": True}


@dataclass(slots=True, kw_only=True)
class _CsvSource(Source):
    layout: event_text.Layout

    def packets(self) -> Iterator[Packet]:
        return event_text.text_packets(file_blocks(self.path), self.layout)


class CsvReader(Reader):
    """Read CSV with comma, semicolon, tab or blank between columns; plain or gzip."""

    name = "csv"
    title = "CSV"
    suffixes = (".csv", ".csv.gz")

    def recognizes(self, head: bytes, path: Path) -> bool:
        """Look for names of columns, or for four columns of whole numbers in a usual order."""
        head = uncompressed(head)
        try:
            is_text = not path.is_dir() and b"\0" not in head
            return is_text and find_layout(event_text.head_lines(head)) is not None
        except FormatError:
            return False

    def open(self, path: Path) -> _CsvSource:
        """Open a file and find its columns."""
        lines = event_text.head_lines(first_bytes(file_blocks(path), event_text.HEAD_BYTES))
        # Without a layout, the file has comments only and no events.
        layout = find_layout(lines) or event_text.Layout(_METAVISION, ",")
        facts = {"columns": [name for name in layout.columns if name]}
        return _CsvSource(event_text.stated_size(lines), facts, path=path, layout=layout)


def find_layout(lines: list[event_text.Line]) -> event_text.Layout | None:
    """Return the layout of the lines, or raise; None if all are comments."""
    data = [line for line in lines if not line.is_comment]
    if not data:
        return None
    delimiter = next((mark for mark in ",;" if mark.encode() in data[0].content), " ")
    first = _fields(data[0], delimiter)
    if all(event_text.is_number(item) for item in first):
        columns = _unnamed([_fields(line, delimiter) for line in data], data[0].offset)
        return event_text.Layout(columns, delimiter, False, data[0].offset, data[0].number, True)
    columns, seconds = _named(first, data[0].offset)
    t = columns.index("t")
    times = [row[t] for line in data[1:] if len(row := _fields(line, delimiter)) > t]
    is_guessed = seconds is None
    if seconds is None:
        seconds = are_seconds(np.array([float(t) for t in times if event_text.is_number(t)]))
    return event_text.Layout(columns, delimiter, seconds, data[0].end, data[0].number, is_guessed)


def _fields(line: event_text.Line, delimiter: str) -> list[bytes]:
    if delimiter == " ":
        return line.content.split()
    return [item.strip() for item in line.content.split(delimiter.encode())]


def _named(fields: list[bytes], offset: int) -> tuple[tuple[str, ...], bool | None]:
    """Return the columns, and whether the name of time states seconds (None: no unit)."""
    seconds = None
    names: list[str] = []
    for item in fields:
        name = item.decode("latin-1").strip("\"' ").lower()
        suffix = next((suffix for suffix in _UNIT_SUFFIXES if name.endswith(suffix)), "")
        if suffix and name.removesuffix(suffix).strip() in ("t", "ts", "time", "timestamp"):
            seconds = _UNIT_SUFFIXES[suffix]
            name = "t"
        names.append(name)
    with located(offset):
        found = find_columns(names)
    twice = next((name for name in found.values() if names.count(name) > 1), None)
    if twice is not None:
        raise FormatError(f"two columns are named {twice!r}", offset=offset)
    columns = {name: column for column, name in found.items()}
    return tuple(columns.get(name, "") for name in names), seconds


def _unnamed(rows: list[list[bytes]], offset: int) -> tuple[str, ...]:
    """Return the order that fits the rows before the first damaged one."""
    good = list(itertools.takewhile(_are_whole, rows))
    best = best_orders(np.array(good, np.int64)) if good else []
    if _METAVISION in best:
        return _METAVISION
    if len(best) == 1:
        return best[0]
    raise FormatError(
        "the columns have no names, and their values fit none or several of the orders x,y,p,t, "
        "t,x,y,p and x,y,t,p (whole numbers, t in us). Add a first line of names, such as `t,x,y,p`",
        offset=offset,
    )


def _are_whole(row: list[bytes]) -> bool:
    """Return whether a line has four whole numbers of at most 64 bits."""
    return len(row) == 4 and all(event_text.is_whole(item) and len(item) < 19 for item in row)


@dataclass(frozen=True, slots=True)
class CsvWriter(Writer):
    """Write ``t,x,y,p`` (and ``signal``), t in microseconds; gzip if the name ends in ``.gz``.

    The first line is a comment with the sensor size.
    """

    name = "csv"
    title = "CSV"
    suffixes = (".csv", ".csv.gz")
    keeps_signal = True

    def open(self, path: Path, resolution: tuple[int, int]) -> event_text.TextSink:
        """Start a file."""
        file, below = event_text.create_text(path)
        size = b"# evcrisp width=%d height=%d\n" % resolution

        def preamble(labeled: bool) -> bytes:
            return size + (b"t,x,y,p,signal\n" if labeled else b"t,x,y,p\n")

        return event_text.TextSink(file, ",", False, preamble, keeps_labels=True, below=below)
