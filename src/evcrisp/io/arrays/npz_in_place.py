"""Write columns of a known length where they are in the finished archive, without temporary copies."""

import io
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from evcrisp.io.atomic_output import naming
from evcrisp.io.byte_blocks import stored_member

#: Rows that are read at a time.
_CHUNK = 1 << 20


@dataclass(slots=True)
class _Column:
    """A member of the archive; its header has its checksum in the end."""

    info: zipfile.ZipInfo
    head: bytes  # of the array
    dtype: np.dtype[Any]
    start: int  # byte of the first row


class InPlaceNpz:
    """An archive of ``n_rows`` rows, whose bytes are those of `NpzPacker`.

    ``like`` has arrays of the types of the columns.
    """

    def __init__(self, path: Path, like: Mapping[str, NDArray[Any]], n_rows: int) -> None:
        self._path, self.n_rows, self.n_written = path, n_rows, 0
        self._columns: dict[str, _Column] = {}
        end = 0
        for name, array in like.items():
            info = stored_member(f"{name}.npy")
            info.header_offset = end
            head = _array_head(array.dtype, n_rows)
            n_bytes = n_rows * array.dtype.itemsize
            info.CRC = zlib.crc32(head)
            info.file_size = info.compress_size = len(head) + n_bytes
            start = end + len(info.FileHeader(zip64=True)) + len(head)
            self._columns[name] = _Column(info, head, array.dtype, start)
            end = start + n_bytes
        self._end = end
        with naming(path):
            self._file = path.open("w+b", buffering=0)

    def append(self, columns: Mapping[str, NDArray[Any]]) -> None:
        """Write the next rows; there must be space for them."""
        n_new = len(next(iter(columns.values())))
        if self.n_written + n_new > self.n_rows or columns.keys() != self._columns.keys():
            raise ValueError("other columns, or more rows, than were stated")
        with naming(self._path):
            for name, values in columns.items():
                column = self._columns[name]
                data = np.ascontiguousarray(values, column.dtype).data.cast("B")
                column.info.CRC = zlib.crc32(data, column.info.CRC)
                self._write(column.start + self.n_written * column.dtype.itemsize, data)
        self.n_written += n_new

    def finish(self) -> None:
        """Write the headers and the directory, and close the file; all rows were written."""
        with naming(self._path), self._file:
            for column in self._columns.values():
                head = memoryview(column.info.FileHeader(zip64=True) + column.head)
                self._write(column.start - len(head), head)
            self._file.seek(self._end)
            with zipfile.ZipFile(self._file, "w") as archive:  # appends, to a file that is open
                archive.filelist.extend(column.info for column in self._columns.values())

    def rows(self) -> Iterator[dict[str, NDArray[Any]]]:
        """Yield the rows so far."""
        for first in range(0, self.n_written, _CHUNK):
            n = min(_CHUNK, self.n_written - first)
            found = {}
            for name, column in self._columns.items():
                self._file.seek(column.start + first * column.dtype.itemsize)
                found[name] = np.fromfile(self._file, column.dtype, n)
            yield found

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _write(self, at: int, data: memoryview) -> None:
        self._file.seek(at)
        while data:
            data = data[self._file.write(data) :]


def _array_head(dtype: np.dtype[Any], n_rows: int) -> bytes:
    """Return the header of a column in the format of numpy."""
    head = io.BytesIO()
    facts = {"descr": npy_format.dtype_to_descr(dtype), "fortran_order": False, "shape": (n_rows,)}
    npy_format.write_array_header_1_0(head, facts)
    return head.getvalue()
