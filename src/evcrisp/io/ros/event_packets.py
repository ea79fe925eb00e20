"""Decode the packets of event_camera_msgs, in the encodings of camera drivers.

=============== ================================================== ============
encoding        payload                                            time
=============== ================================================== ============
``evt3``        EVT 3.0 words of Prophesee sensors                 sensor clock (`evt3_origin`)
``libcaer_cmp`` 16-bit words, see ``kernels/io/libcaer.py``        base + us
``libcaer``     address and time of libcaer, 4 bytes each          base + us
``mono``        8 bytes: polarity, y, x, time (deprecated)         base + ns
=============== ================================================== ============

The base is ``time_base`` of the message, in ns. Time is ROS time in both encodings of libcaer, else
sensor time.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import FormatError
from evcrisp.core.messages import counted
from evcrisp.core.sensor_data import Triggers
from evcrisp.io.prophesee.evt_decoder import Evt3Decoder
from evcrisp.io.protocol import PACKET_EVENTS, Columns, located, slices
from evcrisp.io.ros.messages import EventPacket


class PacketDecoder:
    """Decode the messages of one topic; keeps the state of the encoding between messages."""

    def __init__(self, *, keep_triggers: bool = True) -> None:
        self._keep_triggers = keep_triggers
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
        words = packet_words(packet, "u2", 2)
        if self._evt3 is None:
            t_base = evt3_origin(packet, words)
            self._evt3 = Evt3Decoder(t_base=t_base, keep_triggers=self._keep_triggers)
        return self._evt3.pieces(words, PACKET_EVENTS)

    def _decode_libcaer_cmp(self, packet: EventPacket) -> Iterator[Columns]:
        from evcrisp.kernels.io.libcaer import STATE_SIZE, count_libcaer, decode_libcaer

        if self._libcaer_state is None:
            self._libcaer_state = np.zeros(STATE_SIZE, np.int64)
        state = self._libcaer_state
        state[:2] = 0  # time is relative to the base of the message
        t_base = _microseconds(packet.time_base)
        all_words = packet_words(packet, "u2", 2)
        for part in slices(all_words.size, PACKET_EVENTS // 8):  # a word has up to 8 events
            words = all_words[part]
            n_events, n_good = count_libcaer(words)
            columns = Columns.empty(n_events)
            decode_libcaer(words[:n_good], t_base, state, *columns)
            yield columns
            if n_good < words.size:
                raise FormatError(f"unknown libcaer_cmp word {words[n_good]:#06x}")


def packet_words(packet: EventPacket, kind: str, unit: int) -> NDArray[Any]:
    """Return the payload as words of the machine's byte order."""
    if len(packet.data) % unit:
        found = f"a multiple of {unit}; got {counted(len(packet.data), 'byte')}"
        raise FormatError(f"the size of {packet.encoding} must be {found}")
    stored = np.frombuffer(packet.data, (">" if packet.big_endian else "<") + kind)
    return np.ascontiguousarray(stored, stored.dtype.newbyteorder("="))


def evt3_origin(first: EventPacket, words: NDArray[Any]) -> int:
    """Return the ROS time at which the sensor's clock was 0, us, or 0 if it is unknown.

    Drivers leave the base of EVT 3.0 messages undefined. It is used if it is the time stamp of the
    first message, and the clock starts at 0 there, as evcrisp writes it.
    """
    starts_at_zero = words[:2].tolist() == [0x8000, 0x6000]
    return first.stamp if starts_at_zero and first.time_base == first.stamp * 1000 else 0


def _microseconds(nanoseconds: int) -> int:
    if nanoseconds >= 1 << 63:
        raise FormatError(f"the time base of a message is impossible: {nanoseconds} ns")
    return nanoseconds // 1000


def _decode_libcaer(packet: EventPacket) -> Iterator[Columns]:
    """Decode pairs of address (x 15 bits, y 15, polarity 1, valid 1) and time (31 bits, us)."""
    words = packet_words(packet, "u4", 8)
    address, time = words[0::2], words[1::2].astype(np.int64) & 0x7FFF_FFFF
    # The base has the higher bits. Within a message, a step back of half the range is a wrap; a
    # smaller step back is damage, which the check of the order reports.
    loops = np.zeros(time.size, np.int64)
    np.cumsum(time[:-1] - time[1:] >= 1 << 30, out=loops[1:])
    columns = Columns(
        ((address >> 17) & 0x7FFF).astype(np.uint16),
        ((address >> 2) & 0x7FFF).astype(np.uint16),
        _microseconds(packet.time_base) + (loops << 31) + time,
        (address & 2) != 0,
    )
    return columns.parts(PACKET_EVENTS)


def _decode_mono(packet: EventPacket) -> Iterator[Columns]:
    halves = packet_words(packet, "u8", 8)
    time = (halves & 0xFFFF_FFFF).astype(np.int64)
    columns = Columns(
        ((halves >> 32) & 0xFFFF).astype(np.uint16),
        ((halves >> 48) & 0x7FFF).astype(np.uint16),
        _microseconds(packet.time_base) + (packet.time_base % 1000 + time) // 1000,
        (halves >> 63) != 0,
    )
    return columns.parts(PACKET_EVENTS)
