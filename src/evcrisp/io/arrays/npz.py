"""NPZ: a numpy archive with the members x, y, t, p, resolution and optionally signal."""

import shutil
import struct
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from os import SEEK_CUR
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from evcrisp.core.errors import ConfigError, FormatError
from evcrisp.core.events import Events
from evcrisp.io.arrays.npy import NpyColumn, column_packets
from evcrisp.io.atomic_output import naming
from evcrisp.io.byte_blocks import ZIP_ERRORS, create_member, has_member, open_archive
from evcrisp.io.event_columns import find_columns
from evcrisp.io.protocol import Packet, Reader, Source, Writer

#: Size of the header before a member and its name; flag of an encrypted member.
_LOCAL_HEADER_BYTES, _ENCRYPTED = 30, 1


@dataclass(slots=True, kw_only=True)
class _NpzSource(Source):
    """An NPZ archive; every pass opens it again and decompresses the members in pieces."""

    names: dict[str, str]  # column -> member
    t_start: int | None = None  # us, to skip earlier rows

    def between(self, t_start: int, t_end: int | None) -> "_NpzSource":
        """Return a source that finds the first row by its time, unless a column is compressed."""
        with zipfile.ZipFile(self.path) as archive, ExitStack() as stack:
            stored = self._stored_columns(archive, stack)
        return self if stored is None else replace(self, t_start=t_start)

    def packets(self) -> Iterator[Packet]:
        with zipfile.ZipFile(self.path) as archive, ExitStack() as stack:
            columns = None if self.t_start is None else self._stored_columns(archive, stack)
            columns = columns or {
                name: NpyColumn(name, stack.enter_context(archive.open(member)))
                for name, member in self.names.items()
            }
            for name, column in columns.items():
                if len(column.shape) != 1 or column.dtype.kind not in "biuf":
                    found = f"{column.dtype} of shape {column.shape}"
                    raise FormatError(f"column {name!r} must be 1-d numbers; got {found}")
            offset = min(info.header_offset for info in archive.infolist())
            yield from column_packets(columns, offset, t_start=self.t_start)

    def _stored_columns(
        self, archive: zipfile.ZipFile, stack: ExitStack
    ) -> dict[str, NpyColumn] | None:
        """Return columns that can seek, which those of `zipfile` cannot; None if one is compressed."""
        columns: dict[str, NpyColumn] = {}
        for name, member_name in self.names.items():
            member = archive.getinfo(member_name)
            if member.compress_type != zipfile.ZIP_STORED or member.flag_bits & _ENCRYPTED:
                return None
            file = stack.enter_context(self.path.open("rb"))
            file.seek(member.header_offset)
            n_name, n_extra = struct.unpack("<26x2H", file.read(_LOCAL_HEADER_BYTES))
            start = file.seek(n_name + n_extra, SEEK_CUR)
            columns[name] = NpyColumn(name, file)
            if columns[name].end - start != member.file_size:
                return None  # reading in order reports the damage
        return columns


class NpzReader(Reader):
    """Read NPZ archives of event columns with any of the usual names."""

    name = "npz"
    title = "NPZ (numpy archive)"
    suffixes = (".npz",)
    foreign_errors = ZIP_ERRORS

    def recognizes(self, head: bytes, path: Path) -> bool:
        """Look for a zip archive with ``.npy`` members."""
        return has_member(head, path, ".npy", 64)

    def open(self, path: Path) -> _NpzSource:
        """Open an archive and find its columns."""
        with open_archive(path) as archive:
            arrays = [name for name in archive.namelist() if name.endswith(".npy")]
            members = {name.removesuffix(".npy"): name for name in arrays}
            names = find_columns(members)
            resolution = None
            if "resolution" in members:
                with archive.open(members["resolution"]) as file:
                    resolution = _read_size(NpyColumn("resolution", file))
            n_events = _stated_length(archive, members[names["t"]])
        columns = {column: members[member] for column, member in names.items()}
        facts = {"columns": sorted(members)}
        return _NpzSource(resolution, facts, n_events, path=path, names=columns)


