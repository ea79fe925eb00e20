"""Read AEDAT 3.1 of cAER: a text header, then packets with one type of event, little-endian."""

import logging
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import FormatError
from evcrisp.core.messages import counted
from evcrisp.core.sensor_data import STANDARD_GRAVITY_M_S2, Frame, Imu, TriggerKind, Triggers
from evcrisp.io.protocol import DVS_SIZES, PACKET_EVENTS, Packet, Reader, Source, Stream, keeping

logger = logging.getLogger(__name__)

_MAGIC = b"#!AER-DAT3.1"
_END = b"#!END-HEADER"
_MAX_HEADER_BYTES = 1 << 20
_PACKET_HEADER = struct.Struct("<hhiiiiii")
_SPECIAL, _POLARITY, _FRAME, _IMU6, _IMU9 = 0, 1, 2, 3, 4
#: Bytes of an event by kind; a frame has its pixels in addition.
_EVENT_BYTES = {_SPECIAL: 8, _POLARITY: 8, _IMU6: 36, _IMU9: 48}
_FRAME_BYTES = 36

#: (width, height) of a sensor, and the first letters of the names of its devices.
_DEVICES = {
    (128, 128): ("dvs128", "edvs", "davis128"),
    (208, 192): "davis208",
    (240, 180): "davis240",
    (346, 260): "davis346",
    (640, 480): ("davis640", "davisrgb", "davishet640"),
}

#: Kind and channel of the triggers among the special events.
_TRIGGERS = {
    1: (TriggerKind.TIMESTAMP_RESET, 0),
    2: (TriggerKind.RISING_EDGE, 0),
    3: (TriggerKind.FALLING_EDGE, 0),
    4: (TriggerKind.PULSE, 0),
    6: (TriggerKind.RISING_EDGE, 1),
    7: (TriggerKind.FALLING_EDGE, 1),
    8: (TriggerKind.PULSE, 1),
    9: (TriggerKind.RISING_EDGE, 2),
    10: (TriggerKind.FALLING_EDGE, 2),
    11: (TriggerKind.PULSE, 2),
    12: (TriggerKind.GENERATOR_RISING_EDGE, 0),
    13: (TriggerKind.GENERATOR_FALLING_EDGE, 0),
    14: (TriggerKind.FRAME_START, 0),
    15: (TriggerKind.FRAME_END, 0),
    16: (TriggerKind.EXPOSURE_START, 0),
    17: (TriggerKind.EXPOSURE_END, 0),
}


@dataclass(frozen=True, slots=True)
class _Piece:
    """Events of a packet, or of a part of it."""

    offset: int
    source: int
    t_base: int  # us
    words: NDArray[np.uint8]  # (n, bytes of an event)

    def field(self, first: int, dtype: str) -> NDArray[Any]:
        """Return four bytes of every event as a column."""
        return np.ascontiguousarray(self.words[:, first : first + 4]).view(dtype)[:, 0]

    def time(self, first: int = 4) -> NDArray[np.int64]:
        """Return the times, us, from a byte of every event."""
        return self.field(first, "<i4").astype(np.int64) + self.t_base

    def valid(self) -> "_Piece":
        good = np.flatnonzero(self.words[:, 0] & 1)
        return _Piece(self.offset, self.source, self.t_base, self.words[good])


