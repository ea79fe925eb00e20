"""Join the packets of a recording to one."""

from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np

from evcrisp.io.protocol import Packet

_DTYPES = {"x": np.uint16, "y": np.uint16, "t": np.int64, "p": np.bool_, "signal": np.bool_}
#: Factor on an estimated number of events, and the share that must be filled to avoid a copy.
_SLACK = 1.05
_FILLED = 0.75


class _Buffer:
    """Columns of a fixed length, filled from the front. Unfilled memory is not touched."""

    def __init__(self, n: int, names: Iterable[str]) -> None:
        self.columns = {name: np.empty(n, _DTYPES[name]) for name in names}
        self.size = n
        self.n = 0

    def add(self, packet: Packet) -> bool:
        """Copy a packet, or return False if it does not fit."""
        n_next = self.n + packet.t.size
        if n_next > self.size:
            return False
        for name, column in self.columns.items():
            column[self.n : n_next] = getattr(packet, name)
        self.n = n_next
        return True

    def packet(self, offset: int) -> Packet:
        columns: dict[str, Any] = {name: column[: self.n] for name, column in self.columns.items()}
        if self.n < _FILLED * self.size:
            columns = {name: column.copy() for name, column in columns.items()}
        return Packet(**columns, offset=offset)


def join(packets: Iterable[Packet], *, n_expected: int | None, n_bytes: int) -> Packet | None:
    """Return all packets as one, or None if there are none. Labels are kept if all have them.

    ``n_expected`` is the number of events stated by the file, else it is estimated from the first
    packet; a wrong number costs time only. ``n_bytes``, the size of the file, limits the allocation.
    Copying each packet while it is in the cache takes half the time of a concatenation at the end.
    """
    packets = iter(packets)
    first, second = next(packets, None), next(packets, None)
    if first is None or second is None:
        return first
    if n_expected is None:
        n_expected = _estimate(first, second, n_bytes)
    is_labeled = first.signal is not None
    buffer = _Buffer(min(n_expected, n_bytes), _DTYPES if is_labeled else tuple(_DTYPES)[:4])
    rest: list[Packet] = []
    for packet in chain((first, second), packets):
        if is_labeled and packet.signal is None:
            is_labeled = False
            del buffer.columns["signal"]
        if rest or not buffer.add(packet):
            rest.append(packet)
    joined = buffer.packet(first.offset)
    if not rest:
        return joined
    parts = [joined, *rest] if buffer.n else rest
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in buffer.columns
    }
    return Packet(**columns, offset=first.offset)


def _estimate(first: Packet, second: Packet, n_bytes: int) -> int:
    """Estimate the number of events from the bytes of the first packet."""
    n_first, n_all = second.offset - first.offset, max(n_bytes - first.offset, 0)
    return int(_SLACK * first.t.size * n_all / n_first) if n_first > 0 else 0
