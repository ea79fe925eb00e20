"""Receive AEDAT4 from a server over TCP or a UNIX socket, such as dv-processing's NetworkWriter."""

import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import IO, cast

from evcrisp.core.errors import EventDataError, EvError, FormatError
from evcrisp.core.events import Events
from evcrisp.io.aedat.aedat4_packets import Header
from evcrisp.streaming.addresses import Address
from evcrisp.streaming.aedat4_wire import sensor_kinds
from evcrisp.streaming.checked_stream import CheckedStream
from evcrisp.streaming.protocol import LiveSource, SourceCounts
from evcrisp.streaming.sources.byte_stream import read_events, read_sensor

logger = logging.getLogger(__name__)

#: Time between two attempts to connect, s.
_RETRY_S = 0.5


class SocketSource(LiveSource):
    """Events of an AEDAT4 server.

    With ``reconnect``, the source waits for the server, also when the connection is lost, and ends
    when it is closed.
    """

    can_wait = False

    def __init__(
        self,
        address: Address,
        *,
        resolution: tuple[int, int] | None = None,
        reconnect: bool = False,
    ) -> None:
        self.name = str(address)
        self.counts = SourceCounts()
        self._address, self._given, self._reconnect = address, resolution, reconnect
        self._stop = threading.Event()
        self._socket: socket.socket | None = None
        self._file: IO[bytes] | None = None
        self._header: Header | None = None
        self._resolution: tuple[int, int] | None = None

    def open(self) -> tuple[int, int]:
        """Connect and read the sensor size."""
        if not self._connect():
            raise EvError(f"Stopped before {self.name} accepted a connection.")
        assert self._resolution is not None
        return self._resolution

    def chunks(self) -> Iterator[Events]:
        """Yield the events of good packets."""
        assert self._resolution is not None
        checked = CheckedStream(self._resolution, self.counts)
        while self._file is not None and self._header is not None:
            try:
                yield from read_events(self._file, self._header, checked, self.on_sensor_data)
            except (FormatError, OSError) as error:
                if not self._stop.is_set():
                    self.counts.n_damaged += isinstance(error, FormatError)
                    reason = error.reason if isinstance(error, FormatError) else error
                    logger.warning("The connection to %s is lost: %s.", self.name, reason)
            self._disconnect()
            if self._stop.is_set() or not self._reconnect:
                return
            logger.info("Waiting for %s.", self.name)
            if not self._connect():
                return
            self.counts.n_reconnects += 1
            checked.reconnected()

    def close(self) -> None:
        """Close the connection; a waiting read ends."""
        self._stop.set()
        if self._socket is not None:
            with suppress(OSError):  # the other side has closed it
                self._socket.shutdown(socket.SHUT_RDWR)

    def _connect(self) -> bool:
        """Connect; return False if the source was closed first."""
        while not self._stop.is_set():
            try:
                self._start()
            except (OSError, FormatError) as error:
                self._disconnect()
                if not self._reconnect:
                    raise _refused(self.name, error) from error
                self._stop.wait(_RETRY_S)
            else:
                return True
        return False

    def _start(self) -> None:
        self._socket = self._address.connect()
        file = cast(IO[bytes], self._socket.makefile("rb", buffering=1 << 18))
        self._file = file
        self._header, resolution = read_sensor(file, self._given)
        if self._resolution not in (None, resolution):
            raise EventDataError(
                f"{self.name} came back with another sensor: {resolution} after {self._resolution}."
            )
        self._resolution = resolution
        self.sensor_kinds = sensor_kinds(self._header)

    def _disconnect(self) -> None:
        for item in (self._file, self._socket):
            if item is not None:
                item.close()
        self._file = self._socket = None


def _refused(name: str, error: OSError | FormatError) -> EvError:
    if isinstance(error, FormatError):
        return EvError(f"{name} does not send AEDAT4 events: {error.reason}.")
    reason = error.strerror or error
    return EvError(f"{name} cannot be reached: {reason}.", remedy="Start the server first.")
