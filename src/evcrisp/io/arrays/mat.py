"""MATLAB files, versions 5 to 7: a matrix of four columns, a struct, or one variable per column.

A matrix ``events`` can have more columns, such as the number of a frame (REMOT); its first four are
read.

A variable is read whole, because MATLAB stores one column after the other. The parser of scipy is
not used, because it can crash on a damaged file.
"""

import logging
import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import FormatError
from evcrisp.core.messages import counted
from evcrisp.io.byte_blocks import before_damage
from evcrisp.io.event_columns import ColumnConverter, find_columns, find_order
from evcrisp.io.protocol import PACKET_EVENTS, Packet, Reader, Source, slices

logger = logging.getLogger(__name__)

HEADER_BYTES = 128
_HEAD_BYTES = 4096
_FEED_BYTES, _PIECE_BYTES = 1 << 16, 1 << 20
#: A compressed variable may expand to this many bytes, or to `_MAX_RATIO` times its size. Columns of
#: events do not compress better; variables of zeros reach a ratio of 1000.
_FREE_BYTES = 1 << 25
_MAX_RATIO = 200
_MATRIX, _COMPRESSED, _LAST_TYPE = 14, 15, 18
_CELL, _STRUCT = 1, 2
#: Limit of the columns of a matrix `events`; more are not a table of events.
_MAX_COLUMNS = 16
#: Types of stored numbers, and classes of arrays of numbers.
_STORED = dict(enumerate(["i1", "u1", "i2", "u2", "i4", "u4", "f4"], start=1))
_STORED |= {9: "f8", 12: "i8", 13: "u8"}
_NUMERIC = range(6, 16)
_COMPLEX_FLAG = 0x800


@dataclass(frozen=True, slots=True)
class _Variable:
    name: str
    kind: int
    shape: tuple[int, ...]
    offset: int  # byte of its element
    n_bytes: int  # of the decompressed element, as stated
    order: str  # "<" or ">"

    @property
    def is_numeric(self) -> bool:
        return self.kind in _NUMERIC

    @property
    def is_cell(self) -> bool:
        return self.kind == _CELL

    @property
    def is_struct(self) -> bool:
        return self.kind == _STRUCT and all(side == 1 for side in self.shape)


@dataclass(frozen=True, slots=True)
class Numbers:
    """Values of an array in file order (columns first), up to the damage."""

    shape: tuple[int, ...]
    values: NDArray[Any]
    damage: FormatError | None = None


def list_variables(path: Path) -> tuple[list[_Variable], FormatError | None]:
    """Return the variables of a file, and the damage after them; reads the start of each."""
    found: list[_Variable] = []
    with path.open("rb") as file:
        order = _byte_order(file.read(HEADER_BYTES))
        try:
            for offset, n_bytes, stored in _elements(file, order):
                head = file.read(min(n_bytes, _HEAD_BYTES))
                if stored == _COMPRESSED:
                    found.append(_described(_first_bytes(head, offset), order, offset))
                elif stored == _MATRIX:
                    tag = np.array([_MATRIX, n_bytes], f"{order}u4").tobytes()
                    found.append(_described(tag + head, order, offset))
        except FormatError as error:
            return found, error
    return found, None


def _described(head: bytes, order: str, offset: int) -> _Variable:
    kind, shape, name = _Parser(memoryview(head), order, offset, 8).array_head()
    n_bytes = int(np.frombuffer(head, f"{order}u4", 1, 4)[0])
    return _Variable(name, kind & 0xFF, shape, offset, n_bytes, order)


def load_cells(path: Path, variable: _Variable) -> list[Numbers]:
    """Read the cells of a cell array, columns first; cells that are no numbers are empty."""
    data, damage = _content(path, variable)
    return _Parser(data, variable.order, variable.offset, 8, damage).cells()


def load(path: Path, variable: _Variable) -> Numbers | dict[str, Numbers]:
    """Read the values of an array, or of the fields of a struct."""
    data, damage = _content(path, variable)
    parser = _Parser(data, variable.order, variable.offset, 8, damage)
    return parser.struct() if variable.is_struct else parser.numbers()


def _byte_order(header: bytes) -> str:
    marks = {b"\x00\x01IM": "<", b"\x01\x00MI": ">"}
    if header[124:128] not in marks:
        reason = "the file has no header of MATLAB versions 5 to 7; save it with the option '-v7'"
        raise FormatError(reason)
    return marks[header[124:128]]


