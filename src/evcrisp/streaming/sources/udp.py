"""Receive SPIF events over UDP."""

import socket
import threading
import time
from collections.abc import Iterator

from evcrisp.core.errors import ConfigError, EvError, FormatError
from evcrisp.core.events import Events
from evcrisp.streaming.addresses import Address
from evcrisp.streaming.checked_stream import CheckedStream
from evcrisp.streaming.protocol import LiveSource, SourceCounts
from evcrisp.streaming.spif import SpifDecoder

#: Time after which a waiting source looks whether it was closed, s.
_POLL_S = 0.1
_MAX_PACKET_BYTES = 1 << 16


class UdpSource(LiveSource):
    """SPIF events that other programs send to a port; the source ends when it is closed."""

    can_wait = False

    def __init__(
        self, address: Address, resolution: tuple[int, int] | None, *, bind: str | None = None
    ) -> None:
        if resolution is None:
            raise ConfigError("is needed: UDP packets do not state it", parameter="resolution")
        self.counts = SourceCounts()
        self._resolution = resolution
        self._stop = threading.Event()
        place = address.bound_to(bind)
        family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_DGRAM)
        self._socket.settimeout(_POLL_S)
        try:
            self._socket.bind((place.host, place.port))
        except (OSError, OverflowError) as error:
            self._socket.close()
            reason = getattr(error, "strerror", None) or error
            raise EvError(f"{place} cannot be received: {reason}.") from error
        self.port: int = self._socket.getsockname()[1]
        self.name = str(Address("udp", place.host, self.port))

    def open(self) -> tuple[int, int]:
        """Return the sensor size that was given."""
        return self._resolution

    def chunks(self) -> Iterator[Events]:
        """Yield the events of each good packet."""
        checked = CheckedStream(self._resolution, self.counts)
        decoder, start = SpifDecoder(), time.monotonic()
        with self._socket:
            while not self._stop.is_set():
                try:
                    data = self._socket.recv(_MAX_PACKET_BYTES)
                except TimeoutError:
                    continue
                try:
                    columns = decoder.decode(data, int(1e6 * (time.monotonic() - start)))
                except FormatError as error:
                    checked.skip(error.reason)
                    continue
                if (events := checked.accept(columns)) is not None:
                    yield events

    def close(self) -> None:
        """End soon."""
        self._stop.set()
