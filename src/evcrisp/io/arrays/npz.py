"""NPZ: one numpy archive with the members x, y, t, p, resolution and, where known, signal."""

import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from evcrisp.core.errors import FormatError
from evcrisp.core.events import Events
from evcrisp.io.arrays.npy_stream import NpyColumn
from evcrisp.io.arrays.npz_packer import NpzPacker
from evcrisp.io.event_columns import ColumnConverter, find_columns
from evcrisp.io.protocol import PACKET_EVENTS, Packet, Source
from evcrisp.io.standard_sizes import ALL_SIZES
from evcrisp.io.zip_members import ZIP_ERRORS, open_archive


@dataclass(slots=True)
class NpzSource(Source):
    """An NPZ archive; every pass opens it anew and decompresses the members piece by piece."""

    path: Path = field(kw_only=True)
    names: dict[str, str] = field(kw_only=True)  # column -> member

    def packets(self) -> Iterator[Packet]:
        """Yield the events in file order."""
        with zipfile.ZipFile(self.path) as archive, ExitStack() as stack:
            columns = {
                name: NpyColumn(name, stack.enter_context(archive.open(member)))
                for name, member in self.names.items()
            }
            for name, column in columns.items():
                if len(column.shape) != 1 or column.dtype.kind not in "biuf":
                    raise FormatError(
                        f"column {name!r} must be a 1-d array of numbers; "
                        f"got {column.dtype} of shape {column.shape}"
                    )
            offset = min(info.header_offset for info in archive.infolist())
            yield from _zipped(columns, offset)


def _zipped(columns: dict[str, NpyColumn], offset: int) -> Iterator[Packet]:
    converter = ColumnConverter()
    n_total = max(len(column) for column in columns.values())
    n_read = 0
    while n_read < n_total:
        parts = {name: column.read(PACKET_EVENTS) for name, column in columns.items()}
        n_common = min(part.size for part in parts.values())
        if n_common:
            whole = {name: part[:n_common] for name, part in parts.items()}
            yield from converter.packets(whole, offset)
        n_read += n_common
        if n_common < min(PACKET_EVENTS, n_total - n_read + n_common):
            lengths = {name: len(column) for name, column in columns.items()}
            raise FormatError(f"columns end early; their headers promise {lengths}", offset=offset)


@dataclass(frozen=True, slots=True)
class NpzReader:
    """Read NPZ archives of event columns, ours or with the usual other names."""

    name: ClassVar[str] = "npz"
    title: ClassVar[str] = "NPZ (numpy archive)"
    suffixes: ClassVar[tuple[str, ...]] = (".npz",)
    standard_sizes: ClassVar[tuple[tuple[int, int], ...]] = ALL_SIZES
    foreign_errors: ClassVar[tuple[type[Exception], ...]] = ZIP_ERRORS

    def recognizes(self, head: bytes, path: Path) -> bool:
        """Look for a zip archive with ``.npy`` members."""
        if not head.startswith(b"PK\x03\x04"):
            return False
        try:
            with zipfile.ZipFile(path) as archive:
                return any(name.endswith(".npy") for name in archive.namelist())
        except ZIP_ERRORS:
            return b".npy" in head[:64]

    def open(self, path: Path) -> NpzSource:
        """Open an archive and find its columns."""
        with open_archive(path) as archive:
            members = {
                name.removesuffix(".npy"): name
                for name in archive.namelist()
                if name.endswith(".npy")
            }
            names = find_columns(members)
            resolution = None
            if "resolution" in members:
                with archive.open(members["resolution"]) as file:
                    resolution = _read_size(NpyColumn("resolution", file))
            n_events = _promised(archive, members[names["t"]]) if "t" in names else None
        return NpzSource(
            resolution=resolution,
            n_events=n_events,
            metadata={"columns": sorted(members)},
            path=path,
            names={column: members[member] for column, member in names.items()},
        )


def _promised(archive: zipfile.ZipFile, member: str) -> int | None:
    """Return the length of a column as its header says; None where it cannot be told."""
    try:
        with archive.open(member) as file:
            column = NpyColumn("t", file)
            return len(column) if len(column.shape) == 1 else None
    except (FormatError, *ZIP_ERRORS):
        return None  # whoever reads the events will say what is wrong


def _read_size(column: NpyColumn) -> tuple[int, int]:
    size = column.read(2) if column.shape == (2,) and column.dtype.kind in "iu" else None
    if size is None or size.size != 2:
        raise FormatError(
            f"`resolution` must be two whole numbers; got {column.dtype} of shape {column.shape}"
        )
    return int(size[0]), int(size[1])


@dataclass(slots=True)
class NpzSink:
    """An open archive of events."""

    resolution: tuple[int, int]
    packer: NpzPacker

    def write(self, events: Events) -> None:
        """Append events."""
        columns = {"x": events.x, "y": events.y, "t": events.t, "p": events.p}
        if events.signal is not None:
            columns["signal"] = events.signal
        self.packer.append(columns)

    def finish(self) -> None:
        """Pack the columns into the archive."""
        if not self.packer.names:
            self.write(Events.empty(self.resolution))
        self.packer.pack({"resolution": np.array(self.resolution, np.int64)})

    def abort(self) -> None:
        """Remove what was written."""
        self.packer.remove()


@dataclass(frozen=True, slots=True, kw_only=True)
class NpzWriter:
    """Write NPZ archives; ``compressed`` leaves a tenth to a third of the size, and takes longer."""

    name: ClassVar[str] = "npz"
    title: ClassVar[str] = "NPZ (numpy archive)"
    suffixes: ClassVar[tuple[str, ...]] = (".npz",)
    keeps_signal: ClassVar[bool] = True
    keeps_extras: ClassVar[bool] = False

    compressed: bool = False

    def open(self, path: Path, resolution: tuple[int, int]) -> NpzSink:
        """Start an archive."""
        return NpzSink(resolution, NpzPacker(path, compressed=self.compressed))
