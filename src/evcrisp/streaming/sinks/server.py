"""Serve cleaned events as AEDAT4 over TCP or a UNIX socket, for dv-processing's NetworkReader."""

import logging
import socket
import threading
from contextlib import suppress
from pathlib import Path

from evcrisp.core.events import Events
from evcrisp.io.aedat.aedat4_packets import RECORD_BYTES
from evcrisp.streaming.addresses import Address
from evcrisp.streaming.aedat4_wire import packets_of, sensor_packets, stream_start
from evcrisp.streaming.bounded_queue import BoundedQueue
from evcrisp.streaming.protocol import LiveSink
from evcrisp.streaming.sensor_data import KINDS, SensorData

logger = logging.getLogger(__name__)

#: Events that wait for a slow receiver.
_MAX_WAITING_EVENTS = 1 << 20
#: Time that receivers have to take the last events, s.
_LAST_EVENTS_S = 5.0


class ServerSink(LiveSink):
    """A server as a sink: any number of receivers; each gets the events from its connection on.

    Sensor data are sent on request: NetworkReader of dv-processing fails at any stream beside the events.
    """

    def __init__(
        self, address: Address, *, bind: str | None = None, with_sensor_data: bool = False
    ) -> None:
        self.keeps = tuple(KINDS.values()) if with_sensor_data else ()
        self._address = address.bound_to(bind)
        self._server = self._address.listen()
        self._receivers: list[_Receiver] = []
        self._lock = threading.Lock()
        self._n_lost = 0
        self._start = b""
        self._kinds: tuple[str, ...] = ()
        self.port: int = 0 if address.scheme == "unix" else self._server.getsockname()[1]
        self.name = str(Address(self._address.scheme, self._address.host, self.port, address.path))

    @property
    def n_dropped(self) -> int:
        """Events that slow receivers did not get."""
        with self._lock:
            return self._n_lost + sum(receiver.n_dropped for receiver in self._receivers)

    @property
    def n_receivers(self) -> int:
        """Number of programs that are connected."""
        with self._lock:
            return len(self._receivers)

    def expect(self, kinds: tuple[str, ...]) -> None:
        """Declare the streams of sensor data."""
        self._kinds = kinds

    def open(self, resolution: tuple[int, int]) -> None:
        """Accept connections from now on."""
        self._start = stream_start(resolution, self._kinds)
        threading.Thread(target=self._accept, daemon=True).start()

    def write(self, events: Events) -> None:
        """Queue events for every receiver."""
        with self._lock:
            ended = [receiver for receiver in self._receivers if receiver.is_ended]
            self._n_lost += sum(receiver.n_dropped for receiver in ended)
            self._receivers = [r for r in self._receivers if r not in ended]
            receivers = tuple(self._receivers)
        for packet, n in packets_of(events) if receivers else ():
            for receiver in receivers:
                receiver.queue.put(packet, n)

    def write_sensor_data(self, data: SensorData) -> None:
        """Queue sensor data for every receiver; they take the space of events of the same size."""
        with self._lock:
            receivers = tuple(self._receivers)
        for packet in sensor_packets(data) if receivers else ():
            for receiver in receivers:
                receiver.queue.put(packet, len(packet) // RECORD_BYTES)

    def close(self, *, is_complete: bool) -> None:
        """Send the rest, and end all connections."""
        with suppress(OSError):  # not on every system
            self._server.shutdown(socket.SHUT_RDWR)  # ends a waiting `accept`
        self._server.close()
        if self._address.scheme == "unix":
            Path(self._address.path).unlink(missing_ok=True)
        with self._lock:
            receivers = tuple(self._receivers)
        for receiver in receivers:
            receiver.queue.end()
        for receiver in receivers:
            receiver.finish(_LAST_EVENTS_S)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return  # closed
            with self._lock:
                self._receivers.append(_Receiver(connection, self._start, self.name))


class _Receiver:
    """A connection, its queue, and the thread that sends."""

    def __init__(self, connection: socket.socket, start: bytes, name: str) -> None:
        self.queue = BoundedQueue[bytes](_MAX_WAITING_EVENTS)
        self.is_ended = False
        self._connection, self._start, self._name = connection, start, name
        self._thread = threading.Thread(target=self._send, daemon=True)
        self._thread.start()

    @property
    def n_dropped(self) -> int:
        return self.queue.dropped_size

    def finish(self, timeout_s: float) -> None:
        """Wait for the last events; then close the connection."""
        self._thread.join(timeout_s)
        if self._thread.is_alive():
            self.queue.clear()
            self._connection.close()

    def _send(self) -> None:
        try:
            self._connection.sendall(self._start)
            for packet in self.queue:
                self._connection.sendall(packet)
        except OSError:
            logger.info("A receiver of %s has left.", self._name)
        finally:
            self.is_ended = True
            self.queue.end()
            self._connection.close()
