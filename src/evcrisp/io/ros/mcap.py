"""Read MCAP, the usual container of ROS 2: a sequence of records, with messages in chunks.

A file is read front to back, so that the messages of a cut file can be read. Checksums of chunks
and the statistics at the end are checked if the file has them.
"""

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

from evcrisp.core.errors import FormatError
from evcrisp.core.messages import counted
from evcrisp.io.compression import MAX_UNPACKED, unpack_chunk
from evcrisp.io.protocol import located
from evcrisp.io.ros.bag import Message, Topic, short_type

MAGIC = b"\x89MCAP0\r\n"
_FOOTER, _SCHEMA, _CHANNEL, _MESSAGE, _CHUNK, _STATISTICS = 0x02, 0x03, 0x04, 0x05, 0x06, 0x0B
_CHUNK_INDEX = 0x08
_READ = (_FOOTER, _SCHEMA, _CHANNEL, _MESSAGE, _CHUNK, _CHUNK_INDEX, _STATISTICS)
_FOOTER_SIZE = 9 + 20 + len(MAGIC)
_MESSAGE_HEADER = 22  # channel, sequence, two times

_CUT = "the file ends within a chunk"


class _Record(NamedTuple):
    op: int
    data: memoryview
    offset: int  # byte of the file, or of the chunk that holds it
    is_cut: bool = False  # a chunk whose end is missing


class Mcap:
    """An MCAP file; every pass over its messages opens it again."""

    def __init__(self, path: Path, *, is_checked: bool = False) -> None:
        self.path = path
        self._size = path.stat().st_size
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise FormatError("the file does not start with the magic bytes of MCAP")
            self._channels = self._summarized_channels(file) or {}
            if not self._channels or not (is_checked or self._is_confirmed(file)):
                self._channels = self._collected(file, len(MAGIC))
        self.topics = sorted(set(self._channels.values()))

    def places(self, topic: str) -> list[int]:
        """Return the bytes of the chunks with messages of a topic, from the summary."""
        numbers = {number for number, known in self._channels.items() if known.name == topic}
        found: list[int] = []
        with self.path.open("rb") as file:
            start = self._summary_start(file)
            try:
                for record in self._all_records(file, start) if start else ():
                    if record.op == _CHUNK_INDEX and _has_channel(record, numbers):
                        found.append(_unpack("<QQQ", record)[2])
            except FormatError:
                return []
        return sorted(found) if all(len(MAGIC) <= at < self._size for at in found) else []

    def messages(self, topic: str, start: int | None = None) -> Iterator[Message]:
        """Yield the messages of a topic in file order, from a chunk on."""
        directory = _Directory({} if start is None else self._channels)
        n_found = 0
        n_stated: int | None = None
        with self.path.open("rb") as file:
            for record in self._all_records(file, len(MAGIC) if start is None else start):
                directory.add(record)
                if record.op == _MESSAGE:
                    if directory.topic_of(record).name == topic:
                        n_found += 1
                        yield Message(record.data[_MESSAGE_HEADER:], record.offset)
                elif record.op == _STATISTICS and start is None:
                    n_stated = directory.n_stated(record, topic)
        if n_stated is not None and n_found != n_stated:
            reason = f"found {counted(n_found, 'message')}, but the statistics state {n_stated}"
            raise FormatError(reason, offset=self._size)

    def _summarized_channels(self, file: IO[bytes]) -> dict[int, Topic] | None:
        """Return the channels of the summary, or None if it is missing or incomplete."""
        start = self._summary_start(file)
        return None if start is None else self._collected(file, start)

    def _summary_start(self, file: IO[bytes]) -> int | None:
        """Return the byte of the summary, or None if there is none."""
        if self._size < len(MAGIC) + _FOOTER_SIZE:
            return None
        file.seek(self._size - _FOOTER_SIZE)
        footer = file.read(_FOOTER_SIZE)
        start = int.from_bytes(footer[9:17], "little")
        is_there = footer.endswith(MAGIC) and len(MAGIC) <= start < self._size
        return start if is_there else None

    def _collected(self, file: IO[bytes], start: int) -> dict[int, Topic]:
        """Return the channels up to the end or to the first damage."""
        directory = _Directory()
        try:
            for record in self._all_records(file, start):
                directory.add(record)
        except FormatError:
            pass  # reading the messages reports it
        return directory.channels

    def _is_confirmed(self, file: IO[bytes]) -> bool:
        """Return whether the channels before the first message are those of the summary."""
        directory = _Directory()
        try:
            for record in self._all_records(file, len(MAGIC)):
                if directory.channels and record.op == _MESSAGE:
                    break
                directory.add(record)
        except FormatError:
            pass  # reading the messages reports it
        return all(self._channels.get(n) == topic for n, topic in directory.channels.items())

    def _all_records(self, file: IO[bytes], start: int) -> Iterator[_Record]:
        """Yield all records of the file, with the records of chunks in place of the chunks."""
        offset = start
        op = 0
        while op != _FOOTER:
            record, size = self._read_record(file, offset)
            op = record.op
            if op == _CHUNK:
                yield from _chunk_records(record)
            elif op in _READ:
                yield record
            if record.is_cut:
                raise FormatError(_CUT, offset=offset)
            offset += 9 + size
        file.seek(offset)
        if file.read(len(MAGIC)) != MAGIC:
            raise FormatError("the file does not end with the magic bytes of MCAP", offset=offset)

    def _read_record(self, file: IO[bytes], offset: int) -> tuple[_Record, int]:
        """Return a record and its size; the data of unused records is not read."""
        file.seek(offset)
        prefix = file.read(9)
        n_there = self._size - offset - 9
        if len(prefix) < 9:
            raise FormatError("the file ends before its end mark", offset=offset)
        op, size = prefix[0], int.from_bytes(prefix[1:], "little")
        is_cut = size > n_there
        if op == 0 or (is_cut and op != _CHUNK):
            raise FormatError(f"the file ends within a record (kind {op})", offset=offset)
        if op not in _READ:
            return _Record(op, memoryview(b""), offset), size
        if size > MAX_UNPACKED:
            raise FormatError(f"a record states a size of {counted(size, 'byte')}", offset=offset)
        return _Record(op, memoryview(file.read(min(size, n_there))), offset, is_cut), size


