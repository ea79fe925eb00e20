"""Encode and decode AEDAT4 as a stream of bytes, as dv-processing sends it over sockets.

A stream has an IOHeader with its size, then packets. A file has a magic line before the IOHeader, so
that standard input and output also carry files without a data table.
"""

import struct
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import IO

import numpy as np

from evcrisp.core.errors import FormatError
from evcrisp.core.events import Events
from evcrisp.core.sensor_data import Frame, Imu
from evcrisp.io.aedat.aedat4_packets import (
    EVENTS,
    FRAMES,
    IMU,
    MAGIC,
    PACKET_HEADER,
    PLAIN_EVENTS,
    RECORD_BYTES,
    TRIGGERS,
    Header,
    event_records,
    parse_io_header,
)
from evcrisp.io.aedat.aedat4_sensor_data import read_frames, read_imu, read_triggers
from evcrisp.io.aedat.aedat4_writer import (
    STREAMS,
    build_frame,
    build_header,
    build_io_header,
    build_xml,
    imu_packets,
    trigger_packets,
)
from evcrisp.io.protocol import Columns, slices
from evcrisp.streaming.sensor_data import OnSensorData, SensorData, kind_of

#: dv-processing sends at most this many events per packet.
EVENTS_PER_PACKET = 10_000
#: Limits of what is believed, bytes; larger sizes mean that the stream is damaged.
_MAX_HEADER_BYTES = 1 << 20
_MAX_PACKET_BYTES = 1 << 26
#: Stream and decoder of each kind of sensor data.
_NUMBERS = {name: number for number, _, name in STREAMS}
_READERS: dict[str, Callable[[Iterator[tuple[int, bytes]]], SensorData]] = {
    IMU: read_imu,
    TRIGGERS: read_triggers,
    FRAMES: lambda packets: next(read_frames(packets)),
}
_KINDS = {IMU: "imu", TRIGGERS: "triggers", FRAMES: "frames"}


def stream_start(
    resolution: tuple[int, int], kinds: Collection[str] = (), *, as_file: bool = False
) -> bytes:
    """Return the bytes before the first packet; ``kinds`` of sensor data beside the events."""
    streams = [stream for stream in STREAMS if stream[2] in ("events", *kinds)]
    xml = build_xml(streams, resolution, camera="evcrisp", compression="NONE")
    return (build_header if as_file else build_io_header)(0, xml, -1)


def packets_of(events: Events) -> Iterator[tuple[bytes, int]]:
    """Yield the packets of events, with the number of events in each."""
    from evcrisp.kernels.io.aedat4 import join_records

    events = events.contiguous()
    p = events.p.view(np.uint8)
    for part in slices(len(events), EVENTS_PER_PACKET):
        n = min(part.stop, len(events)) - part.start
        words = np.zeros(2 * n, np.uint64)
        join_records(events.x, events.y, events.t, p, part.start, n, words, 0)
        size = 4 + len(PLAIN_EVENTS) + 4 + n * RECORD_BYTES
        head = PACKET_HEADER.pack(0, size) + struct.pack("<I", size - 4) + PLAIN_EVENTS
        yield head + struct.pack("<I", n) + words.tobytes(), n


def sensor_packets(data: SensorData) -> Iterator[bytes]:
    """Yield the packets of sensor data."""
    if isinstance(data, Frame):
        packets: Iterable[bytes] = (build_frame(data),)
    elif isinstance(data, Imu):
        packets = (packet for packet, _ in imu_packets(data))
    else:
        packets = (packet for packet, _ in trigger_packets(data))
    for packet in packets:
        yield PACKET_HEADER.pack(_NUMBERS[kind_of(data)], len(packet)) + packet


def sensor_kinds(header: Header) -> tuple[str, ...]:
    """Return the kinds of sensor data that a stream can have beside its events."""
    return tuple(name for kind, name in _KINDS.items() if header.chosen(kind) is not None)


def read_start(file: IO[bytes]) -> Header:
    """Read the bytes before the first packet, with or without a magic line."""
    head, at = _read_exactly(file, 4), 4
    if head == MAGIC[:4]:
        at += len(_read_exactly(file, len(MAGIC) - 4)) + 4
        head = _read_exactly(file, 4)
    size = int.from_bytes(head, "little")
    if not 0 < size <= _MAX_HEADER_BYTES:
        raise FormatError(f"the stream does not start as AEDAT4: a header of {size} bytes")
    return parse_io_header(_read_exactly(file, size), at + size)


def read_packets(
    file: IO[bytes], header: Header, on_sensor_data: OnSensorData | None = None
) -> Iterator[Columns | FormatError]:
    """Yield the columns of each packet of events, or what is wrong with it.

    Sensor data go to ``on_sensor_data``.

    Raises
    ------
    FormatError
        If the next packet cannot be found.
    """
    known = {stream.id for stream in header.streams}
    events = header.chosen(EVENTS)
    chosen = {kind: header.chosen(kind) for kind in _READERS}
    readers = {stream.id: _READERS[kind] for kind, stream in chosen.items() if stream is not None}
    decode = header.codec.decoder()
    at = header.first_packet
    while at != header.table_position and (head := file.read(PACKET_HEADER.size)):
        if len(head) < PACKET_HEADER.size:
            raise FormatError("the stream ends within the header of a packet")
        stream, size = PACKET_HEADER.unpack(head)
        if not 0 <= size <= _MAX_PACKET_BYTES or stream < 0:
            raise FormatError(f"a packet of stream {stream} declares {size} bytes")
        data = _read_exactly(file, size)
        at += len(head) + size
        if stream not in known:
            yield FormatError(f"a packet belongs to stream {stream}; the header has no such stream")
        elif events is not None and stream == events.id:
            try:
                yield _columns(decode(data))
            except FormatError as error:
                yield error
        elif on_sensor_data is not None and stream in readers:
            try:
                found = readers[stream](iter(((0, decode(data)),)))
            except FormatError as error:
                yield error
            else:
                if isinstance(found, Frame) or len(found):
                    on_sensor_data(found)


def load_kernels() -> None:
    """Encode and decode an event, so that the kernels are compiled before the first packet."""
    for packet, _ in packets_of(Events(x=[0], y=[0], t=[0], p=[0], resolution=(1, 1))):
        _columns(packet[PACKET_HEADER.size :])


def _columns(data: bytes) -> Columns:
    from evcrisp.kernels.io.aedat4 import split_records

    words, n = event_records(data)
    columns = Columns.empty(n)
    x, y, t, p = columns
    if split_records(words, 0, n, x, y, t, p.view(np.uint8), 0) < n:
        raise FormatError("an event has a polarity other than 0 and 1")
    return columns


def _read_exactly(file: IO[bytes], size: int) -> bytes:
    data = file.read(size)
    if len(data) < size:
        raise FormatError(f"the stream ends {size - len(data)} bytes before the end of a packet")
    return data
