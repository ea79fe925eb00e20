"""NPY: a ``.npy`` file with a structured array or four columns; and folders of columns."""

import json
import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from evcrisp.core.errors import FormatError
from evcrisp.core.events import Events
from evcrisp.core.messages import counted
from evcrisp.io.event_columns import ColumnConverter, Order, find_columns, find_order, row_before
from evcrisp.io.protocol import PACKET_EVENTS, Packet, Reader, Source, Writer, check_labels

_META = "meta.json"
_DTYPES = {"x": "<u2", "y": "<u2", "t": "<i8", "p": "|b1", "signal": "|b1"}
#: Bytes before the data in written files, independent of the number of events.
_HEADER_BYTES = 128
#: Limit of one read, because a damaged header can state any size.
READ_BYTES = 1 << 26
#: Limit of the number of rows, so that it fits into 64 bits.
_MAX_ROWS = 1 << 62
#: Limit of a row; larger rows are not events.
_MAX_ROW_BYTES = 1 << 20


def _read_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = npy_format.read_magic(file)
    if version == (1, 0):
        return npy_format.read_array_header_1_0(file)
    if version == (2, 0):
        return npy_format.read_array_header_2_0(file)
    raise FormatError(f"npy version {version} is not read; expected 1.0 or 2.0")


class NpyColumn:
    """A ``.npy`` stream, read front to back, or from any row of a file.

    Object arrays are refused: they can run code.
    """

    def __init__(self, name: str, file: IO[bytes]) -> None:
        self.name = name
        self._file = file
        try:
            self.shape, fortran_order, self.dtype = _read_header(file)
        except FormatError:
            raise
        except Exception as error:
            # numpy evaluates the header as a literal: damage causes any error of its tokenizer.
            raise FormatError(f"column {name!r} has a damaged npy header") from error
        self._start = file.tell() if file.seekable() else 0
        self._row_bytes = self.dtype.itemsize * math.prod(self.shape[1:])
        problems = {
            "has Python objects, which are not read": self.dtype.hasobject,
            f"states the impossible shape {self.shape}": any(
                not 0 <= side < _MAX_ROWS for side in self.shape
            ),
            "is in Fortran order; save it in C order": fortran_order and len(self.shape) > 1,
            f"states elements of 0 bytes ({self.dtype})": self.dtype.itemsize == 0,
            f"states rows of {self._row_bytes:,} bytes": self._row_bytes > _MAX_ROW_BYTES,
        }
        for problem, is_present in problems.items():
            if is_present:
                raise FormatError(f"column {name!r} {problem}")

    def __len__(self) -> int:
        return self.shape[0] if self.shape else 1

    @property
    def end(self) -> int:
        """Byte of the file after the last row, as stated."""
        return self._start + len(self) * self._row_bytes

    @property
    def rows_at_once(self) -> int:
        """Limit of rows for one call of `read`."""
        return READ_BYTES // max(self._row_bytes, 1)

    def read(self, n: int) -> NDArray[Any]:
        """Return the next ``n`` rows, or fewer at the end of the file."""
        row_shape = self.shape[1:]
        data = self._file.read(n * self._row_bytes)
        n_whole = len(data) // self._row_bytes if self._row_bytes else 0
        whole = np.frombuffer(data, self.dtype, n_whole * math.prod(row_shape))
        return whole.reshape(n_whole, *row_shape)

    def seek(self, row: int) -> None:
        """Continue at a row."""
        self._file.seek(self._start + row * self._row_bytes)


class _RowSplitter:
    """Split rows into columns: by their fields, or by the order that fits the first rows."""

    def __init__(self, names: tuple[str, ...] | None) -> None:
        self._fields = None if names is None else find_columns(names)
        self._order: Order | None = None

    def columns(self, rows: NDArray[Any], offset: int) -> dict[str, NDArray[Any]]:
        """Return the columns of at least one row, which starts at a byte of the file."""
        if self._fields is not None:
            return {name: rows[key] for name, key in self._fields.items()}
        self._order = self._order or find_order(rows, offset)
        return dict(zip(self._order, rows.T, strict=True))


