"""Rows of an HDF5 dataset that are stored in the file."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import FormatError
from evcrisp.core.messages import counted
from evcrisp.io.event_columns import Empty
from evcrisp.io.hdf5.chunks import Chunks
from evcrisp.io.protocol import PACKET_EVENTS


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """A dataset; only rows that are stored in the file are read."""

    name: str
    dataset: Any  # h5py.Dataset
    n_claimed: int
    n_stored: int
    chunks: Chunks | None
    _checked: set[int] = field(default_factory=set)  # numbers of chunks

    def read(self, first: int, last: int, empty: Empty | None = None) -> NDArray[Any]:
        """Return rows ``first`` to ``last - 1``; those of one axis in an array made by ``empty``."""
        last = min(last, self.n_stored)
        if self.chunks is not None:
            self._check(self.chunks, first, last)
        if empty is None or last <= first:
            return cast(NDArray[Any], self.dataset[first:last])
        rows = empty(last - first, self.dataset.dtype)
        self.dataset.read_direct(rows, np.s_[first:last])
        return rows

    def _check(self, chunks: Chunks, first: int, last: int) -> None:
        """Raise if a chunk of some rows is not whole."""
        size = chunks.shape[0]
        for number in range(first // size, -(-last // size)):
            if number not in self._checked:
                chunks.check(number)
                self._checked.add(number)

    def read_all(self) -> NDArray[Any]:
        """Return all rows; for small streams."""
        if self.n_stored < self.n_claimed:
            raise FormatError(self.shortfall(), offset=self.offset(self.n_stored))
        return self.read(0, self.n_stored)

    def step_bytes(self) -> int:
        """Return the size of a packet and of a chunk, which is how much a read decompresses."""
        shape, itemsize = self.dataset.shape, self.dataset.dtype.itemsize
        packet = itemsize * math.prod((min(shape[0], PACKET_EVENTS), *shape[1:]))
        return packet + (0 if self.chunks is None else self.chunks.n_bytes)

    def shortfall(self) -> str:
        """Describe the missing rows."""
        return f"{self.name!r} states {counted(self.n_claimed, 'row')}, but has {self.n_stored:,}"

    def offset(self, row: int) -> int:
        """Return the byte of a row in the file, or of its chunk."""
        dataset = self.dataset
        row = max(0, min(row, self.n_stored - 1))
        if self.chunks is None:
            start = dataset.id.get_offset()
            row_bytes = dataset.dtype.itemsize * math.prod(dataset.shape[1:])
            return 0 if start is None else int(start) + row * row_bytes
        if self.n_stored == 0:
            return 0
        size = self.chunks.shape[0]
        corner = (row // size * size,) + (0,) * (dataset.ndim - 1)
        return int(dataset.id.get_chunk_info_by_coord(corner).byte_offset or 0)


@dataclass(frozen=True, slots=True, eq=False)
class ChunkRows(Rows, ABC):
    """Rows in chunks that are decoded without HDF5; the last decoded chunk is kept."""

    _last: dict[int, NDArray[Any]] = field(default_factory=dict)

    def read(self, first: int, last: int, empty: Empty | None = None) -> NDArray[Any]:
        """Return rows ``first`` to ``last - 1``."""
        assert self.chunks is not None
        last, size = min(last, self.n_stored), self.chunks.shape[0]
        numbers = range(first // size, -(-last // size))
        parts = [
            self._chunk(number)[max(first - number * size, 0) : last - number * size]
            for number in numbers
        ]
        return np.concatenate(parts) if parts else np.empty(0, self.dataset.dtype)

    def _chunk(self, number: int) -> NDArray[Any]:
        if number not in self._last:
            chunk = self._read_chunk(number)
            self._last.clear()
            self._last[number] = chunk
        return self._last[number]

    @abstractmethod
    def _read_chunk(self, number: int) -> NDArray[Any]:
        """Decode a chunk, or raise."""


@dataclass(frozen=True, slots=True, eq=False)
class GzipRows(ChunkRows):
    """Rows of numbers in chunks of gzip."""

    def _read_chunk(self, number: int) -> NDArray[Any]:
        assert self.chunks is not None
        return self.chunks.decode_gzip(number)
