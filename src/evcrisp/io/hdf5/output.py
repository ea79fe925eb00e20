"""Output file for the HDF5 library, which crashes the process if a write fails.

HDF5 buffers data and writes it when a file is closed, or when Python ends. If that fails (full
disk), its objects can neither be written nor released. Therefore `OutputFile` hides failures from
HDF5 and reports them to the caller.
"""

import os
from pathlib import Path


class OutputFile:
    """A file object whose writes never raise; `check` raises the first failure."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb+", buffering=0)
        self._failure: OSError | None = None
        self._position = 0

    def check(self) -> None:
        """Raise the first failure, if any."""
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Set the position."""
        self._position = self._file.seek(offset, whence)
        return self._position

    def tell(self) -> int:
        """Return the position."""
        return self._position

    def read(self, size: int) -> bytes:
        """Return bytes; h5py requires this method."""
        buffer = bytearray(size)
        self.readinto(memoryview(buffer))
        return bytes(buffer)

    def readinto(self, buffer: memoryview) -> int:
        """Fill the buffer, with zeros after the end of the file."""
        view = memoryview(buffer).cast("B")
        n_read = self._file.readinto(view) or 0
        view[n_read:] = bytes(len(view) - n_read)
        self._position += len(view)
        return len(view)

    def write(self, data: memoryview) -> int:
        """Write all of the data, or keep the failure."""
        view = memoryview(data).cast("B")
        n_written = 0
        try:
            while self._failure is None and n_written < len(view):
                n_written += self._file.write(view[n_written:])
        except OSError as error:
            self._failure = error
        self._position += len(view)
        return len(view)

    def truncate(self, size: int) -> int:
        """Set the size, or keep the failure."""
        try:
            if self._failure is None:
                self._file.truncate(size)
        except OSError as error:
            self._failure = error
        return size

    def flush(self) -> None:
        """Do nothing: there is no buffer."""