@dataclass(slots=True, kw_only=True)
class _Aedat31Source(Source):
    start: int  # byte of the first packet
    devices: dict[int, str]  # by number of the source, as the header declares them
    source: int | None = None  # that is read; None for the first one with events
    span: tuple[int, int | None] | None = None  # us, to skip packets outside

    def between(self, t_start: int, t_end: int | None) -> "_Aedat31Source":
        """Return a source that skips packets by the time of their first event."""
        return replace(self, span=(t_start, t_end))

    def streams(self) -> list[Stream]:
        """Return the sources of the header, if there are several."""
        if len(self.devices) < 2:
            return Source.streams(self)
        return [
            Stream(str(number), "events", _size_of(device), aliases=(device,))
            for number, device in self.devices.items()
        ]

    def choose(self, stream: str) -> "_Aedat31Source":
        """Return the source of another device."""
        return self if stream == "events" else _source_of(self, int(stream))

    def _start_of_events(self) -> int:
        """Return the byte of the last packet of events that starts before the span."""
        found = self.start
        if self.span is None:
            return found
        chosen = self.source
        with self.path.open("rb", buffering=0) as file:
            offset, n_bytes = file.seek(found), self.path.stat().st_size
            while len(head := file.read(_PACKET_HEADER.size)) == _PACKET_HEADER.size:
                kind, source, size, t_base, n = _checked(head, offset, n_bytes)
                chosen = source if kind == _POLARITY and chosen is None else chosen
                if kind == _POLARITY and source == chosen and n:
                    word = np.frombuffer(file.read(size).ljust(size, b"\0"), np.uint8)
                    if _Piece(offset, source, t_base, word[None]).time()[0] >= self.span[0]:
                        break
                    found = offset
                offset = file.seek(offset + _PACKET_HEADER.size + size * n)
        return found

    def _pieces(self, *kinds: int, start: int | None = None) -> Iterator[_Piece]:
        """Yield the valid events of some kinds, packet by packet, up to the end of the span."""
        n_bytes = self.path.stat().st_size
        offset = self.start if start is None else start
        t_end = None if self.span is None else self.span[1]
        with self.path.open("rb") as file:
            file.seek(offset)
            while head := file.read(_PACKET_HEADER.size):
                kind, source, size, t_base, n = _checked(head, offset, n_bytes)
                end = offset + _PACKET_HEADER.size + size * n
                if kind in kinds and self.source in (None, source):
                    for piece in _split(file, offset, source, t_base, size, n):
                        yield piece.valid()
                        if t_end is not None and len(piece.words) and piece.time()[0] >= t_end:
                            return
                file.seek(end)
                offset = end
        # The events of a cut packet were yielded up to the end of the file.
        if offset > n_bytes:
            raise FormatError("the file ends within a packet", offset=n_bytes)

    def packets(self) -> Iterator[Packet]:
        """Yield the polarity events of the first source, in file order."""
        chosen: int | None = None
        warned = False
        for piece in self._pieces(_POLARITY, start=self._start_of_events()):
            chosen = piece.source if chosen is None else chosen
            if piece.source != chosen:
                if not warned:
                    logger.warning("%s: has several sources; reading %d only.", self.path, chosen)
                warned = True
                continue
            data = piece.field(0, "<u4")
            x, y = ((data >> bit & 0x7FFF).astype(np.uint16) for bit in (17, 2))
            yield Packet(x, y, piece.time(), data & 2 != 0, piece.offset)

    def imu(self) -> Imu | None:
        parts: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
        with keeping(lambda: _imu(parts)):
            for piece in self._pieces(_IMU6, _IMU9):
                columns = [piece.field(first, "<f4") for first in range(8, 36, 4)]
                parts.append((piece.time(), np.stack(columns, axis=1).astype(np.float64)))
        return _imu(parts)

    def triggers(self) -> Triggers | None:
        """Return the special events that are triggers."""
        parts: list[tuple[NDArray[np.int64], NDArray[np.uint8]]] = []
        with keeping(lambda: _triggers(parts)):
            for piece in self._pieces(_SPECIAL):
                parts.append((piece.time(), (piece.words[:, 0] >> 1).astype(np.uint8)))
        return _triggers(parts)

    def frames(self) -> Iterator[Frame]:
        """Yield the frames; their time is the middle of the exposure."""
        for piece in self._pieces(_FRAME):
            for row in range(len(piece.words)):
                yield _frame(piece.words[row].tobytes(), piece.t_base, piece.offset)


def _size_of(device: str) -> tuple[int, int] | None:
    """Return the size of the sensor of a device, if it is known."""
    sizes = (size for size, name in _DEVICES.items() if device.lower().startswith(name))
    return next(sizes, None)


def _source_of(source: _Aedat31Source, number: int) -> _Aedat31Source:
    """Return a source that reads one of the devices."""
    device = source.devices[number]
    return replace(
        source,
        resolution=_size_of(device),
        metadata={**source.metadata, "device": device},
        source=number,
    )


def _checked(head: bytes, offset: int, n_bytes: int) -> tuple[int, int, int, int, int]:
    """Return (kind, source, bytes per event, base time, number of events) of a packet header."""
    if len(head) < _PACKET_HEADER.size:
        raise FormatError("the file ends within the header of a packet", offset=offset)
    kind, source, size, t_offset, overflow, capacity, n, n_valid = _PACKET_HEADER.unpack(head)
    if not (0 <= n_valid <= n <= capacity and size > 0 and overflow >= 0 and kind >= 0):
        found = f"kind {kind}, {counted(n, 'event')} of {counted(size, 'byte')}, {n_valid} valid"
        found += f", capacity {capacity}, overflow {overflow}"
        raise FormatError(f"the header of a packet is impossible: {found}", offset=offset)
    fitting = size == _EVENT_BYTES.get(kind, size) and (kind != _FRAME or size > _FRAME_BYTES)
    # The limit by the file size bounds the memory that a damaged number can allocate.
    if not fitting or size > n_bytes or not 0 <= t_offset <= size - 4:
        found = counted(size, "byte")
        raise FormatError(f"events of kind {kind} have the wrong size of {found}", offset=offset)
    return kind, source, size, overflow << 31, n


