"""Decode the payload of event_camera_msgs/EventPacket in the encodings of camera drivers.

=============== ================================================== ============
encoding        payload                                            time
=============== ================================================== ============
``evt3``        EVT 3.0 words of Prophesee sensors                 sensor clock
``libcaer_cmp`` 16-bit words, see ``kernels/io/libcaer.py``        base + us
``libcaer``     address and time of libcaer, 4 bytes each          base + us
``mono``        8 bytes: polarity, y, x, time (deprecated)         base + ns
=============== ================================================== ============

The base is ``time_base`` of the message, in ns.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import FormatError
from evcrisp.core.messages import counted
from evcrisp.core.sensor_data import Triggers
from evcrisp.io.prophesee.evt_decoder import Evt3Decoder
from evcrisp.io.protocol import PACKET_EVENTS, Columns, located
from evcrisp.io.ros.messages import EventPacket

#: Words of libcaer_cmp for one packet; a word has up to 8 events.
_BLOCK_WORDS = PACKET_EVENTS // 8


class PacketDecoder:
    """Decode the messages of one topic; keeps the state of the encoding between messages."""

    def __init__(self) -> None:
        self._evt3: Evt3Decoder | None = None
        self._libcaer_state: NDArray[np.int64] | None = None

    def decode(self, packet: EventPacket, offset: int) -> Iterator[Columns]:
        """Yield the events of one message, in pieces of bounded size."""
        decoders: dict[str, Callable[[EventPacket], Iterator[Columns]]] = {
            "evt3": self._decode_evt3,
            "libcaer_cmp": self._decode_libcaer_cmp,
            "libcaer": _decode_libcaer,
            "mono": _decode_mono,
        }
        if packet.encoding not in decoders:
            reason = f"unknown encoding {packet.encoding!r} of events; known: {', '.join(decoders)}"
            raise FormatError(reason, offset=offset)
        with located(offset):
            yield from decoders[packet.encoding](packet)

    def triggers(self) -> Triggers | None:
        """Return the triggers found so far, or None if the encoding has none."""
        return None if self._evt3 is None else self._evt3.triggers()

    def _decode_evt3(self, packet: EventPacket) -> Iterator[Columns]:
        if self._evt3 is None:
            self._evt3 = Evt3Decoder()
        yield from self._evt3.pieces(_words(packet, "u2", 2), PACKET_EVENTS)

    def _decode_libcaer_cmp(self, packet: EventPacket) -> Iterator[Columns]:
        from evcrisp.kernels.io.libcaer import STATE_SIZE, count_libcaer, decode_libcaer

        if self._libcaer_state is None:
            self._libcaer_state = np.zeros(STATE_SIZE, np.int64)
        state = self._libcaer_state
        state[:2] = 0  # time is relative to the base of the message
        t_base = _microseconds(packet.time_base)
        for words in _blocks(_words(packet, "u2", 2)):
            n_events, n_good = count_libcaer(words)
            columns = Columns.empty(n_events)
            decode_libcaer(words[:n_good], t_base, state, *columns)
            yield columns
            if n_good < words.size:
                raise FormatError(f"unknown libcaer_cmp word {words[n_good]:#06x}")


def _words(packet: EventPacket, kind: str, unit: int) -> NDArray[Any]:
    """Return the payload as words of the machine's byte order."""
    if len(packet.data) % unit:
        found = counted(len(packet.data), "byte")
        raise FormatError(
            f"the size of {packet.encoding} must be a multiple of {unit}; got {found}"
        )
    stored = np.frombuffer(packet.data, (">" if packet.big_endian else "<") + kind)
    return np.ascontiguousarray(stored, stored.dtype.newbyteorder("="))


def _blocks(words: NDArray[Any]) -> Iterator[NDArray[Any]]:
    for first in range(0, words.size, _BLOCK_WORDS):
        yield words[first : first + _BLOCK_WORDS]


def _parts(columns: Columns) -> Iterator[Columns]:
    for first in range(0, columns.t.size, PACKET_EVENTS):
        yield columns.part(slice(first, first + PACKET_EVENTS))


def _microseconds(nanoseconds: int) -> int:
    if nanoseconds >= 1 << 63:
        raise FormatError(f"the time base of a message is impossible: {nanoseconds} ns")
    return nanoseconds // 1000


def _decode_libcaer(packet: EventPacket) -> Iterator[Columns]:
    """Decode pairs of address (x 15 bits, y 15, polarity 1, valid 1) and time (31 bits, us)."""
    words = _words(packet, "u4", 8)
    address, time = words[0::2], words[1::2].astype(np.int64) & 0x7FFF_FFFF
    # The base has the higher bits. Within a message, a step back of half the range is a wrap; a
    # smaller step back is damage, which the check of the order reports.
    loops = np.zeros(time.size, np.int64)
    np.cumsum(time[:-1] - time[1:] >= 1 << 30, out=loops[1:])
    yield from _parts(
        Columns(
            ((address >> 17) & 0x7FFF).astype(np.uint16),
            ((address >> 2) & 0x7FFF).astype(np.uint16),
            _microseconds(packet.time_base) + (loops << 31) + time,
            (address & 2) != 0,
        )
    )


def _decode_mono(packet: EventPacket) -> Iterator[Columns]:
    halves = _words(packet, "u8", 8)
    time = (halves & 0xFFFF_FFFF).astype(np.int64)
    yield from _parts(
        Columns(
            ((halves >> 32) & 0xFFFF).astype(np.uint16),
            ((halves >> 48) & 0x7FFF).astype(np.uint16),
            _microseconds(packet.time_base) + (packet.time_base % 1000 + time) // 1000,
            (halves >> 63) != 0,
        )
    )
