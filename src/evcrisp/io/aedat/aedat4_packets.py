"""Walk the packets of an AEDAT4 file one after the other, and read the data table at its end.

A packet is a stream id and a size (two int32) and that many bytes. The walk needs no data table:
the recording may have been killed before it was written, or its position may be damaged.
"""

import struct
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import IO

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import FormatError
from evcrisp.core.messages import counted
from evcrisp.io.aedat import flatbuffers as _flatbuffers
from evcrisp.io.aedat.aedat4_header import Header

PACKET_HEADER = struct.Struct("<ii")
TABLE_IDENTIFIER = b"FTAB"
BUFFER_BYTES = 1 << 17

#: A larger data table (of some 150 000 packets) is not read; that would no longer be cheap.
_MAX_TABLE_BYTES = 1 << 22
#: More than fit into any FlatBuffer.
_MAX_PACKET_ELEMENTS = 1 << 31


def walk(
    file: IO[bytes], header: Header, file_size: int, wanted: int
) -> Iterator[tuple[int, bytes]]:
    """Yield (byte, expanded data) of each packet of one stream.

    The file is positioned anew for each packet, so that two walks may take turns.
    """
    known = {stream.id for stream in header.streams}
    read, seek, unpack = file.read, file.seek, PACKET_HEADER.unpack
    decode = header.codec.decoder()
    at = header.first_packet
    while at < file_size:
        seek(at)
        head = read(8)
        if len(head) < 8:
            if at == header.table_position:
                return
            raise FormatError("the file ends inside the header of a packet", offset=at)
        stream, size = unpack(head)
        left = file_size - at - 8
        if stream not in known or not 0 <= size <= left:
            if at == header.table_position or _is_table(file, header, at, left):
                return
            raise FormatError(_complaint(stream, size, left, known), offset=at)
        if stream == wanted:
            with located(at):
                data = decode(read(size))
            yield at, data
        at += 8 + size


class located:  # noqa: N801 - used like a function, and three times faster than one with `yield`
    """Add the byte of the packet to complaints about its content."""

    __slots__ = ("offset",)

    def __init__(self, offset: int) -> None:
        self.offset = offset

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, FormatError):
            raise FormatError(error.reason, offset=self.offset) from error


def _complaint(stream: int, size: int, left: int, known: Collection[int]) -> str:
    if stream not in known:
        return f"a packet belongs to stream {stream}; the header declares {sorted(known)}"
    if size < 0:
        return f"a packet has the negative size {size}"
    return f"a packet declares {counted(size, 'byte')} but the file ends after {left}"


def _is_table(file: IO[bytes], header: Header, at: int, left: int) -> bool:
    """Say whether the data table starts here, although the header points elsewhere."""
    if left > _MAX_TABLE_BYTES:
        return False
    file.seek(at)
    try:
        _flatbuffers.prefixed_root(header.codec.decoder()(file.read()), TABLE_IDENTIFIER)
    except FormatError:
        return False
    return True


@dataclass(frozen=True, slots=True, eq=False)
class PacketList:
    """All packets of a file, as the data table lists them."""

    stream: NDArray[np.int64]  # (n,)
    position: NDArray[np.int64]  # (n,) byte of the content, after the packet's header
    size: NDArray[np.int64]  # (n,) bytes
    n_elements: NDArray[np.int64]  # (n,)

    def counts(self, stream: int) -> NDArray[np.int64]:
        """Return how many elements of one stream each packet holds."""
        return np.where(self.stream == stream, self.n_elements, 0)


def read_table(file: IO[bytes], header: Header, file_size: int) -> PacketList | None:
    """Return the packets by the data table, or None if it is missing or wrong."""
    at = header.table_position
    if not header.first_packet <= at < file_size or file_size - at > _MAX_TABLE_BYTES:
        return None
    file.seek(at)
    try:
        data = header.codec.decoder()(file.read())
        table = _flatbuffers.prefixed_root(data, TABLE_IDENTIFIER)
        rows = _flatbuffers.Tables(data, table.tables(0))
        position, _ = rows.column(0, "<i8")
        packet, _ = rows.column(1, "<i8")
        n_elements, _ = rows.column(2, "<i8")
    except FormatError:
        return None
    stream, size = packet.view("<i4").reshape(-1, 2).T.astype(np.int64)
    # A good table names all packets without a gap, from the first one to the table itself.
    starts = np.append(header.first_packet, position + size) + PACKET_HEADER.size
    is_complete = np.array_equal(starts[:-1], position) and starts[-1] == at + PACKET_HEADER.size
    are_possible = (size >= 0) & (n_elements >= 0) & (n_elements <= _MAX_PACKET_ELEMENTS)
    return (
        PacketList(stream, position, size, n_elements)
        if is_complete and are_possible.all()
        else None
    )
