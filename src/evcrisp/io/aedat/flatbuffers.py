"""Read FlatBuffers and check every offset against the buffer.

A table starts with a signed offset back to its vtable. The vtable has its own size, the size of the
table, and the offset of each field in the table, or 0 if the field has its default value. Strings
and vectors have unsigned offsets and start with their length.
"""

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import FormatError
from evcrisp.core.messages import counted
from evcrisp.core.types import Bytes

_I32 = struct.Struct("<i")
_U32 = struct.Struct("<I")
_U16 = struct.Struct("<H")


def _need(data: bytes | Bytes, at: int, size: int) -> None:
    if at < 0 or at + size > len(data):
        found = f"bytes {at} to {at + size} of {len(data)}"
        raise FormatError(f"an offset inside the packet is wrong: {found}")


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table of a buffer. Fields are counted from 0, as in the schema."""

    data: bytes
    at: int
    offsets: tuple[int, ...]

    def where(self, field: int) -> int | None:
        """Return the byte of a field, or None if it has its default value."""
        offset = self.offsets[field] if field < len(self.offsets) else 0
        return self.at + offset if offset else None

    def scalar(self, field: int, code: str, default: int) -> int:
        """Return a number; ``code`` as for :mod:`struct`."""
        at = self.where(field)
        if at is None:
            return default
        layout = struct.Struct("<" + code)
        _need(self.data, at, layout.size)
        return layout.unpack_from(self.data, at)[0]

    def vector(self, field: int, item_size: int) -> tuple[int, int]:
        """Return (byte of the first item, number of items) of a vector."""
        at = self.where(field)
        if at is None:
            return 0, 0
        _need(self.data, at, 4)
        start = at + _U32.unpack_from(self.data, at)[0]
        _need(self.data, start, 4)
        n_items = _U32.unpack_from(self.data, start)[0]
        _need(self.data, start + 4, n_items * item_size)
        return start + 4, n_items

    def string(self, field: int) -> bytes:
        """Return a string as bytes."""
        first, size = self.vector(field, 1)
        return bytes(self.data[first : first + size])

    def tables(self, field: int) -> NDArray[np.int64]:
        """Return the first bytes of the tables of a vector."""
        first, n_items = self.vector(field, 4)
        slots = first + 4 * np.arange(n_items, dtype=np.int64)
        at = slots + np.frombuffer(self.data, "<u4", n_items, first)
        if n_items:
            _need(self.data, int(at.max()), 4)
        return at


def table_at(data: bytes, at: int) -> Table:
    """Return the table that starts at a byte."""
    _need(data, at, 4)
    vtable = at - _I32.unpack_from(data, at)[0]
    _need(data, vtable, 4)
    size = _U16.unpack_from(data, vtable)[0]
    if size < 4 or size % 2:
        raise FormatError(f"a table inside the packet has a wrong size of {counted(size, 'byte')}")
    _need(data, vtable, size)
    return Table(data, at, struct.unpack_from(f"<{size // 2 - 2}H", data, vtable + 4))


def root(data: bytes, identifier: bytes, at: int = 0) -> Table:
    """Return the root table of a buffer that starts at a byte, after checking its identifier."""
    _need(data, at, 8)
    found = bytes(data[at + 4 : at + 8])
    if found != identifier:
        shown = found.decode("latin-1")
        raise FormatError(f"expected {identifier.decode()} data; found the identifier {shown!r}")
    return table_at(data, at + _U32.unpack_from(data, at)[0])


def prefixed_root(data: bytes, identifier: bytes) -> Table:
    """Return the root table of a buffer that starts with its own size."""
    _need(data, 0, 12)
    declared = 4 + _U32.unpack_from(data, 0)[0]
    if declared > len(data):
        raise FormatError(f"the packet states {counted(declared, 'byte')} but has {len(data)}")
    return root(data, identifier, 4)


class Tables:
    """Many tables of one buffer, read as columns; ``at`` are their first bytes, (n,) int64."""

    def __init__(self, data: bytes, at: NDArray[np.int64]) -> None:
        self._data = np.frombuffer(data, np.uint8)
        self._at = at
        self._vtable = at - self._gather(at, "<i4")
        self._vtable_size = self._gather(self._vtable, "<u2").astype(np.int64)

    def column(self, field: int, dtype: str) -> tuple[NDArray[Any], bool]:
        """Return a field of all tables (0 where it is absent), and whether any table has it."""
        values = np.zeros(self._at.size, dtype)
        slot = self._vtable + 4 + 2 * field
        has_slot = slot + 2 <= self._vtable + self._vtable_size
        offset = np.zeros(self._at.size, np.int64)
        offset[has_slot] = self._gather(slot[has_slot], "<u2")
        present = offset > 0
        values[present] = self._gather((self._at + offset)[present], dtype)
        return values, bool(present.any())

    def _gather(self, at: NDArray[np.int64], dtype: str) -> NDArray[Any]:
        """Return the numbers at these bytes."""
        size = np.dtype(dtype).itemsize
        if at.size:
            _need(self._data, int(at.min()), int(at.max()) + size - int(at.min()))
        return self._data[at[:, np.newaxis] + np.arange(size)].view(dtype)[:, 0]
