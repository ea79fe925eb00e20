"""Read events from the datasets of an HDF5 file; shared by all layouts.

HDF5 returns fill values for rows that were never written, decompresses whole chunks of any size,
and follows links to other files. `Rows` and `find_node` prevent all three.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import EvError, FormatError, MissingExtraError
from evcrisp.core.messages import counted
from evcrisp.core.registry import require
from evcrisp.io.event_columns import ColumnConverter, Empty, row_before
from evcrisp.io.hdf5.chunks import GZIP_FILTERS, Chunks, filters_of
from evcrisp.io.hdf5.ecf import EcfRows
from evcrisp.io.hdf5.isolated import IsolatedSource, matching_layouts, open_isolated
from evcrisp.io.hdf5.rows import GzipRows, Rows
from evcrisp.io.protocol import PACKET_EVENTS, Packet, Reader, Source, Stream

#: HDF5 filter of Prophesee's event codec, ECF.
ECF_FILTER = 0x8ECF
#: Limit of a chunk, bytes, unless the file is large too.
_CHUNK_BYTES = 1 << 26
#: Limit of the compression ratio; that of deflate is lower by construction.
_MAX_RATIO = 1100
#: Exceptions of h5py for damaged files; a damaged type description causes a `TypeError`.
_FOREIGN_ERRORS = (
    OSError,
    RuntimeError,
    KeyError,
    IndexError,
    ValueError,
    TypeError,
    OverflowError,
    SystemError,
)
_MAGIC = b"\x89HDF\r\n\x1a\n"
#: Possible sizes of the user data before the magic number.
_MAGIC_OFFSETS = (0, 512, 1024, 2048)
#: Cache of decompressed chunks per column, because packets are smaller than chunks.
_CACHE_BYTES = 1 << 23


def has_magic(head: bytes) -> bool:
    """Return whether a file that starts with ``head`` is HDF5."""
    return any(head.startswith(_MAGIC, offset) for offset in _MAGIC_OFFSETS)


def library() -> Any:
    """Return h5py, with the filters of hdf5plugin (Blosc, zstd, ...) registered."""
    h5py = require("h5py", extra="hdf5", purpose="HDF5 recordings")
    require("hdf5plugin", extra="hdf5", purpose="HDF5 recordings")
    return h5py


def check_installed() -> None:
    """Raise if h5py or hdf5plugin is missing, without importing them."""
    for package in ("h5py", "hdf5plugin"):
        try:
            is_missing = find_spec(package) is None
        except ValueError:  # its import is blocked
            is_missing = True
        if is_missing:
            raise MissingExtraError(package, extra="hdf5", purpose="HDF5 recordings")


def find_node(file: Any, path: str) -> Any:
    """Return the group or dataset at ``path``, or None; raise at links."""
    h5py = library()
    node = file
    for part in path.split("/"):
        if not isinstance(node, h5py.Group) or part not in node:
            return None
        link = node.get(part, getlink=True)
        if not isinstance(link, h5py.HardLink):
            raise FormatError(f"{path!r} is a link ({type(link).__name__}), which is not followed")
        node = node[part]
    return node


def find_rows(file: Any, path: str, *, n_axes: int = 1, compound: bool = False) -> Rows | None:
    """Return the checked dataset at ``path``, or None if there is none."""
    h5py = library()
    dataset = find_node(file, path)
    if not isinstance(dataset, h5py.Dataset):
        return None
    fits = dataset.dtype.names is not None if compound else dataset.dtype.kind in "biuf"
    if not fits or dataset.ndim != n_axes:
        what = f"{'a table' if compound else 'numbers'} with {n_axes} axes"
        found = f"{dataset.dtype} of shape {dataset.shape}"
        raise FormatError(f"{path!r} must be {what}; got {found}")
    if dataset.is_virtual or dataset.external:
        raise FormatError(f"{path!r} has its data in other files, which are not read")
    kind, n_stored = _kind_of_rows(h5py, dataset, path), _n_stored(dataset, path)
    return kind(path, dataset, dataset.shape[0], n_stored, Chunks.of(dataset, path))


def find_columns_in(file: Any, group: str, *optional: str) -> dict[str, Rows]:
    """Return the datasets x, y, t and p of a group, and optional others."""
    found = {name: find_rows(file, f"{group}/{name}") for name in (*"xytp", *optional)}
    rows = {name: column for name, column in found.items() if column is not None}
    if not set("xytp") <= set(rows):
        raise FormatError(f"expected the datasets x, y, t and p in the group {group!r}")
    return rows


def _kind_of_rows(h5py: Any, dataset: Any, path: str) -> type[Rows]:
    if _has_ecf(h5py, dataset, path):
        return EcfRows
    is_plain = h5py.h5t.py_create(dataset.dtype, logical=True) == dataset.id.get_type()
    is_gzip = dataset.ndim == 1 and filters_of(dataset) in GZIP_FILTERS
    return GzipRows if is_plain and is_gzip else Rows


def _has_ecf(h5py: Any, dataset: Any, path: str) -> bool:
    """Return whether a dataset is compressed with ECF; raise if it cannot be read."""
    codes = filters_of(dataset)
    if codes == [ECF_FILTER] and {"x", "y", "p", "t"} <= set(dataset.dtype.names or ()):
        return True  # also if a plugin could read it, because the plugin can crash at damage
    for code in codes:
        if code == ECF_FILTER:
            found = f"{dataset.dtype} and the HDF5 filters {codes}"
            raise FormatError(f"{path!r} has ECF for x, y, p and t only; got {found}")
        if not h5py.h5z.filter_avail(code):
            raise FormatError(f"{path!r} is compressed with the unknown HDF5 filter {code}")
    return False


def _n_stored(dataset: Any, path: str) -> int:
    """Return the number of rows in the file according to its index of chunks."""
    n_claimed: int = dataset.shape[0]
    row_bytes = dataset.dtype.itemsize * math.prod(dataset.shape[1:])
    stored_bytes = dataset.id.get_storage_size()
    if dataset.chunks is None:
        return min(n_claimed, stored_bytes // row_bytes) if row_bytes else 0
    chunk_bytes = dataset.dtype.itemsize * math.prod(dataset.chunks)
    if chunk_bytes > max(_CHUNK_BYTES, _MAX_RATIO * dataset.file.id.get_filesize()):
        found = counted(chunk_bytes, "byte")
        raise FormatError(f"{path!r} has chunks of {found}, too large for its file")
    chunks_per_row = math.prod(
        -(-size // chunk) for size, chunk in zip(dataset.shape[1:], dataset.chunks[1:], strict=True)
    )
    n_chunks = dataset.id.get_num_chunks() // max(chunks_per_row, 1)
    return int(min(n_claimed, n_chunks * dataset.chunks[0]))


@dataclass(slots=True, kw_only=True)
class TableSource(Source):
    """Events as rows of datasets. Layouts override `columns` if the datasets are not columns."""

    file: Any  # h5py.File
    rows: dict[str, Rows]
    order: str = ""  # columns of the only dataset, "events", if it is a table
    t_offset: int = 0  # us, added to all times
    seconds: bool | None = None  # unit of time, if the layout states it
    index: Rows | None = None  # first row of every millisecond since the offset
    sides: tuple[str, ...] = ()  # of several cameras, "left" and "right"; the first one is read
    span: tuple[int, int | None] | None = None  # us, to skip rows outside
    skip: int = 0  # number of first rows to skip
    packet_rows: int | None = None  # default: `PACKET_EVENTS`
    empty: Empty = np.empty  # makes the columns of packets

    def __post_init__(self) -> None:
        self.n_events = min(rows.n_stored for rows in self.rows.values())

    def columns(self, parts: Mapping[str, NDArray[Any]]) -> Mapping[str, NDArray[Any]]:
        """Return x, y, t, p (and signal) of the rows read from each dataset."""
        return dict(zip(self.order, parts["events"].T, strict=True)) if self.order else parts

    def packets(self) -> Iterator[Packet]:
        """Yield the events in file order."""
        first_of_all = next(iter(self.rows.values()))
        n_common = self.n_events or 0
        converter = ColumnConverter(seconds=self.seconds, t_offset=self.t_offset, empty=self.empty)
        n_rows = self.packet_rows or PACKET_EVENTS
        start = self.skip + (0 if self.span is None else self._row_before(self.span[0], converter))
        for first in range(start, max(n_common, 1), n_rows):  # labels without events
            for start, parts in self._pieces(first, min(first + n_rows, n_common)):
                yield from converter.packets(self.columns(parts), first_of_all.offset(start))
        for rows in self.rows.values():
            if rows.n_stored < rows.n_claimed:
                raise FormatError(rows.shortfall(), offset=rows.offset(n_common))
        lengths = {name: rows.n_claimed for name, rows in self.rows.items()}
        if len(set(lengths.values())) > 1:
            offset = first_of_all.offset(n_common)
            raise FormatError(f"columns differ in length: {lengths}", offset=offset)

    def _pieces(self, first: int, last: int) -> Iterator[tuple[int, dict[str, NDArray[Any]]]]:
        """Yield (first row, rows), split in halves around damaged chunks."""
        try:
            parts = {
                name: rows.read(first, last, self.empty if self._is_final(name, rows) else None)
                for name, rows in self.rows.items()
            }
        except _FOREIGN_ERRORS:
            if last - first <= 1:
                raise
            middle = (first + last) // 2
            yield from self._pieces(first, middle)
            yield from self._pieces(middle, last)
        else:
            yield first, parts

    def _is_final(self, name: str, rows: Rows) -> bool:
        """Return whether rows are a column of a packet without conversion."""
        kinds = {"x": np.uint16, "y": np.uint16} | ({} if self.t_offset else {"t": np.int64})
        return name in kinds and rows.dataset.dtype == kinds[name]

    def all_rows(self) -> list[Rows]:
        """Return the datasets of the events, and the index."""
        return [*self.rows.values(), *([] if self.index is None else [self.index])]

    def between(self, t_start: int, t_end: int | None) -> "TableSource":
        """Return a source that finds the first row by its time."""
        return replace(self, span=(t_start, t_end))

    def _row_before(self, t: int, converter: ColumnConverter) -> int:
        """Return a row before time ``t``, with few or no rows between; 0 if there is none."""
        times = self.rows["t"] if "t" in self.rows else self.rows["events"]

        def time_of(row: int, n_rows: int = 1) -> int | None:
            try:
                part = times.read(row, row + n_rows)
            except _FOREIGN_ERRORS:
                return None  # reading the events reports the damage
            return converter.time(part if "t" in self.rows else self.columns({"events": part})["t"])

        n = self.n_events or 0
        time_of(0, min(n, self.packet_rows or PACKET_EVENTS))  # decides the unit of time
        ms = (t - self.t_offset) // 1000
        if self.index is not None and 0 < ms < self.index.n_stored:
            row = int(self.index.read(ms, ms + 1)[0]) - 1
            if 0 < row < n and (found := time_of(row)) is not None and found < t:
                return row
        return row_before(t, n, time_of)

    def streams(self) -> list[Stream]:
        """Return the cameras, if there are several."""
        if not self.sides:
            return Source.streams(self)
        own = Stream(self.sides[0], "events", self.resolution, self.n_events)
        return [own, *map(Stream, self.sides[1:])]

    def close(self) -> None:
        """Close the file."""
        self.file.close()


class Hdf5Layout(Reader, ABC):
    """Base of the readers of HDF5 layouts.

    Parameters
    ----------
    trusted : bool
        Read in this process. Damaged files can crash it, or stop it for ever.
    """

    #: Only the reader of all layouts has suffixes, because they do not identify a layout.
    suffixes = ()
    foreign_errors = _FOREIGN_ERRORS

    def __init__(self, *, trusted: bool = False) -> None:
        # The other process knows no layouts from elsewhere.
        self._is_isolated = not trusted and type(self).__module__.startswith("evcrisp.io.")

    def matches(self, file: Any) -> bool:
        """Return whether an open file has this layout."""
        return True

    @abstractmethod
    def open_source(self, file: Any) -> TableSource:
        """Find the events of an open file."""

    def recognizes(self, head: bytes, path: Path) -> bool:
        """Open the file and compare its layout; the reader of all layouts reports damage."""
        if not has_magic(head):
            return False
        if not self._is_isolated:
            return self.matches_file(path)
        try:
            check_installed()
        except MissingExtraError:
            return False  # the reader of all layouts reports it
        return self.name in matching_layouts(path)

    def matches_file(self, path: Path) -> bool:
        """Return whether a file can be opened and has this layout."""
        try:
            with _open_file(path) as file:
                return self.matches(file)
        except (EvError, *_FOREIGN_ERRORS):
            return False

    def open(self, path: Path) -> TableSource | IsolatedSource:
        """Open a file and find its events."""
        if not self._is_isolated:
            return self.open_here(path)
        check_installed()
        return open_isolated(type(self), path, PACKET_EVENTS)

    def open_here(self, path: Path) -> TableSource:
        """Open a file in this process."""
        file = _open_file(path)
        try:
            return self.open_source(file)
        except BaseException:
            file.close()
            raise


def _open_file(path: Path) -> Any:
    return library().File(path, "r", rdcc_nbytes=_CACHE_BYTES, locking="best-effort")


def size_from_attributes(file: Any) -> tuple[int, int] | None:
    """Return (width, height) from the attributes of the common writers."""
    attributes = file.attrs
    if "resolution" in attributes:
        return _as_pair(attributes["resolution"])
    if "width" in attributes and "height" in attributes:
        return int(attributes["width"]), int(attributes["height"])
    if "geometry" in attributes:  # Prophesee: "1280x720"
        return _as_pair(as_text(attributes["geometry"]).split("x"))
    if "sensor_resolution" in attributes:  # event_utils: (height, width)
        height_width = _as_pair(attributes["sensor_resolution"])
        return None if height_width is None else height_width[::-1]
    return None


def _as_pair(values: Any) -> tuple[int, int] | None:
    numbers = [int(value) for value in values] if np.ndim(values) == 1 else []
    return (numbers[0], numbers[1]) if len(numbers) == 2 else None


def as_text(value: Any) -> str:
    """Convert an attribute, bytes or string, to text."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def find_number(file: Any, path: str) -> int | None:
    """Return the number of a dataset of shape () or (1,), or None if it is missing."""
    dataset = find_node(file, path)
    if not isinstance(dataset, library().Dataset):
        return None
    if dataset.size != 1 or dataset.dtype.kind not in "iuf":
        raise FormatError(f"{path!r} must be one number; got shape {dataset.shape}")
    value = np.ravel(dataset[()])[0]
    if not np.isfinite(value) or not -(2**63) <= int(value) < 2**63:
        raise FormatError(f"{path!r} is not a time; got {value}")
    return int(value)
