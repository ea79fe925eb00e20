"""Stream the column of an ``.npy`` file object in pieces, whatever holds it (file, zip member)."""

import math
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from evcrisp.core.errors import FormatError
from evcrisp.core.messages import counted

#: One read asks for no more than this; a file that promises more may hold nothing.
READ_BYTES = 1 << 26
#: A row of more bytes is no event.
_MAX_ROW_BYTES = 1 << 20


def _read_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = npy_format.read_magic(file)
    if version == (1, 0):
        return npy_format.read_array_header_1_0(file)
    if version == (2, 0):
        return npy_format.read_array_header_2_0(file)
    raise FormatError(f"npy version {version} is not read; expected 1.0 or 2.0")


class NpyColumn:
    """One ``.npy`` stream, read front to back. Object arrays are refused: they can run code."""

    def __init__(self, name: str, file: IO[bytes]) -> None:
        self.name = name
        self._file = file
        try:
            self.shape, fortran_order, self.dtype = _read_header(file)
        except FormatError:
            raise
        except Exception as error:
            # numpy evaluates the header as a literal: damage shows as any error of its tokenizer.
            raise FormatError(f"column {name!r} has a damaged npy header") from error
        if self.dtype.hasobject:
            raise FormatError(f"column {name!r} holds Python objects, which are not read")
        if any(side < 0 for side in self.shape):
            raise FormatError(f"column {name!r} states the impossible shape {self.shape}")
        if fortran_order and len(self.shape) > 1:
            raise FormatError(f"column {name!r} is in Fortran order; save it in C order")
        if self.dtype.itemsize == 0:
            raise FormatError(f"column {name!r} states elements of 0 bytes ({self.dtype})")
        self._row_bytes = self.dtype.itemsize * math.prod(self.shape[1:])
        if self._row_bytes > _MAX_ROW_BYTES:
            raise FormatError(f"column {name!r} states rows of {counted(self._row_bytes, 'byte')}")

    def __len__(self) -> int:
        return self.shape[0] if self.shape else 1

    @property
    def rows_at_once(self) -> int:
        """How many rows one call of `read` may ask for."""
        return READ_BYTES // max(self._row_bytes, 1)

    def read(self, n: int) -> NDArray[Any]:
        """Return the next ``n`` rows, or fewer at the end of what the file really holds."""
        row_shape = self.shape[1:]
        data = self._file.read(n * self._row_bytes)
        n_whole = len(data) // self._row_bytes if self._row_bytes else 0
        whole = np.frombuffer(data, self.dtype, n_whole * math.prod(row_shape))
        return whole.reshape(n_whole, *row_shape)
