"""AEDAT4 (iniVation DV): events, IMU samples, triggers and frames in compressed packets."""

import logging
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.errors import FormatError
from evcrisp.io import _flatbuffers
from evcrisp.io._aedat4_extras import read_frames, read_imu, read_triggers
from evcrisp.io._aedat4_header import EVENTS, FRAMES, IMU, MAGIC, TRIGGERS, Header, read_header
from evcrisp.io._aedat4_packets import RECORD_BYTES, count_events, walk
from evcrisp.io._protocol import Packet, Source
from evcrisp.io._sizes import DVS_SIZES
from evcrisp.streams import Frame, Imu, Triggers

logger = logging.getLogger(__name__)

#: Bytes 4 to 28 of every packet of events that DV writes: one table with one vector of records.
#: Knowing them saves half of the time that a small packet takes in Python.
PLAIN_EVENTS = struct.pack("<I4s2x3HiI", 16, EVENTS.encode(), 6, 8, 4, 6, 4)
#: Byte of the first record in such a packet.
PLAIN_RECORDS_AT = 32

_BUFFER_BYTES = 1 << 17
#: A batch of 64 k events and the packet it comes from stay in the cache of one core.
_BATCH_EVENTS = 1 << 16


class _Batch:
    """Columns that are filled packet by packet."""

    def __init__(self, offset: int) -> None:
        self.offset = offset
        self.n = 0
        self.x = np.empty(_BATCH_EVENTS, np.uint16)
        self.y = np.empty(_BATCH_EVENTS, np.uint16)
        self.t = np.empty(_BATCH_EVENTS, np.int64)
        self.p = np.empty(_BATCH_EVENTS, np.uint8)

    def packet(self) -> Packet:
        """Return what is filled."""
        x, y, t, p = (column[: self.n] for column in (self.x, self.y, self.t, self.p))
        return Packet(x, y, t, p.view(np.bool_), self.offset)


@dataclass(slots=True)
class Aedat4Source(Source):
    """An open AEDAT4 file."""

    file: IO[bytes] = field(kw_only=True)
    file_size: int = field(kw_only=True)
    header: Header = field(kw_only=True)

    def packets(self) -> Iterator[Packet]:
        """Yield the events of the first event stream, several packets of the file at a time."""
        from evcrisp.kernels.aedat4 import split_records

        batch: _Batch | None = None
        damage = None
        try:
            for offset, data in self._walk(EVENTS):
                words, n = _event_records(data, offset)
                first = 0
                while first < n:
                    if batch is None:
                        batch = _Batch(offset)
                    n_fitting = min(n - first, _BATCH_EVENTS - batch.n)
                    n_good = split_records(
                        words, first, n_fitting, batch.x, batch.y, batch.t, batch.p, batch.n
                    )
                    batch.n += n_good
                    if n_good < n_fitting:
                        raise FormatError(
                            "an event has a polarity other than 0 and 1", offset=offset
                        )
                    first += n_fitting
                    if batch.n == _BATCH_EVENTS:
                        yield batch.packet()
                        batch = None
        except FormatError as error:
            damage = error
        if batch is not None and batch.n:
            yield batch.packet()
        if damage is not None:
            raise damage

    def imu(self) -> Imu | None:
        """Return the samples of the IMU of the same camera."""
        return read_imu(self._walk(IMU)) if self.header.first(IMU) else None

    def triggers(self) -> Triggers | None:
        """Return the triggers of the same camera."""
        return read_triggers(self._walk(TRIGGERS)) if self.header.first(TRIGGERS) else None

    def frames(self) -> Iterator[Frame]:
        """Yield the frames of the same camera."""
        if self.header.first(FRAMES):
            yield from read_frames(self._walk(FRAMES))

    def close(self) -> None:
        """Release the file."""
        self.file.close()

    def _walk(self, kind: str) -> Iterator[tuple[int, bytes]]:
        events = self.header.first(EVENTS)
        stream = self.header.first(kind, None if events is None else events.source)
        return walk(self.file, self.header, self.file_size, () if stream is None else (stream.id,))


def _event_records(data: bytes, offset: int) -> tuple[NDArray[np.uint64], int]:
    """Return the records of a packet of events as 64-bit words, and their number."""
    if data[4:28] == PLAIN_EVENTS and len(data) >= PLAIN_RECORDS_AT:
        first, n = PLAIN_RECORDS_AT, int.from_bytes(data[28:32], "little")
        if first + n * RECORD_BYTES > len(data):
            reason = f"a packet promises {n} events but holds {len(data)} bytes"
            raise FormatError(reason, offset=offset)
    else:
        try:
            table = _flatbuffers.prefixed_root(data, EVENTS.encode())
            first, n = table.vector(0, RECORD_BYTES)
        except FormatError as error:
            raise FormatError(error.reason, offset=offset) from error
        if first % 8:
            data, first = data[first : first + n * RECORD_BYTES], 0
    return np.frombuffer(data, np.uint64, 2 * n, first), n


@dataclass(frozen=True, slots=True)
class Aedat4Reader:
    """Read AEDAT4 files of DV and dv-processing, with or without the data table at their end."""

    name: ClassVar[str] = "aedat4"
    title: ClassVar[str] = "AEDAT 4 (iniVation DV)"
    suffixes: ClassVar[tuple[str, ...]] = (".aedat4",)
    standard_sizes: ClassVar[tuple[tuple[int, int], ...]] = DVS_SIZES
    foreign_errors: ClassVar[tuple[type[Exception], ...]] = ()

    def recognizes(self, head: bytes, path: Path) -> bool:
        """Look for the magic line."""
        return head.startswith(MAGIC.rstrip())

    def open(self, path: Path) -> Aedat4Source:
        """Open a file; reads the header and, where it is small, the data table."""
        file = path.open("rb", buffering=_BUFFER_BYTES)
        try:
            file_size = os.fstat(file.fileno()).st_size
            header = read_header(file, file_size)
            events = header.first(EVENTS)
            n_events = 0
            if events is not None:
                n_events = count_events(file, header, file_size, events.id)
        except BaseException:
            file.close()
            raise
        sized = events or header.first(FRAMES)
        return Aedat4Source(
            resolution=None if sized is None else sized.resolution,
            metadata=_metadata(path, header, n_events is not None),
            n_events=n_events,
            file=file,
            file_size=file_size,
            header=header,
        )


def _metadata(path: Path, header: Header, is_table_good: bool) -> dict[str, object]:
    event_streams = [stream for stream in header.streams if stream.kind == EVENTS]
    if len(event_streams) > 1:
        logger.warning(
            "%s: the file has %d streams of events (%s); reading the first.",
            path,
            len(event_streams),
            ", ".join(stream.source or str(stream.id) for stream in event_streams),
        )
    return {
        "source": event_streams[0].source if event_streams else "",
        "compression": header.compression,
        "event_streams": [stream.id for stream in event_streams],
        "event_stream_read": event_streams[0].id if event_streams else None,
        "data_table": is_table_good,
        "streams": [
            {
                "id": stream.id,
                "type": stream.kind,
                "name": stream.name,
                "source": stream.source,
                "resolution": None if stream.resolution is None else list(stream.resolution),
            }
            for stream in header.streams
        ],
    }
