"""Write bags of ROS 1, format 2.0: chunks with an index of their messages, and of all chunks."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from evcrisp.io.compression import Codec
from evcrisp.io.ros import container, rosbag1
from evcrisp.io.ros.container import MessageCounts, OutputTopic

_MESSAGE, _BAG_HEADER, _INDEX, _CHUNK, _CHUNK_INFO, _CONNECTION = range(2, 8)
_FIRST_LINE = rosbag1.MAGIC + b"2.0\n"
#: Size of the record of the bag's header, bytes; it is filled with blanks.
_HEADER_BYTES = 4096
_NS = 1_000_000_000


def _fields(values: Mapping[str, bytes]) -> bytes:
    """Return the fields of a header, each after its size."""
    parts = (name.encode() + b"=" + value for name, value in values.items())
    return b"".join(struct.pack("<I", len(part)) + part for part in parts)


def _record(op: int, values: Mapping[str, bytes], data: bytes) -> bytes:
    header = _fields({"op": bytes([op]), **values})
    return struct.pack("<I", len(header)) + header + struct.pack("<I", len(data)) + data


def _u4(value: int) -> bytes:
    return struct.pack("<I", value)


def _time(t: int) -> bytes:
    return struct.pack("<II", *divmod(t, _NS))


@dataclass(slots=True)
class _Chunk:
    records: bytearray = field(default_factory=bytearray)
    index: dict[OutputTopic, list[bytes]] = field(default_factory=dict)
    counts: MessageCounts = field(default_factory=MessageCounts)


class RosBag1File:
    """A bag file of ROS 1."""

    def __init__(self, path: Path, compression: str, codec: Codec) -> None:
        self._compression, self._codec = compression, codec
        self._connections: dict[OutputTopic, int] = {}
        self._chunk_infos: list[bytes] = []
        self._chunk = _Chunk()
        self._file: IO[bytes] = path.open("wb")
        self._position = self._write_start(0)

    def write(self, topic: OutputTopic, t: int, data: bytes) -> None:
        """Append a message; ``t`` in ns."""
        chunk = self._chunk
        if topic not in self._connections:
            self._connections[topic] = len(self._connections)
            chunk.records += self._connection(topic)
        offset = len(chunk.records)
        chunk.index.setdefault(topic, []).append(_time(t) + _u4(offset))
        number = _u4(self._connections[topic])
        chunk.records += _record(_MESSAGE, {"conn": number, "time": _time(t)}, data)
        chunk.counts.add(topic, t)
        if len(chunk.records) >= container.CHUNK_BYTES:
            self._end_chunk()

    def finish(self) -> None:
        """Write the last chunk, the index and the final header, and close the file."""
        try:
            self._end_chunk()
            index_start = self._position
            for topic in self._connections:
                self._append(self._connection(topic))
            for info in self._chunk_infos:
                self._append(info)
            self._file.seek(0)
            self._write_start(index_start)
        finally:
            self._file.close()

    def abort(self) -> None:
        """Close the file."""
        self._file.close()

    def _append(self, data: bytes) -> None:
        self._file.write(data)
        self._position += len(data)

    def _write_start(self, index_start: int) -> int:
        """Write the first line and the header, which have a constant size; return it."""
        values = {
            "index_pos": struct.pack("<Q", index_start),
            "conn_count": _u4(len(self._connections)),
            "chunk_count": _u4(len(self._chunk_infos)),
        }
        n_blanks = _HEADER_BYTES - len(_record(_BAG_HEADER, values, b""))
        return self._file.write(_FIRST_LINE + _record(_BAG_HEADER, values, b" " * n_blanks))

    def _connection(self, topic: OutputTopic) -> bytes:
        values = {"conn": _u4(self._connections[topic]), "topic": topic.name.encode()}
        about = {
            "topic": topic.name.encode(),
            "type": topic.type.ros1_name.encode(),
            "md5sum": topic.type.md5.encode(),
            "message_definition": topic.type.definition(is_ros2=False).encode(),
        }
        return _record(_CONNECTION, values, _fields(about))

    def _end_chunk(self) -> None:
        """Write the chunk and the index of its messages."""
        chunk, self._chunk = self._chunk, _Chunk()
        if not chunk.records:
            return
        start = self._position
        packed = bytes(self._codec.encode(memoryview(chunk.records)))
        about = {"compression": self._compression.encode(), "size": _u4(len(chunk.records))}
        self._append(_record(_CHUNK, about, packed))
        version, counts = _u4(1), b""
        for topic, entries in chunk.index.items():
            number, count = _u4(self._connections[topic]), _u4(len(entries))
            about = {"ver": version, "conn": number, "count": count}
            self._append(_record(_INDEX, about, b"".join(entries)))
            counts += number + count
        first, last = map(_time, chunk.counts.span)
        info = {"ver": version, "chunk_pos": struct.pack("<Q", start)}
        info |= {"start_time": first, "end_time": last, "count": _u4(len(chunk.index))}
        self._chunk_infos.append(_record(_CHUNK_INFO, info, counts))