def _stated_length(archive: zipfile.ZipFile, member: str) -> int | None:
    """Return the length of a column stated by its header; None if it is damaged."""
    try:
        with archive.open(member) as file:
            column = NpyColumn("t", file)
            return len(column) if len(column.shape) == 1 else None
    except (FormatError, *ZIP_ERRORS):
        return None  # reading the events reports the damage


def _read_size(column: NpyColumn) -> tuple[int, int]:
    size = column.read(2) if column.shape == (2,) and column.dtype.kind in "iu" else None
    if size is None or size.size != 2:
        found = f"{column.dtype} of shape {column.shape}"
        raise FormatError(f"`resolution` must be two whole numbers; got {found}")
    return int(size[0]), int(size[1])


class NpzPacker:
    """Write columns of any length to an archive; they grow in temporary files until `pack`."""

    def __init__(self, path: Path, *, compressed: bool = False) -> None:
        self._path = path
        self._method = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
        self._parts: dict[str, IO[bytes]] = {}
        self._dtypes: dict[str, np.dtype[Any]] = {}
        self._n_rows = 0

    @property
    def names(self) -> list[str]:
        """The columns so far."""
        return list(self._parts)

    def append(self, columns: Mapping[str, NDArray[Any]]) -> None:
        """Append rows; all calls have the same columns, each of one length."""
        n_new = len(next(iter(columns.values())))
        if self._parts and columns.keys() != self._parts.keys():
            if n_new == 0:
                return
            raise ConfigError(
                f"All chunks must have the columns {sorted(self._parts)}; got {sorted(columns)}.",
                remedy="Give labels (`signal`) to all events, or to none.",
            )
        with naming(self._path):
            for name, column in columns.items():
                if name not in self._parts:
                    part = self._path.with_name(f"{self._path.name}.{name}")
                    self._parts[name] = part.open("w+b")
                    self._dtypes[name] = column.dtype
                self._parts[name].write(np.ascontiguousarray(column, self._dtypes[name]).data)
        self._n_rows += n_new

    def pack(self, constants: Mapping[str, NDArray[Any]]) -> None:
        """Write the archive: all columns, then small arrays."""
        with (
            naming(self._path),
            zipfile.ZipFile(self._path, "w", self._method, compresslevel=1) as archive,
        ):
            for name, part in self._parts.items():
                dtype = npy_format.dtype_to_descr(self._dtypes[name])
                header = {"descr": dtype, "fortran_order": False, "shape": (self._n_rows,)}
                part.seek(0)
                with create_member(archive, f"{name}.npy") as file:
                    npy_format.write_array_header_1_0(file, header)
                    shutil.copyfileobj(part, file, 1 << 22)
            for name, array in constants.items():
                with create_member(archive, f"{name}.npy") as file:
                    npy_format.write_array(file, array)
        self.remove()

    def remove(self) -> None:
        """Remove the temporary files."""
        for part in self._parts.values():
            with suppress(OSError):  # on a full disk, closing fails as well
                part.close()
            Path(part.name).unlink(missing_ok=True)


@dataclass(slots=True)
class _NpzSink:
    resolution: tuple[int, int]
    packer: NpzPacker

    def write(self, events: Events) -> None:
        columns = {"x": events.x, "y": events.y, "t": events.t, "p": events.p}
        if events.signal is not None:
            columns["signal"] = events.signal
        self.packer.append(columns)

    def finish(self) -> None:
        if not self.packer.names:
            self.write(Events.empty(self.resolution))
        self.packer.pack({"resolution": np.array(self.resolution, np.int64)})

    def abort(self) -> None:
        self.packer.remove()


@dataclass(frozen=True, slots=True, kw_only=True)
class NpzWriter(Writer):
    """Write NPZ archives; ``compressed`` takes longer for a tenth to a third of the size."""

    name = "npz"
    title = "NPZ (numpy archive)"
    suffixes = (".npz",)
    keeps_signal = True

    compressed: bool = False

    def open(self, path: Path, resolution: tuple[int, int]) -> _NpzSink:
        """Start an archive."""
        return _NpzSink(resolution, NpzPacker(path, compressed=self.compressed))