def _elements(file: IO[bytes], order: str) -> Iterator[tuple[int, int, int]]:
    """Yield (byte, length, type) of every element; the file is positioned after its tag."""
    offset = HEADER_BYTES
    while True:
        file.seek(offset)
        tag = file.read(8)
        if len(tag) < 8:
            return
        stored, n_bytes = (int(number) for number in np.frombuffer(tag, f"{order}u4"))
        if stored == n_bytes == 0 and _is_zero_to_the_end(file):
            return  # padding
        if not 0 < stored <= _LAST_TYPE:
            raise FormatError(f"unknown element type {stored}", offset=offset)
        yield offset, n_bytes, stored
        offset += 8 + n_bytes


def _is_zero_to_the_end(file: IO[bytes]) -> bool:
    return not any(block.strip(b"\0") for block in iter(lambda: file.read(_FEED_BYTES), b""))


def _content(path: Path, variable: _Variable) -> tuple[memoryview, FormatError | None]:
    """Return an element with its tag, up to the damage."""
    with path.open("rb") as file:
        file.seek(variable.offset)
        stored, n_bytes = np.frombuffer(file.read(8), f"{variable.order}u4").tolist()
        n_there = min(n_bytes, path.stat().st_size - file.tell())
        damage = None
        if n_there < n_bytes:
            end = variable.offset + n_there
            damage = FormatError("the file ends within a variable", offset=end)
        if stored == _MATRIX:
            file.seek(variable.offset)
            return memoryview(file.read(8 + n_there)), damage
        data = bytearray()
        try:
            for piece in _decompressed(file, n_there, variable):
                data += piece
        except FormatError as error:
            damage = damage or FormatError(error.reason, offset=variable.offset)
    return memoryview(data), damage


def _first_bytes(packed: bytes, offset: int) -> bytes:
    try:
        return zlib.decompressobj().decompress(packed, _HEAD_BYTES)
    except zlib.error as error:
        # Short variables: the damage may lie behind the description, or in the checksum.
        if head := before_damage(zlib.decompressobj(), packed, _HEAD_BYTES):
            return head
        raise FormatError(f"a variable is damaged: {error}", offset=offset) from error


def _decompressed(file: IO[bytes], n_packed: int, variable: _Variable) -> Iterator[bytes]:
    """Yield the content of a compressed variable, up to the size that it states."""
    n_stated = 8 + variable.n_bytes
    if variable.is_numeric and n_stated > _HEAD_BYTES + 8 * math.prod(variable.shape):
        found = counted(variable.n_bytes, "byte")
        raise FormatError(f"a variable of shape {variable.shape} states {found}")
    n_most = max(_FREE_BYTES, _MAX_RATIO * n_packed)
    n_left, n_fed = min(n_stated, n_most), 0
    stream = zlib.decompressobj()
    while not stream.eof:
        data = stream.unconsumed_tail
        if not data:
            data = file.read(min(_FEED_BYTES, n_packed - n_fed))
            n_fed += len(data)
        # One byte more than needed, so that the end with its checksum is reached.
        before, n_wanted = stream.copy(), min(n_left + 1, _PIECE_BYTES)
        try:
            piece = stream.decompress(data, n_wanted)
        except zlib.error as error:
            yield before_damage(before, data, n_wanted)[:n_left]
            raise FormatError(f"a variable is damaged: {error}") from error
        yield piece[:n_left]
        if len(piece) > n_left and n_stated <= n_most:
            raise FormatError("a variable is longer than it states")
        if len(piece) > n_left:
            found = counted(n_stated, "byte")
            raise FormatError(f"a variable of {n_packed:,} bytes expands to {found}, too many")
        n_left -= len(piece)
        if not (data or piece or stream.eof):
            raise FormatError("a variable ends early")


