"""Stream the column of an ``.npy`` file object in pieces, whatever holds it (file, zip member)."""

from typing import IO, Any

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from evcrisp.errors import FormatError


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

    def __len__(self) -> int:
        return self.shape[0] if self.shape else 1

    def read(self, n: int) -> NDArray[Any]:
        """Return the next ``n`` rows, or fewer at the end of what the file really holds."""
        row_shape = self.shape[1:]
        row_bytes = self.dtype.itemsize * int(np.prod(row_shape, dtype=np.int64))
        data = self._file.read(n * row_bytes)
        n_whole = len(data) // row_bytes if row_bytes else 0
        whole = np.frombuffer(data, self.dtype, n_whole * row_bytes // self.dtype.itemsize)
        return whole.reshape(n_whole, *row_shape)
