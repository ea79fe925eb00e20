"""Rows of an HDF5 dataset that are stored in the file."""

import math
from dataclasses import dataclass
from typing import Any, cast

from numpy.typing import NDArray

from evcrisp.core.errors import FormatError
from evcrisp.core.messages import counted


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """A dataset; only rows that are stored in the file are read."""

    name: str
    dataset: Any  # h5py.Dataset
    n_claimed: int
    n_stored: int

    def read(self, first: int, last: int) -> NDArray[Any]:
        """Return rows ``first`` to ``last - 1``."""
        return cast(NDArray[Any], self.dataset[first : min(last, self.n_stored)])

    def read_all(self) -> NDArray[Any]:
        """Return all rows; for small streams."""
        if self.n_stored < self.n_claimed:
            raise FormatError(self.shortfall(), offset=self.offset(self.n_stored))
        return self.read(0, self.n_stored)

    def shortfall(self) -> str:
        """Describe the missing rows."""
        return f"{self.name!r} states {counted(self.n_claimed, 'row')}, but has {self.n_stored:,}"

    def offset(self, row: int) -> int:
        """Return the byte of a row in the file, or of its chunk."""
        dataset = self.dataset
        row = max(0, min(row, self.n_stored - 1))
        if dataset.chunks is None:
            start = dataset.id.get_offset()
            row_bytes = dataset.dtype.itemsize * math.prod(dataset.shape[1:])
            return 0 if start is None else int(start) + row * row_bytes
        if self.n_stored == 0:
            return 0
        corner = (row // dataset.chunks[0] * dataset.chunks[0],) + (0,) * (dataset.ndim - 1)
        return int(dataset.id.get_chunk_info_by_coord(corner).byte_offset or 0)
