"""Join the packets of a recording into one, copying them once where that is possible."""

from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np

from evcrisp.io.protocol import Packet

_DTYPES: dict[str, Any] = {
    "x": np.uint16,
    "y": np.uint16,
    "t": np.int64,
    "p": np.bool_,
    "signal": np.bool_,
}
#: Room beyond an estimated number of events, and the share of it that must be used to keep it.
_SLACK = 1.05
_FILLED = 0.75


class _Room:
    """Columns of a fixed length, filled from the front. Memory that is not filled is not touched."""

    def __init__(self, n: int, names: Iterable[str]) -> None:
        self.columns = {name: np.empty(n, _DTYPES[name]) for name in names}
        self.size = n
        self.n = 0

    def add(self, packet: Packet) -> bool:
        """Copy a packet, or say that it does not fit."""
        n_next = self.n + packet.t.size
        if n_next > self.size:
            return False
        for name, column in self.columns.items():
            column[self.n : n_next] = getattr(packet, name)
        self.n = n_next
        return True

    def packet(self, offset: int) -> Packet:
        """Return what is filled."""
        columns: dict[str, Any] = {name: column[: self.n] for name, column in self.columns.items()}
        if self.n < _FILLED * self.size:
            columns = {name: column.copy() for name, column in columns.items()}
        return Packet(**columns, offset=offset)


def join(packets: Iterable[Packet], *, n_expected: int | None, n_bytes: int) -> Packet | None:
    """Return all packets as one, or None if there are none. Labels are kept if all have them.

    Parameters
    ----------
    packets : iterable of Packet
        What to join.
    n_expected : int, optional
        Number of events as the file states it. By default it is estimated from the first packet.
    n_bytes : int
        Size of the file, or 0. Room is never made for more events than that.

    Notes
    -----
    A wrong number costs time, nothing else. Copying each packet to its place while it is still in
    the processor's cache takes half the time of keeping them all and concatenating them.
    """
    packets = iter(packets)
    first, second = next(packets, None), next(packets, None)
    if first is None or second is None:
        return first
    if n_expected is None:
        n_expected = _estimate(first, second, n_bytes)
    is_labeled = first.signal is not None
    room = _Room(min(n_expected, n_bytes), _DTYPES if is_labeled else tuple(_DTYPES)[:4])
    rest: list[Packet] = []
    for packet in chain((first, second), packets):
        if is_labeled and packet.signal is None:
            is_labeled = False
            del room.columns["signal"]
        if rest or not room.add(packet):
            rest.append(packet)
    joined = room.packet(first.offset)
    if not rest:
        return joined
    parts = [joined, *rest] if room.n else rest
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in room.columns
    }
    return Packet(**columns, offset=first.offset)


def _estimate(first: Packet, second: Packet, n_bytes: int) -> int:
    """Return how many events the file has if all of it is as dense as the first packet."""
    n_bytes_first = second.offset - first.offset
    if n_bytes_first <= 0:
        return 0
    n_bytes_all = max(n_bytes - first.offset, 0)
    return int(_SLACK * first.t.size * n_bytes_all / n_bytes_first)
