"""Sources and sinks of messages, whatever carries them."""

import logging
from abc import abstractmethod
from collections.abc import Callable, Iterator

from evcrisp.core.errors import EvError, FormatError
from evcrisp.core.events import Events
from evcrisp.streaming.bounded_queue import BoundedQueue
from evcrisp.streaming.checked_stream import CheckedStream
from evcrisp.streaming.protocol import LiveSink, LiveSource, SourceCounts
from evcrisp.streaming.ros.messages import MessageDecoder, MessageEncoder, parse

logger = logging.getLogger(__name__)

#: Bytes of messages that wait to be decoded; the oldest are dropped, and counted as lost.
_MAX_WAITING_BYTES = 1 << 26


class MessageSource(LiveSource):
    """Events of messages; the source ends when it is closed."""

    can_wait = False

    def __init__(self, name: str, resolution: tuple[int, int] | None) -> None:
        self.name, self.counts = name, SourceCounts()
        self._given = resolution
        self._queue = BoundedQueue[bytes](_MAX_WAITING_BYTES)
        self._first: bytes | None = None
        self._resolution: tuple[int, int] | None = None

    @abstractmethod
    def subscribe(self, take: Callable[[bytes], None]) -> None:
        """Call ``take`` with every message from now on, from any thread."""

    @abstractmethod
    def unsubscribe(self) -> None:
        """End the calls."""

    def open(self) -> tuple[int, int]:
        """Wait for the first good message, which states the sensor size."""
        self.subscribe(lambda data: self._queue.put(data, max(len(data), 1)))
        logger.info("Waiting for messages of %s.", self.name)
        for data in self._queue:
            try:
                self._resolution = self._given or parse(data).resolution
            except FormatError as error:
                CheckedStream((1, 1), self.counts).skip(error.reason)
                continue
            self._first = data
            return self._resolution
        raise EvError(f"Stopped before {self.name} sent a message.")

    def chunks(self) -> Iterator[Events]:
        """Yield the events of good messages."""
        assert self._resolution is not None
        checked, decoder = CheckedStream(self._resolution, self.counts), MessageDecoder(self.counts)
        data = self._first
        while data is not None:
            for found in decoder.decode(data):
                if isinstance(found, FormatError):
                    checked.skip(found.reason)
                elif (events := checked.accept(found)) is not None:
                    yield events
            data = self._queue.get()

    def close(self) -> None:
        """End the source."""
        self._queue.end()
        self.unsubscribe()


class MessageSink(LiveSink):
    """Publishes events as messages; whether anyone receives them is unknown."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._encoder: MessageEncoder | None = None

    @abstractmethod
    def publish(self, data: bytes) -> None:
        """Send a message."""

    def open(self, resolution: tuple[int, int]) -> None:
        """Start to encode for a sensor."""
        self._encoder = MessageEncoder(resolution)

    def write(self, events: Events) -> None:
        """Send events in messages of at most 10 ms."""
        assert self._encoder is not None
        for data in self._encoder.encode(events):
            self.publish(data)
