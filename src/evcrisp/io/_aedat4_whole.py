"""Read all events of an AEDAT4 file straight to their places, in several threads.

The data table says how many events each packet holds, so no packet has to wait for the ones before
it. This is a short cut for good files: whatever looks wrong ends it, and the caller reads the file
packet by packet instead, which finds out what is wrong and where.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evcrisp.errors import FormatError
from evcrisp.io._aedat4_events import Columns, event_records
from evcrisp.io._aedat4_header import Header
from evcrisp.io._aedat4_packets import BUFFER_BYTES, PacketList
from evcrisp.io._protocol import Packet

#: Threads pay from this number of events on, and for packets of this many.
_MANY_EVENTS = 1 << 19
_LARGE_PACKET_EVENTS = 1 << 11
_MAX_THREADS = 8


def read_whole(path: Path, header: Header, packets: PacketList) -> Packet | None:
    """Return all events, or None if the file does not keep what its data table promises."""
    n_events, n_packets = int(packets.n_elements.sum()), packets.size.size
    # What the file warrants; the memory is not touched before an event goes there.
    if not 0 < n_events <= packets.size.sum():
        return None
    columns = Columns.empty(n_events)
    ends = np.cumsum(packets.n_elements)
    starts = ends - packets.n_elements

    def fill(first: int, last: int) -> bool:
        return _fill(path, header, packets, starts, range(first, last), columns)

    n_threads = _n_threads(n_events, n_packets)
    if n_threads == 1:
        is_good = fill(0, n_packets)
    else:
        cuts = np.searchsorted(ends, n_events * np.arange(1, n_threads) // n_threads).tolist()
        with ThreadPoolExecutor(n_threads) as pool:
            is_good = all(pool.map(fill, [0, *cuts], [*cuts, n_packets]))
    return columns.packet(n_events, header.first_packet) if is_good else None


def _n_threads(n_events: int, n_packets: int) -> int:
    if n_events < _MANY_EVENTS or n_events < n_packets * _LARGE_PACKET_EVENTS:
        return 1  # most of the time goes to Python, which runs one thread at a time
    affinity = getattr(os, "sched_getaffinity", None)
    n_cores = (os.cpu_count() or 1) if affinity is None else len(affinity(0))
    return min(n_cores, _MAX_THREADS)


def _fill(
    path: Path,
    header: Header,
    packets: PacketList,
    starts: NDArray[np.int64],
    part: range,
    columns: Columns,
) -> bool:
    """Read some packets; return whether all of them are as promised."""
    from evcrisp.kernels.aedat4 import split_records

    x, y, t, p = columns.x, columns.y, columns.t, columns.p
    decode = header.codec.decoder()
    rows = slice(part.start, part.stop)
    positions, sizes = packets.position[rows].tolist(), packets.size[rows].tolist()
    counts, places = packets.n_elements[rows].tolist(), starts[rows].tolist()
    with path.open("rb", buffering=BUFFER_BYTES) as file:
        for position, size, count, place in zip(positions, sizes, counts, places, strict=True):
            file.seek(position)
            try:
                words, n = event_records(decode(file.read(size)))
            except FormatError:
                return False
            if n != count or split_records(words, 0, n, x, y, t, p, place) != n:
                return False
    return True
