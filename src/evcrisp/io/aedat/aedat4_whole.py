"""Read all events of an AEDAT4 file at once, in several threads.

The data table states the number of events of each packet, so that packets can be read in any
order. This works for good files only: at any damage the caller reads packet by packet instead, which
finds the damage.
"""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import FormatError
from evcrisp.io.aedat import aedat4_packets
from evcrisp.io.aedat.aedat4_header import Header
from evcrisp.io.protocol import Columns, Packet

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
        for stream, position, size, count in self._rows(first, last):
            file.seek(position - aedat4_packets.PACKET_HEADER.size)
            head = file.read(aedat4_packets.PACKET_HEADER.size)
            if len(head) < aedat4_packets.PACKET_HEADER.size or unpack(head) != (stream, size):
                return False
            if stream != self.stream:
                continue
            words, n = aedat4_packets.event_records(decode(file.read(size)))
            if n != count or not place_records(words, n, x, y, t, p, at, limits):
                return False
            at += n
        return True

    def _rows(self, first: int, last: int) -> Iterator[tuple[int, int, int, int]]:
        packets = self.packets
        columns = (packets.stream, packets.position, packets.size, packets.n_elements)
        return zip(*(column[first:last].tolist() for column in columns), strict=True)
