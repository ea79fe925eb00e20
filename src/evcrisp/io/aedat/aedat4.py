"""Read AEDAT4 (iniVation DV): events, IMU samples, triggers and frames in compressed packets."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import FormatError
from evcrisp.core.event_columns import are_times
from evcrisp.core.sensor_data import Frame, Imu, Triggers
from evcrisp.io.aedat import aedat4_packets
from evcrisp.io.aedat.aedat4_packets import (
    EVENTS,
    FRAMES,
    IMU,
    MAGIC,
    TRIGGERS,
    Header,
    read_header,
)
from evcrisp.io.aedat.aedat4_sensor_data import read_frames, read_imu, read_triggers
from evcrisp.io.protocol import DVS_SIZES, Columns, Packet, Reader, Source, Stream, located

_KINDS = {EVENTS: "events", FRAMES: "frames", IMU: "imu", TRIGGERS: "triggers"}

#: Events per batch, so that a batch and its packet fit into the cache of a core.
_BATCH_EVENTS = 1 << 16


@dataclass(slots=True, kw_only=True)
class _Aedat4Source(Source):
    file: IO[bytes]
    file_size: int
    header: Header
    table: aedat4_packets.PacketList | None
    span: tuple[int, int | None] | None = None  # us, to skip packets outside

    def packets(self) -> Iterator[Packet]:
        """Yield the events of the chosen stream, several packets of the file at a time."""
        from evcrisp.kernels.io.aedat4 import split_records

        batch: Columns | None = None
        n_filled = offset = 0
        damage = None
        try:
            for at, data in self._walk(EVENTS):
                with located(at):
                    words, n = aedat4_packets.event_records(data)
                first = 0
                while first < n:
                    if batch is None:
                        batch, n_filled, offset = Columns.empty(_BATCH_EVENTS), 0, at
                    n_fitting = min(n - first, _BATCH_EVENTS - n_filled)
                    x, y, t, p = batch
                    n_good = split_records(
                        words, first, n_fitting, x, y, t, p.view(np.uint8), n_filled
                    )
                    n_filled += n_good
                    if n_good < n_fitting:
                        raise FormatError("an event has a polarity other than 0 and 1", offset=at)
                    first += n_fitting
                    if n_filled == _BATCH_EVENTS:
                        yield Packet(*batch, offset)
                        batch = None
        except FormatError as error:
            damage = error
        if batch is not None and n_filled:
            yield Packet(*batch.part(slice(n_filled)), offset)
        if damage is not None:
            raise damage

    def whole(self, resolution: tuple[int, int] | None) -> Packet | None:
        """Return all events at once if the data table allows it."""
        events = self.header.chosen(EVENTS)
        if self.table is None or events is None:
            return None
        table = self.table if self.span is None else self.table.between(events.id, *self.span)
        return read_whole(self.path, self.header, table, events.id, resolution)

    def imu(self) -> Imu | None:
        return read_imu(self._walk(IMU)) if self.header.chosen(IMU) else None

    def triggers(self) -> Triggers | None:
        return read_triggers(self._walk(TRIGGERS)) if self.header.chosen(TRIGGERS) else None

    def frames(self) -> Iterator[Frame]:
        yield from read_frames(self._walk(FRAMES))

    def between(self, t_start: int, t_end: int | None) -> "_Aedat4Source":
        """Return a source that skips packets by the times of the data table, if there is one."""
        return self if self.table is None else replace(self, span=(t_start, t_end))

    def time_of(self, number: int) -> int | None:
        """Return the time of an event by the counts of the data table, if there is one."""
        events = self.header.chosen(EVENTS)
        if self.table is None or events is None:
            return None
        ends = np.cumsum(self.table.counts(events.id))
        packet = int(np.searchsorted(ends, number, side="right"))
        if packet == ends.size:
            return None
        with self._own_file() as file:
            listed = self.table.part(slice(packet, packet + 1))
            _, data = next(aedat4_packets.walk_listed(file, self.header, listed))
        words, n = aedat4_packets.event_records(data)
        place = number - int(ends[packet]) + n
        return int(words[2 * place].view(np.int64)) if 0 <= place < n else None

    def streams(self) -> list[Stream]:
        """Return the streams of the XML; a name is that of the XML if it is unique, else the number."""
        names = [stream.name for stream in self.header.streams]
        return [
            Stream(
                stream.name if names.count(stream.name) == 1 else str(stream.id),
                _KINDS.get(stream.kind, stream.kind),
                stream.resolution,
                None if self.table is None else int(self.table.counts(stream.id).sum()),
                tuple(alias for alias in (stream.source, str(stream.id)) if alias),
            )
            for stream in self.header.streams
        ]

    def choose(self, stream: str) -> "_Aedat4Source":
        """Return the source of another stream of events."""
        named = zip(self.streams(), self.header.streams, strict=True)
        number = next(declared.id for known, declared in named if known.name == stream)
        header = replace(self.header, event_stream=number)
        return _source(self.path, self.file, self.file_size, header, self.table)

    def close(self) -> None:
        self.file.close()

    def _walk(self, kind: str) -> Iterator[tuple[int, bytes]]:
        """Yield the packets of a kind; each pass has its own file position, for threads."""
        stream = self.header.chosen(kind)
        if stream is None:
            return
        with self._own_file() as file:
            if self.table is not None and self.span is not None:
                listed = self.table.between(stream.id, *self.span)
                yield from aedat4_packets.walk_listed(file, self.header, listed)
            else:
                yield from aedat4_packets.walk(file, self.header, self.file_size, stream.id)

    def _own_file(self) -> AbstractContextManager[IO[bytes]]:
        try:
            return self.path.open("rb", buffering=aedat4_packets.BUFFER_BYTES)
        except FileNotFoundError:  # moved after opening
            return nullcontext(self.file)


class Aedat4Reader(Reader):
    """Read AEDAT4 files of DV and dv-processing, with or without a data table."""

    name = "aedat4"
    title = "AEDAT 4 (iniVation DV)"
    suffixes = (".aedat4",)
    magic = (MAGIC.rstrip(),)
    standard_sizes = DVS_SIZES

    def open(self, path: Path) -> _Aedat4Source:
        """Open a file; reads the header and a data table of limited size."""
        file = path.open("rb", buffering=aedat4_packets.BUFFER_BYTES)
        try:
            file_size = os.fstat(file.fileno()).st_size
            header = read_header(file, file_size)
            table = aedat4_packets.read_table(file, header, file_size)
        except BaseException:
            file.close()
            raise
        return _source(path.absolute(), file, file_size, header, table)


def _source(
    path: Path,
    file: IO[bytes],
    file_size: int,
    header: Header,
    table: aedat4_packets.PacketList | None,
) -> _Aedat4Source:
    events, n_events = header.chosen(EVENTS), None
    if table is not None:
        n_events = 0 if events is None else int(table.counts(events.id).sum())
    sized = events or header.chosen(FRAMES)
    return _Aedat4Source(
        resolution=None if sized is None else sized.resolution,
        metadata=_metadata(header, table is not None),
        n_events=n_events,
        path=path,
        file=file,
        file_size=file_size,
        header=header,
        table=table,
    )


def _metadata(header: Header, is_table_good: bool) -> dict[str, object]:
    events = header.chosen(EVENTS)
    return {
        "source": "" if events is None else events.source,
        "compression": header.compression,
        "event_streams": [stream.id for stream in header.of_kind(EVENTS)],
        "event_stream_read": None if events is None else events.id,
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


#: Numbers of events in the file and per packet from which threads are faster.
_MANY_EVENTS = 1 << 19
_LARGE_PACKET_EVENTS = 1 << 11
_MAX_THREADS = 8
#: Several parts per thread balance the load of busy cores.
_PARTS_PER_THREAD = 8
#: Larger than any coordinate.
_ANY_SIZE = (1 << 16, 1 << 16)


def read_whole(
    path: Path,
    header: Header,
    packets: aedat4_packets.PacketList,
    stream: int,
    resolution: tuple[int, int] | None,
) -> Packet | None:
    """Return all events, or None if the file does not match its data table."""
    counts = packets.counts(stream)
    ends = np.cumsum(counts)
    n_events = int(counts.sum())
    # Bounded by the file size; unused memory is not touched.
    if not 0 < n_events <= packets.size.sum():
        return None
    columns = Columns.empty(n_events)
    job = _Job(path, header, packets, stream, ends, columns, resolution or _ANY_SIZE)
    n_threads = _n_threads(n_events, int(np.count_nonzero(counts)))
    n_parts = 1 if n_threads == 1 else n_threads * _PARTS_PER_THREAD
    cuts = np.searchsorted(ends, n_events * np.arange(1, n_parts) // n_parts).tolist()
    if n_threads == 1:
        is_good = job.read(0, ends.size)
    else:
        with ThreadPoolExecutor(n_threads) as pool:
            is_good = all(pool.map(job.read, [0, *cuts], [*cuts, ends.size]))
    seams = (ends - counts)[cuts]
    seams = seams[seams > 0]
    if not is_good or (columns.t[seams] < columns.t[seams - 1]).any():
        return None
    if not are_times(columns.t[[0, -1]]).all():
        return None
    return Packet(*columns, header.first_packet)


def _n_threads(n_events: int, n_packets: int) -> int:
    if n_events < _MANY_EVENTS or n_events < n_packets * _LARGE_PACKET_EVENTS:
        return 1  # most time is spent in Python, which runs one thread at a time
    affinity = getattr(os, "sched_getaffinity", None)
    n_cores = (os.cpu_count() or 1) if affinity is None else len(affinity(0))
    return min(n_cores, _MAX_THREADS)


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    path: Path
    header: Header
    packets: aedat4_packets.PacketList
    stream: int
    ends: NDArray[np.int64]  # (n,) events up to the end of each packet
    columns: Columns
    resolution: tuple[int, int]

    def read(self, first: int, last: int) -> bool:
        """Read the packets ``first .. last``; return whether all match the data table."""
        try:
            with self.path.open("rb", buffering=aedat4_packets.BUFFER_BYTES) as file:
                return self._read(file, first, last)
        except (FormatError, OSError):
            return False

    def _read(self, file: IO[bytes], first: int, last: int) -> bool:
        from evcrisp.kernels.io.aedat4 import place_records

        x, y, t, p = self.columns
        p = p.view(np.uint8)
        at = int(self.ends[first - 1]) if first else 0
        limits = np.array([*self.resolution, np.iinfo(np.int64).min])
        decode, unpack = self.header.codec.decoder(), aedat4_packets.PACKET_HEADER.unpack
        packets, n_head = self.packets, aedat4_packets.PACKET_HEADER.size
        columns = (packets.stream, packets.position, packets.size, packets.n_elements)
        rows = zip(*(column[first:last].tolist() for column in columns), strict=True)
        for stream, position, size, count in rows:
            file.seek(position - n_head)
            head = file.read(n_head)
            if len(head) < n_head or unpack(head) != (stream, size):
                return False
            if stream != self.stream:
                continue
            words, n = aedat4_packets.event_records(decode(file.read(size)))
            if n != count or not place_records(words, n, x, y, t, p, at, limits):
                return False
            at += n
        return True
