"""Connections that wait make room: whoever holds many of them open keeps nobody out."""

from collections.abc import Iterable
from typing import Any

#: Connections that may be open at once; of more, those that have waited longest are closed.
MAX_CONNECTIONS = 64


def yielding(base: Any, limit: int = MAX_CONNECTIONS) -> Any:
    """Return the server's class of connections with the habit of closing idle ones when there are many.

    Parameters
    ----------
    base : type
        The HTTP protocol of uvicorn, of which there is one object per connection.
    limit : int
        How many may be open.
    """

    class Yielding(base):
        def connection_made(self, transport: Any) -> None:
            """Take a connection; one that never asks for anything is closed after a while, too."""
            super().connection_made(transport)
            self.waiting_since = self.loop.time()
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )
            _make_room(self.connections, limit)

        def on_response_complete(self) -> None:
            """Begin to wait for the next request."""
            self.waiting_since = self.loop.time()
            super().on_response_complete()

    return Yielding


def _make_room(connections: Iterable[Any], limit: int) -> None:
    is_open = [one for one in connections if not one.transport.is_closing()]
    if len(is_open) <= limit:
        return
    idle = sorted(filter(_is_idle, is_open), key=lambda one: one.waiting_since)
    for one in idle[: len(is_open) - limit]:
        one.transport.close()


def _is_idle(connection: Any) -> bool:
    """Return whether no request of a connection is being answered; part of one does not count."""
    cycle = connection.cycle
    return cycle is None or cycle.response_complete
