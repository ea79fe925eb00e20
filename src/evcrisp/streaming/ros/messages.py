"""Encode events as event_camera_msgs/EventPacket in CDR, and decode such messages."""

from collections.abc import Iterator

from evcrisp.core.errors import FormatError
from evcrisp.core.events import Events
from evcrisp.io.protocol import Columns
from evcrisp.io.ros.container import OutputTopic
from evcrisp.io.ros.event_packets import PacketDecoder
from evcrisp.io.ros.messages import Cursor, EventPacket, event_packet
from evcrisp.io.ros.sensor_messages import BagKind
from evcrisp.io.ros.sink import RosSink
from evcrisp.streaming.protocol import SourceCounts

_KIND = BagKind(title="A ROS 2 message", cdr=True, max_time=(1 << 31) * 1_000_000)


class MessageEncoder:
    """Turns events into messages; each can be decoded on its own, but for loops of the clock."""

    def __init__(self, resolution: tuple[int, int]) -> None:
        self._made: list[bytes] = []
        self._sink = RosSink(self, resolution, _KIND)

    def encode(self, events: Events) -> list[bytes]:
        """Return the messages of events: one per 10 ms, or per 65536 events."""
        self._sink.write(events)
        self._sink.flush()
        made, self._made = self._made, []
        return made

    def write(self, topic: OutputTopic, t: int, data: bytes) -> None:
        """Take a message from the encoder of bags."""
        self._made.append(data)

    def finish(self) -> None:
        """Do nothing: messages are taken at once."""

    def abort(self) -> None:
        """Do nothing."""


class MessageDecoder:
    """Turns messages into columns; counts those that did not arrive."""

    def __init__(self, counts: SourceCounts) -> None:
        self._decoder = PacketDecoder(keep_triggers=False)
        self._counts = counts
        self._next: int | None = None  # sequence number

    def decode(self, data: bytes) -> Iterator[Columns | FormatError]:
        """Yield the events of a message, or what is wrong with it."""
        try:
            packet = parse(data)
            if self._next is not None and packet.seq > self._next:
                self._counts.n_lost += packet.seq - self._next
            self._next = packet.seq + 1
            yield from self._decoder.decode(packet, 0)
        except FormatError as error:
            yield error


def parse(data: bytes) -> EventPacket:
    """Return the fields of a message; raise FormatError if it is none.

    >>> parse(b"no message")
    Traceback (most recent call last):
    evcrisp.core.errors.FormatError: a message is not plain CDR; it starts with b'no m' (byte 0, after 0 events).
    """
    packet = event_packet(Cursor(memoryview(data), cdr=True))
    if not all(0 < side <= 1 << 15 for side in packet.resolution):
        raise FormatError(f"a message states a sensor of {packet.resolution} px")
    return packet
