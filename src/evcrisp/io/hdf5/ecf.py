"""Read tables that are compressed with Prophesee's ECF codec, without its plugin."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import FormatError
from evcrisp.io.event_columns import find_columns
from evcrisp.io.hdf5.rows import ChunkRows
from evcrisp.io.protocol import Columns


@dataclass(frozen=True, slots=True, eq=False)
class EcfRows(ChunkRows):
    """Rows of x, y, p and t in chunks of ECF."""

    def _read_chunk(self, number: int) -> NDArray[Any]:
        size = self.dataset.chunks[0]
        skipped, data = self.dataset.id.read_direct_chunk((number * size,))
        if skipped & 1:  # the writer has left out the filter for this chunk
            records: NDArray[Any] = np.frombuffer(data, self.dataset.dtype)
        else:
            records = self._decoded(data, number)
        n_needed = min(size, self.n_claimed - number * size)
        if not n_needed <= records.size <= size:
            expected = f"{n_needed}" if n_needed == size else f"{n_needed} to {size}"
            reason = f"a chunk of {self.name!r} has {records.size} rows; expected {expected}"
            raise FormatError(reason, offset=self.offset(number * size))
        return records

    def _decoded(self, data: bytes, number: int) -> NDArray[Any]:
        columns = decode(data)
        if columns is None:
            offset = self.offset(number * self.dataset.chunks[0])
            raise FormatError(f"a chunk of {self.name!r} is damaged (ECF)", offset=offset)
        records = np.empty(columns.t.size, self.dataset.dtype)
        names = find_columns(self.dataset.dtype.names)
        for column, values in columns._asdict().items():
            records[names[column]] = values
        return records


def compile_decoder() -> None:
    """Compile the kernels of `decode`, which the first use does otherwise."""
    decode(bytes.fromhex("06000000 0400000000000000 01 000220000000000000000000"))


def decode(data: bytes) -> Columns | None:
    """Decode a block of ECF; None if it is damaged.

    >>> block = bytes.fromhex("06000000 0400000000000000 01 000220000000000000000000")
    >>> x, y, t, p = decode(block)
    >>> x.tolist(), y.tolist(), t.tolist(), p.tolist()
    ([1], [2], [4], [False])
    """
    from evcrisp.kernels.io.ecf import SLACK, count_ecf, decode_ecf

    block = np.frombuffer(data, np.uint8)
    n_events = int(count_ecf(block))
    if n_events < 0:
        return None
    columns = Columns.empty(n_events + SLACK)
    if not decode_ecf(block, *columns):
        return None
    return columns.part(slice(n_events))