class _Directory:
    """The schemas and channels found so far."""

    def __init__(self, channels: dict[int, Topic] | None = None) -> None:
        self._schemas: dict[int, str] = {}
        self.channels = dict(channels or {})

    def add(self, record: _Record) -> None:
        if record.op == _SCHEMA:
            (number,) = _unpack("<H", record)
            self._schemas.setdefault(number, _text(record, 2)[0])
        elif record.op == _CHANNEL:
            number, schema = _unpack("<HH", record)
            name, position = _text(record, 4)
            kind = short_type(self._schemas.get(schema, ""))
            topic = Topic(name, kind, _text(record, position)[0])
            if self.channels.setdefault(number, topic) != topic:
                reason = f"the file declares channel {number} twice, as different topics"
                raise FormatError(reason, offset=record.offset)

    def topic_of(self, message: _Record) -> Topic:
        number = _unpack("<HIQQ", message)[0]
        if number not in self.channels:
            reason = f"a message has channel {number}, which is not declared"
            raise FormatError(reason, offset=message.offset)
        return self.channels[number]

    def n_stated(self, statistics: _Record, topic: str) -> int | None:
        """Return the number of messages of a topic in the statistics, or None if missing."""
        size = _unpack("<QHIIIIQQI", statistics)[-1]
        counts = statistics.data[46 : 46 + size]
        if len(counts) != size or size % 10:
            raise FormatError("the statistics are damaged", offset=statistics.offset)
        if size == 0:
            return None
        return sum(
            int(count)
            for number, count in struct.iter_unpack("<HQ", counts)
            if number in self.channels and self.channels[number].name == topic
        )


def _has_channel(chunk_index: _Record, numbers: set[int]) -> bool:
    """Return whether a chunk has messages of some channels; True if its index does not tell."""
    (size,) = _unpack("<I", chunk_index, 32)
    entries = chunk_index.data[36 : 36 + size]
    if not size or len(entries) % 10:
        return True
    return any(number in numbers for number, _ in struct.iter_unpack("<HQ", entries))


def _chunk_records(chunk: _Record) -> Iterator[_Record]:
    data = _unpacked(chunk)
    position = 0
    while position < len(data):
        start = position + 9
        end = start + int.from_bytes(data[position + 1 : start], "little")
        if start > len(data) or end > len(data):
            problem = _CUT if chunk.is_cut else "a record reaches beyond its chunk"
            raise FormatError(problem, offset=chunk.offset)
        yield _Record(data[position], data[start:end], chunk.offset)
        position = end


def _unpacked(chunk: _Record) -> memoryview:
    _, _, size, checksum = _unpack("<QQQI", chunk)
    kind, position = _text(chunk, 28)
    (packed_size,) = _unpack("<Q", chunk, position)
    packed = chunk.data[position + 8 : position + 8 + packed_size]
    if chunk.is_cut and kind == "":
        return packed
    if kind not in ("", "lz4", "zstd") or len(packed) != packed_size:
        reason = f"a chunk of {counted(packed_size, 'byte')} with compression {kind!r} is damaged"
        raise FormatError(reason, offset=chunk.offset)
    with located(chunk.offset):
        data = unpack_chunk(kind, packed, size)
    if checksum and zlib.crc32(data) != checksum:
        raise FormatError("the checksum of a chunk is wrong", offset=chunk.offset)
    return data


def _unpack(code: str, record: _Record, position: int = 0) -> tuple[int, ...]:
    try:
        return struct.unpack_from(code, record.data, position)
    except struct.error as error:
        raise FormatError("a record is too short", offset=record.offset) from error


def _text(record: _Record, position: int) -> tuple[str, int]:
    """Return a string and the position after it."""
    (size,) = _unpack("<I", record, position)
    start, end = position + 4, position + 4 + size
    if end > len(record.data):
        raise FormatError("a record is too short", offset=record.offset)
    return bytes(record.data[start:end]).decode("utf-8", "replace"), end
