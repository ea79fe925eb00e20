"""HDF5: find out which layout a file has, and read it."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from evcrisp.io import hdf5_dsec, hdf5_m3ed, hdf5_mvsec, hdf5_plain, hdf5_prophesee
from evcrisp.io._hdf5 import TableSource, library
from evcrisp.io._sizes import ALL_SIZES

_MAGIC = b"\x89HDF\r\n\x1a\n"

#: HDF5 allows a block of user data of these sizes before the magic number.
_MAGIC_OFFSETS = (0, 512, 1024, 2048)

#: Asked in this order; the last one takes every file.
_LAYOUTS = (hdf5_dsec, hdf5_mvsec, hdf5_m3ed, hdf5_prophesee, hdf5_plain)

#: Keep decompressed chunks of each column, so that packets need not be as large as chunks.
_CACHE_BYTES = 1 << 25


@dataclass(frozen=True, slots=True)
class Hdf5Reader:
    """Read the HDF5 layouts of DSEC, TUM-VIE, MVSEC, M3ED, Prophesee, v2e, and plain columns."""

    name: ClassVar[str] = "hdf5"
    title: ClassVar[str] = "HDF5 (DSEC, TUM-VIE, MVSEC, M3ED, Prophesee, plain columns)"
    suffixes: ClassVar[tuple[str, ...]] = (".h5", ".hdf5", ".hdf")
    standard_sizes: ClassVar[tuple[tuple[int, int], ...]] = ALL_SIZES
    foreign_errors: ClassVar[tuple[type[Exception], ...]] = (
        OSError,
        RuntimeError,
        KeyError,
        ValueError,
        TypeError,  # a damaged type description
        OverflowError,
        SystemError,
    )

    def recognizes(self, head: bytes, path: Path) -> bool:
        """Look for the magic number."""
        return any(head.startswith(_MAGIC, offset) for offset in _MAGIC_OFFSETS)

    def open(self, path: Path) -> TableSource:
        """Open a file and find its events."""
        file = library().File(path, "r", rdcc_nbytes=_CACHE_BYTES, locking="best-effort")
        try:
            layout = next(layout for layout in _LAYOUTS if layout.matches(file))
            return layout.open_source(file)
        except BaseException:
            file.close()
            raise
