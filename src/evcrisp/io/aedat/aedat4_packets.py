"""Read an AEDAT4 file: header with the streams, packets in order, and the data table at the end.

A file has a magic line, an IOHeader with XML, and packets. A packet is a stream id, a size (two
int32) and that many bytes. Packets are found without the data table, which is missing if the
recorder was killed, and whose position can be damaged.
"""

import struct
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import IO
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import FormatError
from evcrisp.core.messages import counted
from evcrisp.io.aedat import flatbuffers
from evcrisp.io.compression import Codec, Expansion, Lz4Frame, Stored, Zstd
from evcrisp.io.protocol import located

MAGIC = b"#!AER-DAT4.0\r\n"
HEADER_AT = len(MAGIC) + 4  # after the magic line and the size of the IOHeader
EVENTS, FRAMES, IMU, TRIGGERS = "EVTS", "FRME", "IMUS", "TRIG"

#: Limit of a header, bytes; real ones have a few kB.
_MAX_HEADER_BYTES = 1 << 24
_MAX_SIDE_PX = 65_536
_COMPRESSIONS: dict[int, tuple[str, type[Codec]]] = {
    0: ("NONE", Stored),
    1: ("LZ4", Lz4Frame),
    2: ("LZ4_HIGH", Lz4Frame),
    3: ("ZSTD", Zstd),
    4: ("ZSTD_HIGH", Zstd),
}


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream declared by the XML."""

    id: int
    kind: str  # "EVTS", "FRME", "IMUS", "TRIG", ...
    name: str  # "events"
    source: str  # name of the camera
    resolution: tuple[int, int] | None  # (width, height), px


@dataclass(frozen=True, slots=True)
class Header:
    """Content of the start of a file."""

    compression: str
    codec: Codec
    table_position: int  # byte of the data table, -1 if there is none
    first_packet: int  # byte of the first packet
    streams: tuple[Stream, ...]
    event_stream: int | None = None  # id of the chosen one; None for the first

    def of_kind(self, kind: str) -> list[Stream]:
        """Return the streams of a kind."""
        return [stream for stream in self.streams if stream.kind == kind]

    def chosen(self, kind: str) -> Stream | None:
        """Return the chosen stream of events, or the first stream of the same camera."""
        fitting, all_events = self.of_kind(kind), self.of_kind(EVENTS)
        events = [s for s in all_events if self.event_stream in (None, s.id)][:1]
        if kind == EVENTS:
            fitting = events
        elif len(all_events) > 1:  # several cameras
            fitting = [stream for stream in fitting if stream.source == events[0].source]
        return fitting[0] if fitting else None


def read_header(file: IO[bytes], file_size: int) -> Header:
    """Read the file up to the first packet."""
    head = file.read(HEADER_AT)
    if len(head) < HEADER_AT or not head.startswith(MAGIC):
        raise FormatError(f"expected the file to start with {MAGIC.decode().strip()!r}")
    size = struct.unpack_from("<I", head, len(MAGIC))[0]
    if size > min(_MAX_HEADER_BYTES, file_size - HEADER_AT):
        reason = f"the header states {counted(size, 'byte')}; the file has {file_size - HEADER_AT}"
        raise FormatError(reason, offset=len(MAGIC))
    return parse_io_header(file.read(size), HEADER_AT + size)


def parse_io_header(data: bytes, first_packet: int) -> Header:
    """Return the content of an IOHeader; packets start at byte ``first_packet``."""
    try:
        table = flatbuffers.root(data, b"IOHE")
        compression = table.scalar(0, "i", 0)
        table_position = table.scalar(1, "q", -1)
        xml = table.string(2)
    except FormatError as error:
        raise FormatError(f"header: {error.reason}", offset=HEADER_AT) from error
    if compression not in _COMPRESSIONS:
        raise FormatError(f"unknown compression code {compression}", offset=HEADER_AT)
    name, codec = _COMPRESSIONS[compression]
    return Header(name, codec(), table_position, first_packet, _parse_streams(xml))


def _parse_streams(xml: bytes) -> tuple[Stream, ...]:
    # Entities can expand without bound; no writer of this format uses them.
    if b"<!" in xml:
        raise FormatError("header: the XML has declarations, which are not read", offset=HEADER_AT)
    try:
        document = ElementTree.fromstring(xml.decode("utf-8"))
    except (ElementTree.ParseError, ValueError) as error:
        raise FormatError(f"header: the XML is malformed ({error})", offset=HEADER_AT) from error
    streams = tuple(
        _parse_stream(node)
        for output in document.iter("node")
        if output.get("name") == "outInfo"
        for node in output.findall("node")
    )
    ids = [stream.id for stream in streams]
    if len(set(ids)) < len(ids):
        raise FormatError(f"header: stream ids occur twice: {ids}", offset=HEADER_AT)
    return streams


def _parse_stream(node: ElementTree.Element) -> Stream:
    attributes = _attributes(node)
    info = node.find("node[@name='info']")
    facts = {} if info is None else _attributes(info)
    resolution = None
    if "sizeX" in facts or "sizeY" in facts:
        width, height = _number(facts.get("sizeX")), _number(facts.get("sizeY"))
        if not (0 < width <= _MAX_SIDE_PX and 0 < height <= _MAX_SIDE_PX):
            size = f"{facts.get('sizeX')!r} x {facts.get('sizeY')!r}"
            raise FormatError(f"header: impossible sensor size {size}", offset=HEADER_AT)
        resolution = (width, height)
    number = _number(node.get("name"))
    if number < 0:
        reason = f"header: a stream id must be a whole number; found {node.get('name')!r}"
        raise FormatError(reason, offset=HEADER_AT)
    kind, name = (attributes.get(key, "") for key in ("typeIdentifier", "originalOutputName"))
    return Stream(number, kind, name, facts.get("source", ""), resolution)


def _attributes(node: ElementTree.Element) -> dict[str, str]:
    return {item.get("key", ""): item.text or "" for item in node.findall("attr")}


def _number(text: str | None) -> int:
    """Return a whole number of at most nine digits, or -1."""
    return int(text) if text is not None and text.isdecimal() and len(text) < 10 else -1


PACKET_HEADER = struct.Struct("<ii")
TABLE_IDENTIFIER = b"FTAB"
BUFFER_BYTES = 1 << 17

#: Limit of a data table (some 150 000 packets), because it is read when a file is opened.
_MAX_TABLE_BYTES = 1 << 22
#: Limit of elements; a FlatBuffer has less space.
_MAX_PACKET_ELEMENTS = 1 << 31

RECORD_BYTES = 16
#: Bytes 4 to 28 of every packet of events that DV writes: one table with one vector of records.
#: Comparing them saves half of the time that a small packet takes in Python.
PLAIN_EVENTS = struct.pack("<I4s2x3HiI", 16, EVENTS.encode(), 6, 8, 4, 6, 4)
#: Byte of the first record in such a packet.
PLAIN_RECORDS_AT = 32


def walk(
    file: IO[bytes], header: Header, file_size: int, wanted: int
) -> Iterator[tuple[int, bytes]]:
    """Yield (byte, decompressed data) of each packet of one stream; iterations can alternate."""
    known = {stream.id for stream in header.streams}
    read, seek, unpack = file.read, file.seek, PACKET_HEADER.unpack
    decode = _decoder(header, wanted)
    at = header.first_packet
    while at < file_size:
        seek(at)
        head = read(8)
        if len(head) < 8:
            if at == header.table_position:
                return
            raise FormatError("the file ends within the header of a packet", offset=at)
        stream, size = unpack(head)
        left = file_size - at - 8
        if stream not in known or not 0 <= size <= left:
            if at == header.table_position or _is_table(file, header, at, left):
                return
            raise FormatError(_problem(stream, size, left, known), offset=at)
        if stream == wanted:
            with located(at):
                data = decode(read(size))
            yield at, data
        at += 8 + size


def _decoder(header: Header, stream: int) -> Callable[[bytes], bytes]:
    """Return the decompression of a stream; what is gathered in memory does not expand far.

    Frames are delivered one by one, and black ones become very small.
    """
    decode = header.codec.decoder()
    if any(known.id == stream and known.kind == FRAMES for known in header.streams):
        return decode
    return Expansion().limited(decode)


def walk_listed(
    file: IO[bytes], header: Header, packets: "PacketList"
) -> Iterator[tuple[int, bytes]]:
    """Yield (byte, decompressed data) of packets of the data table."""
    streams = set(packets.stream.tolist())
    decode, n_head = _decoder(header, min(streams, default=-1)), PACKET_HEADER.size
    rows = (packets.stream, packets.position, packets.size)
    for stream, position, size in zip(*(row.tolist() for row in rows), strict=True):
        at = position - n_head
        file.seek(at)
        head = file.read(n_head)
        if len(head) < n_head or PACKET_HEADER.unpack(head) != (stream, size):
            reason = f"a packet of stream {stream} with {counted(size, 'byte')} is not where"
            raise FormatError(f"{reason} the data table states it", offset=at)
        with located(at):
            data = decode(file.read(size))
        yield at, data


def _problem(stream: int, size: int, left: int, known: Collection[int]) -> str:
    if stream not in known:
        return f"a packet belongs to stream {stream}; the header declares {sorted(known)}"
    if size < 0:
        return f"a packet has the negative size {size}"
    return f"a packet declares {counted(size, 'byte')} but the file ends after {left}"


def _is_table(file: IO[bytes], header: Header, at: int, left: int) -> bool:
    """Return whether the data table starts here, although the header states another byte."""
    if left > _MAX_TABLE_BYTES:
        return False
    file.seek(at)
    try:
        flatbuffers.prefixed_root(header.codec.decoder()(file.read()), TABLE_IDENTIFIER)
    except FormatError:
        return False
    return True


@dataclass(frozen=True, slots=True, eq=False)
class PacketList:
    """All packets of a file, as listed by the data table."""

    stream: NDArray[np.int64]  # (n,)
    position: NDArray[np.int64]  # (n,) byte of the content, after the packet's header
    size: NDArray[np.int64]  # (n,) bytes
    n_elements: NDArray[np.int64]  # (n,)
    t_first: NDArray[np.int64]  # (n,) us
    t_last: NDArray[np.int64]  # (n,) us

    def between(self, stream: int, t_start: int, t_end: int | None) -> "PacketList":
        """Return the packets of a stream with data in a span of time, and the one before them.

        All packets of the stream, if their times are missing or not in order.
        """
        index = np.flatnonzero((self.stream == stream) & (self.n_elements > 0))
        first, last = self.t_first[index], self.t_last[index]
        if (first <= last).all() and (first[1:] >= last[:-1]).all():
            # Searched by Python's integers, which may exceed those of the file.
            low = max(bisect_left(last.tolist(), t_start) - 1, 0)
            high = index.size if t_end is None else bisect_left(first.tolist(), t_end)
            index = index[low : max(high, low + 1)]
        return self.part(index)

    def part(self, index: slice | NDArray[np.intp]) -> "PacketList":
        """Return some of the packets."""
        return PacketList(*(getattr(self, name)[index] for name in PacketList.__slots__))

    def counts(self, stream: int) -> NDArray[np.int64]:
        """Return the number of elements of one stream in each packet."""
        return np.where(self.stream == stream, self.n_elements, 0)


def read_table(file: IO[bytes], header: Header, file_size: int) -> PacketList | None:
    """Return the packets of the data table, or None if it is missing or wrong."""
    at = header.table_position
    if not header.first_packet <= at < file_size or file_size - at > _MAX_TABLE_BYTES:
        return None
    file.seek(at)
    try:
        data = header.codec.decoder()(file.read())
        table = flatbuffers.prefixed_root(data, TABLE_IDENTIFIER)
        rows = flatbuffers.Tables(data, table.tables(0))
        position, _ = rows.column(0, "<i8")
        packet, _ = rows.column(1, "<i8")
        n_elements, t_first, t_last = (rows.column(field, "<i8")[0] for field in (2, 3, 4))
    except FormatError:
        return None
    stream, size = packet.view("<i4").reshape(-1, 2).T.astype(np.int64)
    # A good table lists all packets without a gap, from the first one up to the table.
    starts = np.append(header.first_packet, position + size) + PACKET_HEADER.size
    is_complete = np.array_equal(starts[:-1], position) and starts[-1] == at + PACKET_HEADER.size
    are_possible = (size >= 0) & (n_elements >= 0) & (n_elements <= _MAX_PACKET_ELEMENTS)
    if not is_complete or not are_possible.all():
        return None
    return PacketList(stream, position, size, n_elements, t_first, t_last)


def event_records(data: bytes) -> tuple[NDArray[np.uint64], int]:
    """Return the records of a packet of events as 64-bit words, and their number."""
    if data[4:28] == PLAIN_EVENTS and len(data) >= PLAIN_RECORDS_AT:
        first, n = PLAIN_RECORDS_AT, int.from_bytes(data[28:32], "little")
        if first + n * RECORD_BYTES > len(data):
            found = f"states {counted(n, 'event')} but has {counted(len(data), 'byte')}"
            raise FormatError(f"a packet {found}")
    else:
        table = flatbuffers.prefixed_root(data, EVENTS.encode())
        first, n = table.vector(0, RECORD_BYTES)
        if first % 8:
            data, first = data[first : first + n * RECORD_BYTES], 0
    return np.frombuffer(data, np.uint64, 2 * n, first), n
