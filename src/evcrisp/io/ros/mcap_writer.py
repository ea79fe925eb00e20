"""Write MCAP: chunks with an index of their messages, and a summary at the end."""

import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from evcrisp.io.compression import Codec
from evcrisp.io.ros import container, mcap
from evcrisp.io.ros.container import MessageCounts, OutputTopic

_HEADER, _FOOTER, _SCHEMA, _CHANNEL, _MESSAGE, _CHUNK, _MESSAGE_INDEX, _CHUNK_INDEX = range(1, 9)
_STATISTICS, _SUMMARY_OFFSET, _DATA_END = 0x0B, 0x0E, 0x0F


def _record(op: int, data: bytes) -> bytes:
    return struct.pack("<BQ", op, len(data)) + data


def _text(value: str) -> bytes:
    return _sized(value.encode())


def _sized(data: bytes) -> bytes:
    return struct.pack("<I", len(data)) + data


def _pairs(code: str, pairs: Iterable[tuple[int, int]]) -> bytes:
    """Return a map or an array of pairs, after its size in bytes."""
    return _sized(b"".join(struct.pack(code, *pair) for pair in pairs))


@dataclass(slots=True)
class _Chunk:
    records: bytearray = field(default_factory=bytearray)
    index: dict[int, list[tuple[int, int]]] = field(default_factory=dict)  # by channel
    counts: MessageCounts = field(default_factory=MessageCounts)


class McapFile:
    """An MCAP file for messages in CDR."""

    def __init__(self, path: Path, compression: str, codec: Codec) -> None:
        self._compression, self._codec = compression, codec
        self._counts = MessageCounts()
        self._channels: dict[OutputTopic, int] = {}
        self._chunk_indexes: list[bytes] = []
        self._chunk = _Chunk()
        self._position = self._checksum = 0
        self._file: IO[bytes] = path.open("wb")
        self._append(mcap.MAGIC + _record(_HEADER, _text("ros2") + _text("evcrisp")))

    def write(self, topic: OutputTopic, t: int, data: bytes) -> None:
        """Append a message; ``t`` in ns."""
        chunk = self._chunk
        if topic not in self._channels:
            self._channels[topic] = len(self._channels) + 1
            chunk.records += self._description(topic)
        number = self._channels[topic]
        chunk.index.setdefault(number, []).append((t, len(chunk.records)))
        sequence = self._counts.by_topic.get(topic, 0) & 0xFFFF_FFFF
        chunk.records += _record(_MESSAGE, struct.pack("<HIQQ", number, sequence, t, t) + data)
        chunk.counts.add(topic, t)
        self._counts.add(topic, t)
        if len(chunk.records) >= container.CHUNK_BYTES:
            self._end_chunk()

    def finish(self) -> None:
        """Write the last chunk and the summary, and close the file."""
        try:
            self._end_chunk()
            self._append(_record(_DATA_END, struct.pack("<I", self._checksum)))
            self._write_summary()
        finally:
            self._file.close()

    def abort(self) -> None:
        """Close the file."""
        self._file.close()

    def _append(self, data: bytes) -> None:
        self._file.write(data)
        self._position += len(data)
        self._checksum = zlib.crc32(data, self._checksum)

    def _description(self, topic: OutputTopic) -> bytes:
        """Return the records of the schema and the channel of a topic."""
        number = self._channels[topic]
        definition = topic.type.definition(is_ros2=True)
        schema = _text(topic.type.ros2_name) + _text("ros2msg") + _text(definition)
        quality = _sized(_text("offered_qos_profiles") + _text(""))
        channel = _text(topic.name) + _text("cdr") + quality
        return _record(_SCHEMA, struct.pack("<H", number) + schema) + _record(
            _CHANNEL, struct.pack("<HH", number, number) + channel
        )

    def _end_chunk(self) -> None:
        """Write the chunk and the index of its messages."""
        chunk, self._chunk = self._chunk, _Chunk()
        if not chunk.records:
            return
        start, span = self._position, chunk.counts.span
        packed = bytes(self._codec.encode(memoryview(chunk.records)))
        sizes = struct.pack("<QI", len(chunk.records), zlib.crc32(chunk.records))
        kind = _text(self._compression)
        content = struct.pack("<QQ", *span) + sizes + kind + struct.pack("<Q", len(packed)) + packed
        self._append(_record(_CHUNK, content))
        end = self._position
        offsets = []
        for number, entries in chunk.index.items():
            offsets.append((number, self._position))
            entries = struct.pack("<H", number) + _pairs("<QQ", entries)
            self._append(_record(_MESSAGE_INDEX, entries))
        places = struct.pack("<QQQQ", *span, start, end - start) + _pairs("<HQ", offsets)
        places += struct.pack("<Q", self._position - end) + kind
        places += struct.pack("<QQ", len(packed), len(chunk.records))
        self._chunk_indexes.append(_record(_CHUNK_INDEX, places))

    def _write_summary(self) -> None:
        """Write the descriptions, statistics and chunk indexes, and where each group starts."""
        start, self._checksum = self._position, 0
        groups = []
        for op, records in self._summary_groups().items():
            if records:
                groups.append(struct.pack("<BQQ", op, self._position, len(records)))
                self._append(records)
        offsets_start = self._position
        self._append(b"".join(_record(_SUMMARY_OFFSET, group) for group in groups))
        self._append(struct.pack("<BQQQ", _FOOTER, 20, start, offsets_start))
        self._append(struct.pack("<I", self._checksum) + mcap.MAGIC)

    def _summary_groups(self) -> dict[int, bytes]:
        descriptions = [self._description(topic) for topic in self._channels]
        sizes = [9 + int.from_bytes(record[1:9], "little") for record in descriptions]
        both = list(zip(descriptions, sizes, strict=True))
        return {
            _SCHEMA: b"".join(record[:size] for record, size in both),
            _CHANNEL: b"".join(record[size:] for record, size in both),
            _STATISTICS: _record(_STATISTICS, self._statistics()),
            _CHUNK_INDEX: b"".join(self._chunk_indexes),
        }

    def _statistics(self) -> bytes:
        counts, n_topics = self._counts, len(self._channels)
        numbers = (counts.n_messages, n_topics, n_topics, 0, 0, len(self._chunk_indexes))
        by_channel = [(self._channels[topic], n) for topic, n in counts.by_topic.items()]
        return struct.pack("<QHIIIIQQ", *numbers, *counts.span) + _pairs("<HQ", by_channel)