def _split(
    file: IO[bytes], offset: int, source: int, t_base: int, size: int, n: int
) -> Iterator[_Piece]:
    """Yield the events up to the end of the file, in parts of bounded size."""
    n_at_once = max(1, min(PACKET_EVENTS, (1 << 24) // size))
    while n > 0:
        block = file.read(size * min(n, n_at_once))
        n_read = len(block) // size
        words = np.frombuffer(block, np.uint8, n_read * size).reshape(n_read, size)
        yield _Piece(offset, source, t_base, words)
        n -= n_read
        if len(block) < size * min(n + n_read, n_at_once):
            return


def _imu(parts: list[tuple[NDArray[np.int64], NDArray[np.float64]]]) -> Imu | None:
    if not parts:
        return None
    values = np.concatenate([columns for _, columns in parts])
    return Imu(
        t=np.concatenate([t for t, _ in parts]),
        accel_m_s2=values[:, :3] * STANDARD_GRAVITY_M_S2,
        gyro_rad_s=np.deg2rad(values[:, 3:6]),
        temperature_c=values[:, 6],
    )


def _triggers(parts: list[tuple[NDArray[np.int64], NDArray[np.uint8]]]) -> Triggers | None:
    if not parts:
        return None
    code = np.concatenate([codes for _, codes in parts])
    t = np.concatenate([times for times, _ in parts])
    table = np.zeros((128, 3), np.uint8)
    for special, (kind, channel) in _TRIGGERS.items():
        table[special] = (1, kind, channel)
    known = np.flatnonzero(table[code, 0])
    code, t = code[known], t[known]
    return Triggers(t=t, kind=table[code, 1], channel=table[code, 2])


def _frame(data: bytes, t_base: int, offset: int) -> Frame:
    info, *numbers = struct.unpack_from("<I8i", data)
    _, _, begin, end, width, height, x, y = numbers
    channels = info >> 1 & 7
    n_values = width * height * channels
    is_possible = channels in (1, 3, 4) and width >= 1 and height >= 1
    if not is_possible or _FRAME_BYTES + 2 * n_values > len(data):
        found = f"{width}x{height} px with {channels} channels"
        raise FormatError(f"a frame of {found} does not fit its packet", offset=offset)
    image = np.frombuffer(data, "<u2", n_values, _FRAME_BYTES).reshape(height, width, channels)
    # The file has red-green-blue, a `Frame` blue-green-red.
    image = image[:, :, 0] if channels == 1 else image[:, :, 2::-1]
    return Frame(
        t=t_base + (begin + end) // 2,
        image=np.ascontiguousarray(image, np.uint16),
        exposure_start=t_base + begin,
        exposure_end=t_base + end,
        position=(x, y),
    )


class Aedat31Reader(Reader):
    """Read AEDAT 3.1 files in the format RAW."""

    name = "aedat31"
    title = "AEDAT 3.1 (cAER)"
    suffixes = (".aedat31", ".aedat3")
    magic = (_MAGIC,)
    standard_sizes = DVS_SIZES

    def open(self, path: Path) -> _Aedat31Source:
        """Read the header."""
        with path.open("rb") as file:
            header = _read_header(file)
        coding = re.search(rb"^#Format:\s*([\w-]+)", header, re.MULTILINE)
        if coding is not None and coding[1] != b"RAW":
            raise FormatError(f"the format {coding[1].decode()!r} is not read; expected RAW")
        # A minus marks a source from which the file was copied.
        found = re.findall(rb"^#\s*Source\s+-?(\d{1,5}):\s*([\w-]+)", header, re.MULTILINE)
        devices = {int(number): name.decode() for number, name in found}
        started = re.search(rb"^#Start-Time:\s*([ -~]{6,60}?)\s*$", header, re.MULTILINE)
        facts = {} if started is None else {"date": started[1].decode("ascii")}
        source = _Aedat31Source(metadata=facts, path=path, start=len(header), devices=devices)
        if not devices:
            return source
        first = next(iter(devices))
        # The only device may have other numbers in its packets.
        return replace(_source_of(source, first), source=first if len(devices) > 1 else None)


def _read_header(file: IO[bytes]) -> bytes:
    """Return the text before the packets."""
    lines = [file.readline(256)]
    if not lines[0].startswith(_MAGIC):
        shown = ascii(lines[0][:20].decode("latin-1"))
        raise FormatError(f"the file must start with {_MAGIC.decode()!r}; got {shown}")
    while file.tell() < _MAX_HEADER_BYTES:
        lines.append(file.readline(_MAX_HEADER_BYTES))
        if lines[-1].startswith(_END):
            return b"".join(lines)
        if not lines[-1].startswith(b"#"):
            break
    raise FormatError(f"the header has no line {_END.decode()!r}", offset=file.tell())
