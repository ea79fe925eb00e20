"""Limit the number of open connections: close those that are idle longest."""

from collections.abc import Iterable
from typing import Any

#: Open connections; a browser uses about six.
MAX_CONNECTIONS = 64


def limit_connections(base: Any, limit: int = MAX_CONNECTIONS) -> Any:
    """Return a subclass of uvicorn's HTTP protocol that closes idle connections above a limit.

    Uvicorn makes one object of ``base`` per connection.
    """

    class LimitedProtocol(base):
        def connection_made(self, transport: Any) -> None:
            """Accept a connection; close it after a time without any request."""
            super().connection_made(transport)
            self.idle_since = self.loop.time()
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )
            _close_idle(self.connections, limit)

        def on_response_complete(self) -> None:
            """Begin to wait for the next request."""
            self.idle_since = self.loop.time()
            super().on_response_complete()

    return LimitedProtocol


def _close_idle(connections: Iterable[Any], limit: int) -> None:
    is_open = [one for one in connections if not one.transport.is_closing()]
    if len(is_open) <= limit:
        return
    idle = sorted(filter(_is_idle, is_open), key=lambda one: one.idle_since)
    for one in idle[: len(is_open) - limit]:
        one.transport.close()


def _is_idle(connection: Any) -> bool:
    """Return whether no complete request of a connection is being answered."""
    cycle = connection.cycle
    return cycle is None or cycle.response_complete
