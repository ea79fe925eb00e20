"""NPY: one ``.npy`` file with a structured array, or with four columns; and folders of columns."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, ClassVar

import numpy as np
from numpy.lib import format as npy_format

from evcrisp.core.errors import ConfigError, FormatError
from evcrisp.core.events import Events
from evcrisp.core.messages import counted
from evcrisp.io.arrays.matrix import Order, find_order
from evcrisp.io.arrays.npy_stream import NpyColumn
from evcrisp.io.event_columns import ColumnConverter, find_columns
from evcrisp.io.protocol import PACKET_EVENTS, Packet, Source
from evcrisp.io.standard_sizes import ALL_SIZES

_META = "meta.json"
_DTYPES = {"x": "<u2", "y": "<u2", "t": "<i8", "p": "|b1", "signal": "|b1"}
#: Bytes before the data in the files we write, whatever the number of events turns out to be.
_HEADER_BYTES = 128


@dataclass(slots=True)
class NpySource(Source):
    """An open ``.npy`` file."""

    path: Path = field(kw_only=True)

    def packets(self) -> Iterator[Packet]:
        """Yield the events in file order."""
        with self.path.open("rb") as file:
            column = NpyColumn("events", file)
            offset, n_left = file.tell(), len(column)
            names = column.dtype.names
            fields = None if names is None else find_columns(names)
            order: Order | None = None
            converter = ColumnConverter()
            while n_left:
                n = min(PACKET_EVENTS, column.rows_at_once, n_left)
                rows = column.read(n)
                n_left -= len(rows)
                if fields is not None:
                    parts = {name: rows[key] for name, key in fields.items()}
                    yield from converter.packets(parts, offset)
                elif len(rows):
                    order = order or find_order(rows, offset)
                    yield from converter.packets(dict(zip(order, rows.T, strict=True)), offset)
                offset = file.tell()
                if len(rows) < n:
                    raise FormatError(
                        f"the file ends {counted(n_left, 'event')} early", offset=offset
                    )


@dataclass(frozen=True, slots=True)
class NpyReader:
    """Read ``.npy`` files of events."""

    name: ClassVar[str] = "npy"
    title: ClassVar[str] = "NPY (numpy array)"
    suffixes: ClassVar[tuple[str, ...]] = (".npy",)
    standard_sizes: ClassVar[tuple[tuple[int, int], ...]] = ALL_SIZES
    foreign_errors: ClassVar[tuple[type[Exception], ...]] = ()

    def recognizes(self, head: bytes, path: Path) -> bool:
        """Look for the magic number of numpy."""
        return head.startswith(b"\x93NUMPY")

    def open(self, path: Path) -> NpySource:
        """Read the header."""
        with path.open("rb") as file:
            column = NpyColumn("events", file)
        names = column.dtype.names
        if names is None:
            if len(column.shape) != 2 or column.shape[1] != 4 or column.dtype.kind not in "iufb":
                raise FormatError(
                    "expected a structured array, or numbers in four columns; got "
                    f"{column.dtype} of shape {column.shape}"
                )
        else:
            _check_fields(column, find_columns(names))
        return NpySource(metadata={"dtype": str(column.dtype)}, n_events=len(column), path=path)


def _check_fields(column: NpyColumn, fields: dict[str, str]) -> None:
    if len(column.shape) != 1:
        raise FormatError(f"expected an array of one axis; got shape {column.shape}")
    for name in fields.values():
        _check_numbers(name, column.dtype[name])


def _check_numbers(name: str, dtype: np.dtype[Any]) -> None:
    if dtype.kind not in "iufb" or dtype.shape:
        raise FormatError(f"column {name!r} must hold numbers; got {dtype}")


@dataclass(slots=True)
class ColumnsSource(Source):
    """An open folder of columns."""

    files: dict[str, Path] = field(kw_only=True)  # column -> file

    def packets(self) -> Iterator[Packet]:
        """Yield the events in file order."""
        with ExitStack() as stack:
            columns = {
                name: NpyColumn(name, stack.enter_context(file.open("rb")))
                for name, file in self.files.items()
            }
            converter = ColumnConverter()
            n_total = max(len(column) for column in columns.values())
            n_read = 0
            while n_read < n_total:
                n = min(PACKET_EVENTS, n_total - n_read)
                parts = {name: column.read(n) for name, column in columns.items()}
                n_common = min(len(part) for part in parts.values())
                # The place in the folder as a whole is that in its largest column.
                offset = n_read * columns["t"].dtype.itemsize
                if n_common:
                    whole = {name: part[:n_common] for name, part in parts.items()}
                    yield from converter.packets(whole, offset)
                n_read += n_common
                if n_common < n:
                    raise FormatError(
                        f"the columns end after {n_read:,} of {counted(n_total, 'event')}",
                        offset=offset,
                    )


@dataclass(frozen=True, slots=True)
class ColumnsReader:
    """Read folders with ``x.npy``, ``y.npy``, ``t.npy``, ``p.npy`` and, where known, more."""

    name: ClassVar[str] = "columns"
    title: ClassVar[str] = "folder of numpy columns"
    suffixes: ClassVar[tuple[str, ...]] = (".columns",)
    standard_sizes: ClassVar[tuple[tuple[int, int], ...]] = ALL_SIZES
    foreign_errors: ClassVar[tuple[type[Exception], ...]] = ()

    def recognizes(self, head: bytes, path: Path) -> bool:
        """Look for files with the names of columns."""
        try:
            return path.is_dir() and bool(_find_files(path))
        except FormatError:
            return False

    def open(self, path: Path) -> ColumnsSource:
        """Read the headers of the columns, and what is known of the sensor."""
        if not path.is_dir():
            raise FormatError("expected a folder with x.npy, y.npy, t.npy and p.npy")
        files = _find_files(path)
        for name, file in files.items():
            with file.open("rb") as opened:
                column = NpyColumn(name, opened)
            _check_numbers(name, column.dtype)
            if len(column.shape) != 1:
                raise FormatError(f"column {name!r} must have one axis; got shape {column.shape}")
        return ColumnsSource(resolution=_read_size(path / _META), n_events=len(column), files=files)


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
class ColumnsSink:
    """Columns that grow; their headers are completed at the end."""

    folder: Path
    resolution: tuple[int, int]
    files: dict[str, IO[bytes]] = field(default_factory=dict)
    n_events: int = 0

    def write(self, events: Events) -> None:
        """Append events."""
        if len(events) == 0:
            return
        names = ["x", "y", "t", "p"] + ["signal"] * (events.signal is not None)
        if not self.files:
            self._create(names)
        if names != list(self.files):
            raise ConfigError("Either all events or none must have labels (`signal`).")
        for name, file in self.files.items():
            file.write(np.ascontiguousarray(getattr(events, name), _DTYPES[name]).data)
        self.n_events += len(events)

    def _create(self, names: list[str]) -> None:
        for name in names:
            self.files[name] = (self.folder / f"{name}.npy").open("wb")
            self.files[name].write(bytes(_HEADER_BYTES))

    def finish(self) -> None:
        """Complete the headers."""
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
        """Close the files without completing them."""
        for file in self.files.values():
            with suppress(OSError):
                file.close()


def _npy_header(descr: str, n: int) -> bytes:
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({n},), }}"
    magic = npy_format.magic(1, 0)
    n_text = _HEADER_BYTES - len(magic) - 2
    return magic + n_text.to_bytes(2, "little") + text.ljust(n_text - 1).encode() + b"\n"


@dataclass(frozen=True, slots=True)
class ColumnsWriter:
    """Write folders of columns, each of which ``numpy.load(..., mmap_mode="r")`` can map."""

    name: ClassVar[str] = "columns"
    title: ClassVar[str] = "folder of numpy columns"
    suffixes: ClassVar[tuple[str, ...]] = (".columns",)
    keeps_signal: ClassVar[bool] = True
    keeps_extras: ClassVar[bool] = False

    def open(self, path: Path, resolution: tuple[int, int]) -> ColumnsSink:
        """Create the folder."""
        path.mkdir()
        return ColumnsSink(path, resolution)