@dataclass(slots=True)
class _NpySource(Source):
    t_start: int | None = field(default=None, kw_only=True)  # us, to skip earlier rows

    def between(self, t_start: int, t_end: int | None) -> "_NpySource":
        """Return a source that finds the first row by its time."""
        return replace(self, t_start=t_start)

    def packets(self) -> Iterator[Packet]:
        with self.path.open("rb") as file:
            column, converter = NpyColumn("events", file), ColumnConverter()
            splitter, offset, n_left = _RowSplitter(column.dtype.names), file.tell(), len(column)
            if self.t_start is not None and n_left:
                start = offset
                n_left -= seek_before(
                    column, self.t_start, converter, lambda rows: splitter.columns(rows, start)["t"]
                )
                offset = file.tell()
            while n_left:
                n = min(PACKET_EVENTS, column.rows_at_once, n_left)
                rows = column.read(n)
                n_left -= len(rows)
                if len(rows):
                    yield from converter.packets(splitter.columns(rows, offset), offset)
                offset = file.tell()
                if len(rows) < n:
                    missing = counted(n_left, "event")
                    raise FormatError(f"the file ends {missing} early", offset=offset)


class NpyReader(Reader):
    """Read ``.npy`` files of events."""

    name = "npy"
    title = "NPY (numpy array)"
    suffixes = (".npy",)
    magic = (b"\x93NUMPY",)

    def open(self, path: Path) -> _NpySource:
        """Read the header."""
        with path.open("rb") as file:
            column = NpyColumn("events", file)
        names = column.dtype.names
        if names is None:
            if len(column.shape) != 2 or column.shape[1] != 4 or column.dtype.kind not in "iufb":
                found = f"{column.dtype} of shape {column.shape}"
                raise FormatError(f"expected a structured array or four columns; got {found}")
        else:
            fields = find_columns(names)
            if len(column.shape) != 1:
                raise FormatError(f"expected an array of one axis; got shape {column.shape}")
            for name in fields.values():
                _check_numbers(name, column.dtype[name])
        return _NpySource(None, {"dtype": str(column.dtype)}, len(column), path=path)


def _check_numbers(name: str, dtype: np.dtype[Any]) -> None:
    if dtype.kind not in "iufb" or dtype.shape:
        raise FormatError(f"column {name!r} must hold numbers; got {dtype}")


def seek_before(
    column: NpyColumn,
    t: int,
    converter: ColumnConverter,
    times: Callable[[NDArray[Any]], NDArray[Any]] = lambda rows: rows,
) -> int:
    """Continue at the last row before time ``t``, us, and return it; ``times`` selects the time."""

    def time_of(row: int, n_rows: int = 1) -> int | None:
        column.seek(row)
        rows = column.read(n_rows)
        return converter.time(times(rows)) if len(rows) else None  # after the end of a cut file

    n = len(column)
    time_of(0, min(PACKET_EVENTS, column.rows_at_once, n))  # decides the unit of time
    row = row_before(t, n, time_of)
    column.seek(row)
    return row


@dataclass(slots=True, kw_only=True)
class _ColumnsSource(Source):
    files: dict[str, Path]  # column -> file
    t_start: int | None = None  # us, to skip earlier rows

    def between(self, t_start: int, t_end: int | None) -> "_ColumnsSource":
        """Return a source that finds the first row by its time."""
        return replace(self, t_start=t_start)

    def packets(self) -> Iterator[Packet]:
        with ExitStack() as stack:
            columns = {
                name: NpyColumn(name, stack.enter_context(file.open("rb")))
                for name, file in self.files.items()
            }
            # The position in the largest column stands for the position in the folder.
            row_bytes = columns["t"].dtype.itemsize
            yield from column_packets(columns, 0, row_bytes, t_start=self.t_start)


def column_packets(
    columns: dict[str, NpyColumn], offset: int, row_bytes: int = 0, *, t_start: int | None = None
) -> Iterator[Packet]:
    """Yield the common rows of columns; a packet starts at ``offset`` plus its rows in bytes.

    ``t_start``, us, skips rows before it, in columns that can seek.
    """
    converter = ColumnConverter()
    n_total = max(len(column) for column in columns.values())
    n_read = 0
    if t_start is not None and len(columns["t"]):
        n_read = seek_before(columns["t"], t_start, converter)
        for column in columns.values():
            column.seek(n_read)
    while n_read < n_total:
        n, at = min(PACKET_EVENTS, n_total - n_read), offset + n_read * row_bytes
        parts = {name: column.read(n) for name, column in columns.items()}
        n_common = min(len(part) for part in parts.values())
        if n_common:
            whole = {name: part[:n_common] for name, part in parts.items()}
            yield from converter.packets(whole, at)
        n_read += n_common
        if n_common < n:
            reason = f"the columns end after {n_read:,} of {counted(n_total, 'event')}"
            raise FormatError(reason, offset=at)


