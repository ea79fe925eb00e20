"""Read the start of an AEDAT4 file: magic line, IOHeader, and XML with the streams."""

import struct
from dataclasses import dataclass
from typing import IO
from xml.etree import ElementTree

from evcrisp.core.errors import FormatError
from evcrisp.core.messages import counted
from evcrisp.io.aedat import flatbuffers
from evcrisp.io.compression import Codec, Lz4Frame, Stored, Zstd

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

    def of_kind(self, kind: str) -> list[Stream]:
        """Return the streams of a kind."""
        return [stream for stream in self.streams if stream.kind == kind]

    def chosen(self, kind: str) -> Stream | None:
        """Return the first stream of events, or the first stream of the same camera."""
        fitting, events = self.of_kind(kind), self.of_kind(EVENTS)
        if len(events) > 1:  # several cameras
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
    try:
        table = flatbuffers.root(file.read(size), b"IOHE")
        compression = table.scalar(0, "i", 0)
        table_position = table.scalar(1, "q", -1)
        xml = table.string(2)
    except FormatError as error:
        raise FormatError(f"header: {error.reason}", offset=HEADER_AT) from error
    if compression not in _COMPRESSIONS:
        raise FormatError(f"unknown compression code {compression}", offset=HEADER_AT)
    name, codec = _COMPRESSIONS[compression]
    return Header(name, codec(), table_position, HEADER_AT + size, _parse_streams(xml))


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
    return Stream(
        id=number,
        kind=attributes.get("typeIdentifier", ""),
        name=attributes.get("originalOutputName", ""),
        source=facts.get("source", ""),
        resolution=resolution,
    )


def _attributes(node: ElementTree.Element) -> dict[str, str]:
    return {item.get("key", ""): item.text or "" for item in node.findall("attr")}


def _number(text: str | None) -> int:
    """Return a whole number of at most nine digits, or -1."""
    return int(text) if text is not None and text.isdecimal() and len(text) < 10 else -1
