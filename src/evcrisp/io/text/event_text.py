"""Read and write events as text; shared by ECD and CSV."""

import gzip
import re
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import IO, cast

import numpy as np

from evcrisp.core.errors import FormatError
from evcrisp.core.events import Events
from evcrisp.core.messages import counted
from evcrisp.io.protocol import PACKET_EVENTS, Columns, Packet, check_labels, slices

#: Bytes of a text from which its layout is found.
HEAD_BYTES = 1 << 16
_MAX_LINE_BYTES = 1 << 16
_WRITE_EVENTS = 1 << 16
#: Bytes per write, for all sizes of chunks, because the bytes of a compressor depend on it.
_WRITE_BYTES = 1 << 20

_ROLES = {"t": 0, "x": 1, "y": 2, "p": 3, "signal": 4, "": 5}
_SIZES = (
    re.compile(rb"width\s*=\s*(\d{1,5})\D+height\s*=\s*(\d{1,5})\b"),  # ours
    re.compile(rb"geometry\s*:\s*(\d{1,5})\s*[,x]\s*(\d{1,5})\b"),  # Metavision
)


@dataclass(frozen=True, slots=True)
class Layout:
    """Columns of a line, and the first line of events."""

    columns: tuple[str, ...]  # of t, x, y, p, signal; "" is not read
    delimiter: str = " "  # " " stands for any run of blanks and tabs
    seconds: bool = True  # whether time is in seconds, else in microseconds
    start: int = 0  # byte of the first line of events
    line: int = 1  # number of that line
    is_guessed: bool = False  # whether the unit of time comes from the first numbers only


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the head of a text."""

    offset: int  # byte of its start
    end: int  # byte of its newline
    number: int
    content: bytes  # without surrounding blanks

    @property
    def is_comment(self) -> bool:
        """Whether the line has no data."""
        return not self.content or self.content[:1] in b"#%"


def head_lines(head: bytes) -> list[Line]:
    """Split the head of a text; an incomplete last line is left out, unless it is the only one."""
    n_mark = 3 * head.startswith(b"\xef\xbb\xbf")  # byte-order mark
    pieces = head[n_mark:].split(b"\n")
    if len(pieces) > 1:
        pieces.pop()
    lines, offset = [], n_mark
    for number, piece in enumerate(pieces, start=1):
        lines.append(Line(offset, offset + len(piece), number, piece.strip()))
        offset += len(piece) + 1
    return lines


def stated_size(lines: list[Line]) -> tuple[int, int] | None:
    """Return (width, height) from a comment, or None."""
    comments = (line.content for line in lines if line.is_comment)
    matches = (pattern.search(comment) for comment in comments for pattern in _SIZES)
    found = next((match for match in matches if match), None)
    return None if found is None else (int(found[1]), int(found[2]))


def is_number(text: bytes) -> bool:
    """Return whether a field is a decimal number."""
    return re.fullmatch(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", text) is not None


def is_whole(text: bytes) -> bool:
    """Return whether a field has no point and no exponent."""
    return re.fullmatch(rb"[+-]?\d+", text) is not None


def text_packets(blocks: Generator[bytes, None, None], layout: Layout) -> Iterator[Packet]:
    """Yield the events of a text, close ``blocks``, and raise at the first wrong line."""
    parser = _Parser(layout)
    rest, n_skip = b"", layout.start
    with closing(blocks):
        try:
            for block in blocks:
                n_skipped = min(n_skip, len(block))
                n_skip -= n_skipped
                text = rest + block[n_skipped:]
                end = text.rfind(b"\n") + 1
                yield from parser.feed(text, end)
                rest = text[end:]
                if len(rest) > _MAX_LINE_BYTES:
                    raise parser.line_error(f"is longer than {_MAX_LINE_BYTES} bytes")
        except FormatError:
            yield from parser.flush()
            raise
    if rest:
        yield from parser.feed(rest + b"\n", len(rest) + 1, last=True)
    yield from parser.flush()


class _Parser:
    """Parse lines into rows of columns; keeps the position in the text."""

    def __init__(self, layout: Layout) -> None:
        from evcrisp.kernels.io import text as kernel

        self._kernel: ModuleType = kernel
        self._layout = layout
        self._roles = np.array([_ROLES[name] for name in layout.columns], np.int64)
        self._offset = layout.start  # byte of the text where the next feed starts
        self._packet_offset = layout.start
        self._state = np.array([0, 0, layout.line - 1, 0, 0], np.int64)
        self._new_rows()

    def _new_rows(self) -> None:
        labeled = "signal" in self._layout.columns
        self._state[1] = 0
        self._rows = Columns.empty(PACKET_EVENTS)
        self._signal = np.empty(PACKET_EVENTS if labeled else 0, np.bool_)

    def feed(self, text: bytes, n: int, *, last: bool = False) -> Iterator[Packet]:
        """Parse the lines in the first ``n`` bytes and yield full packets."""
        data = np.frombuffer(text, np.uint8, n)
        state = self._state
        state[0] = 0
        delimiter, decimals = ord(self._layout.delimiter), 6 if self._layout.seconds else 0
        while state[0] < n:
            x, y, t, p = self._rows
            self._kernel.parse_events(
                data, self._roles, delimiter, decimals, t, x, y, p, self._signal, state
            )
            if state[3] or state[1] == PACKET_EVENTS:
                yield from self.flush()
            if state[3]:
                start = int(state[0])
                self._offset += start
                raise self._wrong_line(text[start : text.index(b"\n", start)], last=last)
        self._offset += n

    def flush(self) -> Iterator[Packet]:
        n = int(self._state[1])
        if n == 0:
            return
        signal = self._signal[:n] if self._signal.size else None
        yield Packet(*self._rows.part(slice(n)), self._packet_offset, signal)
        self._packet_offset = self._offset + int(self._state[0])
        self._new_rows()

    def line_error(self, reason: str) -> FormatError:
        return FormatError(f"line {self._state[2] + 1} {reason}", offset=self._offset)

    def _wrong_line(self, line: bytes, *, last: bool) -> FormatError:
        kernel, columns = self._kernel, self._layout.columns
        status, column = int(self._state[3]), int(self._state[4])
        name = columns[column] or f"column {column + 1}"
        shown = ascii(line[:60].decode("latin-1").strip())
        mark = None if self._layout.delimiter == " " else self._layout.delimiter.encode()
        n_columns = len(line.split(mark))
        if last and n_columns < len(columns):
            return self.line_error(f"is cut short by the end of the text: {shown}")
        if n_columns != len(columns):
            expected = f"expected {len(columns)} ({' '.join(name or '-' for name in columns)})"
            found = counted(n_columns, "column")
            return self.line_error(f"has {found}; {expected}; got {shown}")
        unit = "seconds" if self._layout.seconds else "whole microseconds"
        wanted = {
            kernel.NOT_A_NUMBER: "a number",
            kernel.TOO_FEW: "a number",
            kernel.TOO_MANY: "a number",
            kernel.FRACTION: unit if name == "t" else "a whole number",
            kernel.OUT_OF_RANGE: f"{unit} within 64 bits" if name == "t" else "in 0..65535",
            kernel.NOT_A_FLAG: "0/1 or -1/+1",
        }[status]
        may_be_seconds = status == kernel.FRACTION and name == "t" and self._layout.is_guessed
        hint = ". If time is in seconds, name its column `t_s`" if may_be_seconds else ""
        return self.line_error(f"is wrong: {name} must be {wanted}; got {shown}{hint}")


@dataclass(slots=True)
class TextSink:
    """Write lines ``t x y p`` (and label) to an open file."""

    file: IO[bytes]
    delimiter: str
    seconds: bool
    preamble: Callable[[bool], bytes]  # the first lines, given whether labels follow
    keeps_labels: bool = False
    below: IO[bytes] | None = None  # a file below `file`, closed after it
    labeled: bool | None = None
    waiting: bytearray = field(default_factory=bytearray)

    def write(self, events: Events) -> None:
        """Append events."""
        from evcrisp.kernels.io import text as kernel

        if len(events) == 0:
            return
        labeled = self.keeps_labels and events.signal is not None
        if self.labeled is None:
            self._begin(labeled)
        check_labels(labeled, bool(self.labeled))
        delimiter, decimals = ord(self.delimiter), 6 if self.seconds else 0
        for rows in slices(len(events), _WRITE_EVENTS):
            part = events[rows]
            labels = part.signal if labeled and part.signal is not None else np.empty(0, np.bool_)
            out = np.empty(len(part) * kernel.MAX_LINE_BYTES, np.uint8)
            columns = map(np.ascontiguousarray, (part.t, part.x, part.y, part.p, labels))
            n_bytes = kernel.format_events(*columns, delimiter, decimals, out)
            self._put(out[:n_bytes].data)

    def _begin(self, labeled: bool) -> None:
        self.labeled = labeled
        self._put(self.preamble(labeled))

    def _put(self, text: bytes | memoryview) -> None:
        """Write in blocks of one size; keep the rest for later."""
        self.waiting += text
        n_ready = len(self.waiting) // _WRITE_BYTES * _WRITE_BYTES
        for first in range(0, n_ready, _WRITE_BYTES):
            self.file.write(self.waiting[first : first + _WRITE_BYTES])
        del self.waiting[:n_ready]

    def finish(self) -> None:
        """Close the file."""
        if self.labeled is None:
            self._begin(False)
            # A file of zero bytes would look like a failure.
            self._put(b"# no events\n")
        self.file.write(self.waiting)
        self.file.close()
        if self.below is not None:
            self.below.close()

    def abort(self) -> None:
        """Close the file without completing it."""
        for file in (self.file, self.below):
            with suppress(OSError):  # on a full disk, closing fails as well
                if file is not None:
                    file.close()


def create_text(path: Path) -> tuple[IO[bytes], IO[bytes] | None]:
    """Create a text file, gzip if it is named ``.gz``; return it, and the file below a gzip one."""
    file = path.open("wb")
    if path.suffix.lower() != ".gz":
        return file, None
    zipped = gzip.GzipFile(filename="", mode="wb", compresslevel=1, fileobj=file, mtime=0)
    return cast("IO[bytes]", zipped), file