class ColumnsReader(Reader):
    """Read folders with ``x.npy``, ``y.npy``, ``t.npy``, ``p.npy`` and optionally ``signal.npy``."""

    name = "columns"
    title = "folder of numpy columns"
    suffixes = (".columns",)

    def recognizes(self, head: bytes, path: Path) -> bool:
        """Look for files with the names of columns."""
        try:
            return path.is_dir() and bool(_find_files(path))
        except FormatError:
            return False

    def open(self, path: Path) -> _ColumnsSource:
        """Read the headers of the columns, and the sensor size."""
        if not path.is_dir():
            raise FormatError("expected a folder with x.npy, y.npy, t.npy and p.npy")
        files = _find_files(path)
        for name, file in files.items():
            with file.open("rb") as opened:
                column = NpyColumn(name, opened)
            _check_numbers(name, column.dtype)
            if len(column.shape) != 1:
                raise FormatError(f"column {name!r} must have one axis; got shape {column.shape}")
        return _ColumnsSource(_read_size(path / _META), n_events=len(column), files=files)


def _find_files(folder: Path) -> dict[str, Path]:
    stems = {file.stem: file for file in sorted(folder.glob("*.npy")) if file.is_file()}
    return {column: stems[stem] for column, stem in find_columns(stems).items()}


def _read_size(meta: Path) -> tuple[int, int] | None:
    if not meta.is_file():
        return None
    if meta.stat().st_size > 1 << 20:
        raise FormatError(f"{_META} is larger than 1 MiB")
    try:
        facts = json.loads(meta.read_bytes())
        return int(facts["width"]), int(facts["height"])
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError) as error:
        raise FormatError(f"{_META} must state width and height: {error!r}") from error


@dataclass(slots=True)
class _ColumnsSink:
    """Growing columns; `finish` completes their headers."""

    folder: Path
    resolution: tuple[int, int]
    files: dict[str, IO[bytes]] = field(default_factory=dict)
    n_events: int = 0

    def write(self, events: Events) -> None:
        if len(events) == 0:
            return
        names = ["x", "y", "t", "p"] + ["signal"] * (events.signal is not None)
        if not self.files:
            self._create(names)
        check_labels(len(names) == 5, len(self.files) == 5)
        for name, file in self.files.items():
            file.write(np.ascontiguousarray(getattr(events, name), _DTYPES[name]).data)
        self.n_events += len(events)

    def _create(self, names: list[str]) -> None:
        for name in names:
            self.files[name] = (self.folder / f"{name}.npy").open("wb")
            self.files[name].write(bytes(_HEADER_BYTES))

    def finish(self) -> None:
        if not self.files:
            self._create(["x", "y", "t", "p"])
        for name, file in self.files.items():
            file.seek(0)
            file.write(_npy_header(_DTYPES[name], self.n_events))
            file.close()
        width, height = self.resolution
        facts = {"format": "evcrisp columns", "version": 1, "width": width, "height": height}
        text = json.dumps(facts | {"n_events": self.n_events}, indent=1)
        (self.folder / _META).write_text(text + "\n", encoding="utf-8")

    def abort(self) -> None:
        for file in self.files.values():
            with suppress(OSError):
                file.close()


def _npy_header(descr: str, n: int) -> bytes:
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({n},), }}"
    magic = npy_format.magic(1, 0)
    n_text = _HEADER_BYTES - len(magic) - 2
    return magic + n_text.to_bytes(2, "little") + text.ljust(n_text - 1).encode() + b"\n"


@dataclass(frozen=True, slots=True)
class ColumnsWriter(Writer):
    """Write folders of columns, which ``numpy.load(..., mmap_mode="r")`` can map."""

    name = "columns"
    title = "folder of numpy columns"
    suffixes = (".columns",)
    keeps_signal = True

    def open(self, path: Path, resolution: tuple[int, int]) -> _ColumnsSink:
        """Create the folder."""
        path.mkdir()
        return _ColumnsSink(path, resolution)
