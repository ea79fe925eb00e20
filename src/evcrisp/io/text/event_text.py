"""Stream events out of text and into it; what ECD and CSV share."""

import gzip
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import IO, cast

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import ConfigError, FormatError
from evcrisp.core.events import Events
from evcrisp.core.messages import counted
from evcrisp.io.protocol import PACKET_EVENTS, Packet

#: How much of a text is looked at to find out its layout.
HEAD_BYTES = 1 << 16
_MAX_LINE_BYTES = 1 << 16
_WRITE_EVENTS = 1 << 16
#: What goes to a file at once, whatever the chunks are: a compressor may give other bytes otherwise.
_WRITE_BYTES = 1 << 20

_ROLES = {"t": 0, "x": 1, "y": 2, "p": 3, "signal": 4, "": 5}
_SIZES = (
    re.compile(rb"width\s*=\s*(\d{1,5})\D+height\s*=\s*(\d{1,5})\b"),  # ours
    re.compile(rb"geometry\s*:\s*(\d{1,5})\s*[,x]\s*(\d{1,5})\b"),  # Metavision
)


@dataclass(frozen=True, slots=True)
class Layout:
    """How one line holds an event."""

    columns: tuple[str, ...]  # of t, x, y, p, signal; "" is not read
    delimiter: str = " "  # " " stands for any run of blanks and tabs
    seconds: bool = True  # whether time is in seconds, else in microseconds
    start: int = 0  # byte at which the lines of events begin
    line: int = 1  # number of the line that begins there
    is_guessed: bool = False  # whether nothing but the first numbers says the unit of time


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the head of a text."""

    offset: int  # byte at which it begins
    end: int  # byte of its newline
    number: int
    content: bytes  # without blanks around it

    @property
    def is_comment(self) -> bool:
        """Whether the line holds no data."""
        return not self.content or self.content[:1] in b"#%"


def head_lines(head: bytes) -> list[Line]:
    """Split the head of a text; a last line without its end is left out, unless it is alone."""
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
    """Return (width, height) if a comment states it."""
    comments = (line.content for line in lines if line.is_comment)
    matches = (pattern.search(comment) for comment in comments for pattern in _SIZES)
    found = next((match for match in matches if match), None)
    return None if found is None else (int(found[1]), int(found[2]))


def is_number(text: bytes) -> bool:
    """Say whether a field is a decimal number."""
    return re.fullmatch(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", text) is not None


def is_whole(text: bytes) -> bool:
    """Say whether a field is written without point or exponent."""
    return re.fullmatch(rb"[+-]?\d+", text) is not None


def text_packets(blocks: Iterator[bytes], layout: Layout) -> Iterator[Packet]:
    """Yield the events of a text.

    Raises
    ------
    FormatError
        At the first line that is wrong, with its number and byte, or where ``blocks`` raise.
    """
    parser = _Parser(layout)
    rest, n_skip = b"", layout.start
    damage: FormatError | None = None
    while True:
        try:
            block = next(blocks, b"")
        except FormatError as error:
            damage = error
            break
        if not block:
            break
        n_skipped = min(n_skip, len(block))
        n_skip -= n_skipped
        text = rest + block[n_skipped:]
        end = text.rfind(b"\n") + 1
        yield from parser.feed(text, end)
        rest = text[end:]
        if len(rest) > _MAX_LINE_BYTES:
            damage = parser.complaint(f"is longer than {_MAX_LINE_BYTES} bytes")
            break
    if rest and damage is None:
        yield from parser.feed(rest + b"\n", len(rest) + 1, last=True)
    yield from parser.flush()
    if damage is not None:
        raise damage


class _Parser:
    """Rows that fill up, and the place in the text."""

    def __init__(self, layout: Layout) -> None:
        from evcrisp.kernels.io import text as kernel

        self._kernel: ModuleType = kernel
        self._layout = layout
        self._roles = np.array([_ROLES[name] for name in layout.columns], np.int64)
        self._offset = layout.start  # byte of the text at which the next feed begins
        self._packet_offset = layout.start
        self._state = np.array([0, 0, layout.line - 1, 0, 0], np.int64)
        self._new_rows()

    def _new_rows(self) -> None:
        labeled = "signal" in self._layout.columns
        self._state[1] = 0
        self._t = np.empty(PACKET_EVENTS, np.int64)
        self._x = np.empty(PACKET_EVENTS, np.uint16)
        self._y = np.empty(PACKET_EVENTS, np.uint16)
        self._p = np.empty(PACKET_EVENTS, np.bool_)
        self._signal = np.empty(PACKET_EVENTS if labeled else 0, np.bool_)

    def feed(self, text: bytes, n: int, *, last: bool = False) -> Iterator[Packet]:
        """Parse the lines in the first ``n`` bytes and yield packets that are full."""
        data = np.frombuffer(text, np.uint8, n)
        state = self._state
        state[0] = 0
        while state[0] < n:
            self._kernel.parse_events(
                data,
                self._roles,
                ord(self._layout.delimiter),
                6 if self._layout.seconds else 0,
                self._t,
                self._x,
                self._y,
                self._p,
                self._signal,
                state,
            )
            if state[3] or state[1] == PACKET_EVENTS:
                yield from self.flush()
            if state[3]:
                start = int(state[0])
                self._offset += start
                raise self._wrong_line(text[start : text.index(b"\n", start)], last=last)
        self._offset += n

    def flush(self) -> Iterator[Packet]:
        """Yield the rows that are there."""
        n = int(self._state[1])
        if n == 0:
            return
        signal = self._signal[:n] if self._signal.size else None
        yield Packet(
            self._x[:n], self._y[:n], self._t[:n], self._p[:n], self._packet_offset, signal
        )
        self._packet_offset = self._offset + int(self._state[0])
        self._new_rows()

    def complaint(self, reason: str) -> FormatError:
        """Say what is wrong with the line that begins here."""
        return FormatError(f"line {self._state[2] + 1} {reason}", offset=self._offset)

    def _wrong_line(self, line: bytes, *, last: bool) -> FormatError:
        kernel, columns = self._kernel, self._layout.columns
        status, column = int(self._state[3]), int(self._state[4])
        name = columns[column] or f"column {column + 1}"
        shown = ascii(line[:60].decode("latin-1").strip())
        mark = None if self._layout.delimiter == " " else self._layout.delimiter.encode()
        n_columns = len(line.split(mark))
        if last and n_columns < len(columns):
            return self.complaint(f"is cut short by the end of the text: {shown}")
        if n_columns != len(columns):
            expected = f"{len(columns)} ({' '.join(name or '-' for name in columns)})"
            return self.complaint(
                f"has {counted(n_columns, 'column')}; expected {expected}; got {shown}"
            )
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
        return self.complaint(f"is wrong: {name} must be {wanted}; got {shown}{hint}")


@dataclass(slots=True)
class TextSink:
    """Lines ``t x y p`` (and label) that go to an open file."""

    file: IO[bytes]
    delimiter: str
    seconds: bool
    #: The first lines, given whether labels follow.
    preamble: Callable[[bool], bytes]
    keeps_labels: bool = False
    #: A file below `file`, closed after it.
    below: IO[bytes] | None = None
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
        if self.labeled != labeled:
            raise ConfigError("Either all events or none must have labels (`signal`).")
        for first in range(0, len(events), _WRITE_EVENTS):
            part = events[first : first + _WRITE_EVENTS]
            labels = part.signal if labeled and part.signal is not None else _NO_LABELS
            out = np.empty(len(part) * kernel.MAX_LINE_BYTES, np.uint8)
            n_bytes = kernel.format_events(
                np.ascontiguousarray(part.t),
                np.ascontiguousarray(part.x),
                np.ascontiguousarray(part.y),
                np.ascontiguousarray(part.p),
                np.ascontiguousarray(labels),
                ord(self.delimiter),
                6 if self.seconds else 0,
                out,
            )
            self._put(out[:n_bytes].data)

    def _begin(self, labeled: bool) -> None:
        self.labeled = labeled
        self._put(self.preamble(labeled))

    def _put(self, text: bytes | memoryview) -> None:
        """Write in blocks of one size; the rest waits."""
        self.waiting += text
        n_ready = len(self.waiting) // _WRITE_BYTES * _WRITE_BYTES
        for first in range(0, n_ready, _WRITE_BYTES):
            self.file.write(self.waiting[first : first + _WRITE_BYTES])
        del self.waiting[:n_ready]

    def finish(self) -> None:
        """Close the file."""
        if self.labeled is None:
            self._begin(False)
            # A file of zero bytes could not be told from a failure.
            self._put(b"# no events\n")
        self.file.write(self.waiting)
        self.file.close()
        if self.below is not None:
            self.below.close()

    def abort(self) -> None:
        """Close the file without completing it."""
        for file in (self.file, self.below):
            # A disk that is full refuses what was still buffered.
            with suppress(OSError):
                if file is not None:
                    file.close()


_NO_LABELS: NDArray[np.bool_] = np.empty(0, np.bool_)


def create_text(path: Path) -> tuple[IO[bytes], IO[bytes] | None]:
    """Create a file for text; compressed, always to the same bytes, if it is named ``.gz``.

    Returns the file to write to, and the one below it, if any.
    """
    file = path.open("wb")
    if path.suffix.lower() != ".gz":
        return file, None
    zipped = gzip.GzipFile(filename="", mode="wb", compresslevel=1, fileobj=file, mtime=0)
    return cast("IO[bytes]", zipped), file
