"""Read the container of ROS 1, bag format 2.0: a sequence of records, with messages in chunks.

A bag is read front to back and not through its index, so that the messages of a cut or unclosed
bag can be read. The index at the end shows whether the bag is complete.
"""

import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

from evcrisp.core.errors import FormatError
from evcrisp.core.messages import counted
from evcrisp.io.compression import MAX_UNPACKED, unpack_chunk
from evcrisp.io.protocol import located
from evcrisp.io.ros.bag import Message, Topic

MAGIC = b"#ROSBAG V"
_OPS = range(2, 8)
_MESSAGE, _BAG_HEADER, _INDEX, _CHUNK, _CHUNK_INFO, _CONNECTION = _OPS

_CUT = "the file ends within a chunk"


class _Record(NamedTuple):
    op: int
    fields: dict[str, bytes]
    data: memoryview
    offset: int  # byte of the file, or of the chunk that holds it
    is_cut: bool = False  # a chunk whose end is missing


class RosBag1:
    """A bag file; every pass over its messages opens it again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._size = path.stat().st_size
        with path.open("rb") as file:
            self._read_header(file)
            connections = self._indexed_connections(file)
        if connections is not None and not self._is_confirmed(connections):
            connections = None
        self._connections = connections or {}  # of the index
        if connections is None:
            connections = self._scanned_connections()
        self.topics = sorted(set(connections.values()))

    def places(self, topic: str) -> list[int]:
        """Return the bytes of the chunks with messages of a topic, from the index."""
        found: list[int] = []
        with self.path.open("rb") as file:
            if not self._connections or not self._first <= self._index_offset < self._size:
                return []
            try:
                for record in self._all_records(file, self._index_offset):
                    if record.op == _CHUNK_INFO and len(record.data) % 8:
                        return []
                    if record.op == _CHUNK_INFO and _n_stated(record, self._connections, topic):
                        found.append(_number(record, "chunk_pos", "<Q"))
            except FormatError:
                return []
        return sorted(found) if all(self._first <= at < self._size for at in found) else []

    def messages(self, topic: str, start: int | None = None) -> Iterator[Message]:
        """Yield the messages of a topic in file order, from a chunk on."""
        connections = {} if start is None else dict(self._connections)
        n_found = n_stated = n_chunks = 0
        with self.path.open("rb") as file:
            for record in self._all_records(file, self._first if start is None else start):
                if record.op == _CONNECTION:
                    _add_connection(record, connections)
                elif record.op == _MESSAGE:
                    number = _number(record, "conn", "<I")
                    if number not in connections:
                        reason = f"a message has connection {number}, which is not declared"
                        raise FormatError(reason, offset=record.offset)
                    if connections[number].name == topic:
                        n_found += 1
                        yield Message(record.data, record.offset)
                elif record.op == _CHUNK_INFO:
                    if len(record.data) % 8:
                        raise FormatError("the index of a chunk is damaged", offset=record.offset)
                    n_chunks += 1
                    n_stated += _n_stated(record, connections, topic)
        if start is None:
            self._check_end(n_chunks, n_found, n_stated)

    def _check_end(self, n_chunks: int, n_found: int, n_stated: int) -> None:
        reason = None
        if self._index_offset == 0:
            reason = "the bag was never closed; its end may be missing"
        elif n_chunks != self._n_chunks:
            reason = f"the bag ends early: its index has {n_chunks} of {self._n_chunks} chunks"
        elif n_found != n_stated:
            reason = f"found {counted(n_found, 'message')}, but the index states {n_stated}"
        if reason is not None:
            raise FormatError(reason, offset=self._size)

    def _read_header(self, file: IO[bytes]) -> None:
        line = file.read(16).partition(b"\n")[0]
        version = re.fullmatch(rb"#ROSBAG V(\d+\.\d+)", line)
        if version is None or version[1] != b"2.0":
            raise FormatError(f"expected a bag of format 2.0; it starts with {line!r}")
        record = self._read_record(file, len(line) + 1)
        if record.op != _BAG_HEADER:
            raise FormatError(f"expected the bag's header; got record {record.op}", offset=13)
        self._index_offset = _number(record, "index_pos", "<Q")  # 0: the bag was never closed
        self._n_chunks = _number(record, "chunk_count", "<I")
        self._first = file.tell()

    def _indexed_connections(self, file: IO[bytes]) -> dict[int, Topic] | None:
        """Return the connections of the index, or None if it is incomplete."""
        offset = self._index_offset
        if not self._first <= offset <= self._size:
            return None
        connections: dict[int, Topic] = {}
        try:
            while offset < self._size:
                record = self._read_record(file, offset)
                if record.op != _CONNECTION:
                    break
                connections |= _parse_connection(record)
                offset = file.tell()
        except FormatError:
            return None
        return connections or None

    def _scanned_connections(self) -> dict[int, Topic]:
        """Return the connections up to the first damage."""
        connections: dict[int, Topic] = {}
        with self.path.open("rb") as file:
            try:
                for record in self._all_records(file, self._first):
                    if record.op == _CONNECTION:
                        _add_connection(record, connections)
            except FormatError:
                pass  # reading the messages reports it
        return connections

    def _is_confirmed(self, indexed: dict[int, Topic]) -> bool:
        """Return whether the first chunk declares connections as the index does."""
        seen: dict[int, Topic] = {}
        with self.path.open("rb") as file:
            try:
                for record in self._all_records(file, self._first):
                    if seen and record.offset > self._first:
                        break
                    if record.op == _CONNECTION:
                        _add_connection(record, seen)
            except FormatError:
                pass  # reading the messages reports it
        return all(indexed.get(number) == topic for number, topic in seen.items())

    def _all_records(self, file: IO[bytes], offset: int) -> Iterator[_Record]:
        """Yield all records from a byte on, with the records of chunks in place of the chunks."""
        while offset < self._size:
            record = self._read_record(file, offset)
            offset = file.tell()
            if record.op == _CHUNK:
                yield from _chunk_records(record)
            elif record.op != _INDEX:
                yield record
            if record.is_cut:
                raise FormatError(_CUT, offset=record.offset)

    def _read_record(self, file: IO[bytes], offset: int) -> _Record:
        file.seek(offset)
        size, n_there = self._block_size(file)
        if size > n_there:
            raise FormatError("the file ends within the header of a record", offset=offset)
        fields = _parse_fields(memoryview(file.read(size)), offset)
        op = _op(fields, offset)
        size, n_there = self._block_size(file)
        is_cut = size > n_there
        if is_cut and (op != _CHUNK or fields.get("compression") != b"none"):
            raise FormatError("the file ends within a record", offset=offset)
        return _Record(op, fields, memoryview(file.read(min(size, n_there))), offset, is_cut)

    def _block_size(self, file: IO[bytes]) -> tuple[int, int]:
        """Return the stated length of a block, and the number of bytes up to the end."""
        offset = file.tell()
        prefix = file.read(4)
        size = int.from_bytes(prefix, "little")
        if len(prefix) < 4:
            raise FormatError("the file ends within a record", offset=offset)
        if size > MAX_UNPACKED:
            raise FormatError(f"a record states a size of {counted(size, 'byte')}", offset=offset)
        return size, self._size - offset - 4


def _n_stated(chunk_info: _Record, connections: dict[int, Topic], topic: str) -> int:
    """Return the number of messages of a topic that the index states for a chunk."""
    return sum(
        int(count)
        for number, count in struct.iter_unpack("<II", chunk_info.data)
        if number in connections and connections[number].name == topic
    )


def _chunk_records(chunk: _Record) -> Iterator[_Record]:
    data = memoryview(_unpacked(chunk))
    problem = _CUT if chunk.is_cut else "a record reaches beyond its chunk"
    position = 0
    while position < len(data):
        header, position = _take_block(data, position, chunk.offset, problem)
        fields = _parse_fields(header, chunk.offset)
        content, position = _take_block(data, position, chunk.offset, problem)
        yield _Record(_op(fields, chunk.offset), fields, content, chunk.offset)


def _take_block(
    data: memoryview, position: int, offset: int, problem: str
) -> tuple[memoryview, int]:
    start = position + 4
    end = start + int.from_bytes(data[position:start], "little")
    if start > len(data) or end > len(data):
        raise FormatError(problem, offset=offset)
    return data[start:end], end


def _unpacked(chunk: _Record) -> bytes | memoryview:
    if chunk.is_cut:
        return chunk.data
    kind = chunk.fields.get("compression", b"").decode("latin-1")
    if kind not in ("none", "bz2", "lz4"):
        reason = f"a chunk has compression {kind!r}; expected none, bz2 or lz4"
        raise FormatError(reason, offset=chunk.offset)
    size = _number(chunk, "size", "<I")
    with located(chunk.offset):
        return unpack_chunk(kind, chunk.data, size)


def _parse_fields(header: memoryview, offset: int) -> dict[str, bytes]:
    fields = {}
    position = 0
    while position < len(header):
        field, position = _take_block(header, position, offset, "a record's header is damaged")
        name, separator, value = bytes(field).partition(b"=")
        if not separator:
            raise FormatError("a record's header has a field without a value", offset=offset)
        fields[name.decode("latin-1")] = value
    return fields


def _op(fields: dict[str, bytes], offset: int) -> int:
    op = fields.get("op", b"")
    if len(op) != 1 or op[0] not in _OPS:
        raise FormatError(f"a record has the unknown kind {op!r}", offset=offset)
    return op[0]


def _number(record: _Record, name: str, code: str) -> int:
    value = record.fields.get(name, b"")
    if len(value) != struct.calcsize(code):
        raise FormatError(f"a record has no number {name!r}", offset=record.offset)
    return int(struct.unpack(code, value)[0])


def _add_connection(record: _Record, connections: dict[int, Topic]) -> None:
    """Add a connection, or raise if it is known as another one."""
    for number, topic in _parse_connection(record).items():
        if connections.setdefault(number, topic) != topic:
            reason = f"the bag declares connection {number} twice, as different topics"
            raise FormatError(reason, offset=record.offset)


def _parse_connection(record: _Record) -> dict[int, Topic]:
    about = _parse_fields(record.data, record.offset)
    topic = record.fields.get("topic", b"").decode("utf-8", "replace")
    kind = about.get("type", b"").decode("utf-8", "replace")
    return {_number(record, "conn", "<I"): Topic(topic, kind, "ros1")}
