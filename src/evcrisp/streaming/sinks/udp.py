"""Send cleaned events as SPIF over UDP."""

import socket
from contextlib import suppress

from evcrisp.core.errors import EventDataError, OutputError
from evcrisp.core.events import Events
from evcrisp.io.protocol import slices
from evcrisp.streaming.addresses import Address
from evcrisp.streaming.protocol import LiveSink
from evcrisp.streaming.spif import EVENTS_PER_PACKET, encode

_MAX_SIDE_PX = 1 << 15


class UdpSink(LiveSink):
    """A port of this or another machine; whether anyone receives the events is unknown."""

    def __init__(self, address: Address) -> None:
        self.name = str(address)
        family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_DGRAM)
        try:
            self._socket.connect((address.host, address.port))
        except (OSError, OverflowError) as error:
            self._socket.close()
            reason = getattr(error, "strerror", None) or error
            raise OutputError(f"No events can be sent to {address}: {reason}.") from error

    def open(self, resolution: tuple[int, int]) -> None:
        """Check that coordinates fit into 15 bits."""
        if max(resolution) > _MAX_SIDE_PX:
            raise EventDataError(f"SPIF keeps coordinates up to 32767; got {resolution} px.")

    def write(self, events: Events) -> None:
        """Send events in packets."""
        for part in slices(len(events), EVENTS_PER_PACKET):
            with suppress(ConnectionRefusedError):  # nobody listens at present
                self._socket.send(encode(events[part]))

    def close(self, *, is_complete: bool) -> None:
        """Close the socket."""
        self._socket.close()