@dataclass(slots=True)
class _Parser:
    """Parse the bytes of one variable."""

    _data: memoryview
    _order: str
    _offset: int  # byte of the variable in the file
    _next: int  # byte of the data
    _damage: FormatError | None = None

    def _wrong(self, reason: str) -> FormatError:
        return self._damage or FormatError(reason, offset=self._offset)

    def _element(self) -> tuple[int, int, int]:
        """Return (type, first byte, length) of the next element, which can exceed the data."""
        if self._next + 8 > len(self._data):
            raise self._wrong("a variable ends early")
        first, second = np.frombuffer(self._data, f"{self._order}u4", 2, self._next).tolist()
        if first >> 16:  # at most four bytes, stored in the tag
            stored, n_bytes, start = first & 0xFFFF, first >> 16, self._next + 4
            if n_bytes > 4:
                raise self._wrong("a small element is too long")
            self._next += 8
        else:
            stored, n_bytes, start = first, second, self._next + 8
            self._next = start + n_bytes + (-n_bytes) % 8
        return stored, start, n_bytes

    def _bytes(self) -> bytes:
        _, start, n_bytes = self._element()
        if start + n_bytes > len(self._data):
            raise self._wrong("a variable ends early")
        return bytes(self._data[start : start + n_bytes])

    def array_head(self) -> tuple[int, tuple[int, ...], str]:
        """Return (class with flags, shape, name)."""
        flags, sides = self._bytes(), self._bytes()
        if len(flags) != 8 or len(sides) % 4 or not 8 <= len(sides) <= 128:
            raise self._wrong("the description of a variable is damaged")
        shape = tuple(np.frombuffer(sides, f"{self._order}i4").tolist())
        if any(side < 0 for side in shape):
            raise self._wrong(f"a variable states the impossible shape {shape}")
        kind = int(np.frombuffer(flags, f"{self._order}u4", 1)[0])
        return kind, shape, self._bytes().decode("latin-1")

    def numbers(self) -> Numbers:
        kind, shape, name = self.array_head()
        if kind & 0xFF not in _NUMERIC or kind & _COMPLEX_FLAG:
            raise self._wrong(f"variable {name!r} must be an array of real numbers")
        stored, start, n_bytes = self._element()
        if stored not in _STORED:
            raise self._wrong(f"variable {name!r} has the unknown storage type {stored}")
        dtype = np.dtype(self._order + _STORED[stored])
        n_values = math.prod(shape)
        if n_values * dtype.itemsize != n_bytes:
            found = counted(n_bytes, "byte")
            raise self._wrong(f"variable {name!r} of shape {shape} states {found}")
        n_there = max(0, min(n_values, (len(self._data) - start) // dtype.itemsize))
        values = np.frombuffer(self._data, dtype, n_there, start) if n_there else np.empty(0, dtype)
        damage = self._wrong("a variable ends early") if n_there < n_values else self._damage
        return Numbers(shape, values, damage)

    def cells(self) -> list[Numbers]:
        """Return the cells that are arrays of numbers; others are empty."""
        _, shape, _ = self.array_head()
        return [self._cell() for _ in range(math.prod(shape))]

    def _cell(self) -> Numbers:
        stored, start, n_bytes = self._element()
        if stored != _MATRIX:
            raise self._wrong("a cell is damaged")
        content = self._data[start : start + n_bytes]
        nothing = Numbers((0, 0), np.empty(0), self._damage)
        if not n_bytes:
            return nothing
        kind = _Parser(content, self._order, self._offset, 0).array_head()[0]
        cell = _Parser(content, self._order, self._offset, 0, self._damage)
        return cell.numbers() if kind & 0xFF in _NUMERIC else nothing

    def struct(self) -> dict[str, Numbers]:
        """Return the fields that are arrays of numbers."""
        self.array_head()
        length, names = self._bytes(), self._bytes()
        n_name = int.from_bytes(length, "little" if self._order == "<" else "big")
        if not 0 < n_name <= 64 or len(names) % n_name:
            raise self._wrong("the names of a struct are damaged")
        fields = {}
        for first in range(0, len(names), n_name):
            name = names[first : first + n_name].partition(b"\0")[0].decode("latin-1")
            stored, start, n_bytes = self._element()
            if stored != _MATRIX:
                raise self._wrong(f"field {name!r} is damaged")
            content = self._data[start : start + n_bytes]
            field = _Parser(content, self._order, self._offset, 0, self._damage)
            kind = _Parser(content, self._order, self._offset, 0).array_head()[0] if n_bytes else 0
            if kind & 0xFF in _NUMERIC:
                fields[name] = field.numbers()
        return fields


@dataclass(slots=True, kw_only=True)
class _MatSource(Source):
    variables: list[_Variable]  # of the events: one matrix or struct, or one per column
    damage: FormatError | None = None  # of the file, after them

    def packets(self) -> Iterator[Packet]:
        contents = {variable.name: load(self.path, variable) for variable in self.variables}
        first = next(iter(contents.values()))
        if isinstance(first, dict):
            yield from _column_packets(first)
        elif len(contents) == 1:
            yield from _matrix_packets(first)
        else:
            columns = {key: item for key, item in contents.items() if isinstance(item, Numbers)}
            yield from _column_packets(columns)
        if self.damage is not None:
            raise self.damage


def _matrix_packets(numbers: Numbers) -> Iterator[Packet]:
    height, width = numbers.shape
    values = numbers.values
    if width == 4 or 4 != height > width:  # one column after the other
        n = min(height, max(0, values.size - 3 * height))
        columns = [values[k * height : k * height + n] for k in range(4)]
    else:
        columns = list(values[: values.size // height * height].reshape(-1, height)[:, :4].T)
    if columns[0].size:
        head = np.stack([column[:PACKET_EVENTS] for column in columns], axis=1)
        order = find_order(head, HEADER_BYTES)
        yield from _packets(dict(zip(order, columns, strict=True)))
    if numbers.damage is not None:
        raise numbers.damage


def _column_packets(contents: dict[str, Numbers]) -> Iterator[Packet]:
    found = find_columns(contents)
    parts = {column: contents[name] for column, name in found.items()}
    lengths = {column: math.prod(part.shape) for column, part in parts.items()}
    if len(set(lengths.values())) > 1:
        raise FormatError(f"the columns must have one length; got {lengths}", offset=HEADER_BYTES)
    n_there = min(part.values.size for part in parts.values())
    yield from _packets({column: part.values[:n_there] for column, part in parts.items()})
    damage = next((part.damage for part in parts.values() if part.damage is not None), None)
    if damage is not None:
        raise damage


def _packets(columns: dict[str, NDArray[Any]]) -> Iterator[Packet]:
    converter = ColumnConverter()
    for part in slices(columns["t"].size, PACKET_EVENTS):
        parts = {name: column[part] for name, column in columns.items()}
        yield from converter.packets(parts, HEADER_BYTES)


class MatReader(Reader):
    """Read MATLAB files."""

    name = "mat"
    title = "MATLAB (.mat)"
    suffixes = (".mat",)
    magic = (b"MATLAB 5.0 MAT-file", b"MATLAB 7.3 MAT-file")

    def open(self, path: Path) -> _MatSource:
        """Find the variables of the events."""
        with path.open("rb") as file:
            if file.read(10) == b"MATLAB 7.3":
                raise FormatError("MATLAB 7.3 files are not read; save it with the option '-v7'")
        found, damage = list_variables(path)
        variables = {variable.name: variable for variable in found}
        try:
            chosen = _choose(variables)
        except FormatError as error:
            raise damage or error from error
        facts: dict[str, Any] = {"variables": sorted(variables)}
        if _is_wide(chosen[0]):
            n_columns = min(chosen[0].shape)
            facts["n_unused_columns"] = n_columns - 4
            text = "%s: `events` has %d columns; the first four are read, the others are left out."
            logger.warning(text, path, n_columns)
        return _MatSource(None, facts, path=path, variables=chosen, damage=damage)


def _is_wide(variable: _Variable) -> bool:
    """Return whether a matrix has more columns than four, and even more rows."""
    if not variable.is_numeric or len(variable.shape) != 2 or 4 in variable.shape:
        return False
    n_columns, n_rows = sorted(variable.shape)
    return 4 < n_columns <= _MAX_COLUMNS and n_columns < n_rows


def _choose(variables: dict[str, _Variable]) -> list[_Variable]:
    """Return the variables of the events: one matrix or struct, or one per column."""
    wholes = {
        name: variable
        for name, variable in variables.items()
        if variable.is_struct
        or (variable.is_numeric and len(variable.shape) == 2 and 4 in variable.shape)
    }
    if "events" in variables and _is_wide(variables["events"]):
        return [variables["events"]]
    if "events" in wholes:
        return [wholes["events"]]
    if len(wholes) == 1:
        return list(wholes.values())
    vectors = [name for name, item in variables.items() if item.is_numeric and 1 in item.shape]
    try:
        return [variables[name] for name in find_columns(vectors).values()]
    except FormatError:
        listing = ", ".join(f"{name} {item.shape}" for name, item in sorted(variables.items()))
        raise FormatError(
            "expected a variable `events` with four or more columns, a struct with x, y, t, p, or variables "
            f"with these names; the file has {listing or 'no variables'}"
        ) from None
