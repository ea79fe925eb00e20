"""An output file for HDF5, whose library crashes the process when a write fails.

HDF5 keeps data back and writes it when files are closed, at the latest when Python ends; if that
fails (a full disk), it leaves objects behind that it can neither write nor release. So the failure
is kept from it, and told to the caller instead.
"""

import os
from pathlib import Path


class OutputFile:
    """A file object that seems to succeed after its first failure; `check` raises that."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb+", buffering=0)
        self._failure: OSError | None = None
        self._position = 0

    def check(self) -> None:
        """Raise the first failure, if there was one."""
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a byte."""
        self._position = self._file.seek(offset, whence)
        return self._position

    def tell(self) -> int:
        """Return the byte at which the file stands."""
        return self._position

    def read(self, size: int) -> bytes:
        """Return bytes; h5py takes nothing for a file that has no such method."""
        buffer = bytearray(size)
        self.readinto(memoryview(buffer))
        return bytes(buffer)

    def readinto(self, buffer: memoryview) -> int:
        """Fill the buffer; with zeros where the file ends early."""
        view = memoryview(buffer).cast("B")
        n_read = self._file.readinto(view) or 0
        view[n_read:] = bytes(len(view) - n_read)
        self._position += len(view)
        return len(view)

    def write(self, data: memoryview) -> int:
        """Write all of the data, or remember why not."""
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
        """Set the size, or remember why not."""
        try:
            if self._failure is None:
                self._file.truncate(size)
        except OSError as error:
            self._failure = error
        return size

    def flush(self) -> None:
        """Do nothing: there is no buffer."""
