"""Messages over zenoh, with or without a router; bridges of ROS 2 use the same keys and bytes."""

import json
import logging
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl

from evcrisp.core.errors import ConfigError, EvError, Setting
from evcrisp.core.registry import require
from evcrisp.streaming.addresses import is_loopback
from evcrisp.streaming.ros.links import MessageSink, MessageSource

logger = logging.getLogger(__name__)

SCHEME = "zenoh://"
#: Where routers wait by default, also that of ROS.
ROUTER = "tcp/127.0.0.1:7447"


class ZenohSource(MessageSource):
    """Messages under a key of zenoh."""

    def __init__(
        self,
        address: str,
        *,
        resolution: tuple[int, int] | None = None,
        reconnect: bool = False,
        bind: str | None = None,
    ) -> None:
        super().__init__(address, resolution)
        self._key, self._session = open_session(address, reconnect=reconnect, bind=bind)
        self._subscriber: Any = None

    def subscribe(self, take: Callable[[bytes], None]) -> None:
        """Declare the subscriber."""
        self._subscriber = self._session.declare_subscriber(
            self._key, lambda sample: take(sample.payload.to_bytes())
        )

    def unsubscribe(self) -> None:
        """Close the session."""
        if not self._session.is_closed():
            self._session.close()


class ZenohSink(MessageSink):
    """Publishes messages under a key of zenoh."""

    def __init__(self, address: str, *, bind: str | None = None) -> None:
        super().__init__(address)
        zenoh = require("zenoh", extra="zenoh", purpose="zenoh addresses")
        self._key, self._session = open_session(address, bind=bind)
        self._publisher = self._session.declare_publisher(
            self._key, congestion_control=zenoh.CongestionControl.BLOCK
        )

    def publish(self, data: bytes) -> None:
        """Send a message; a slow receiver holds the session up rather than losing it."""
        self._publisher.put(data)

    def close(self, *, is_complete: bool) -> None:
        """Close the session."""
        if not self._session.is_closed():
            self._session.close()


def parse_address(address: str) -> tuple[str, str, str]:
    """Return the key, where to connect, and where to listen.

    >>> parse_address("zenoh://event_camera/events")
    ('event_camera/events', 'tcp/127.0.0.1:7447', '')
    >>> parse_address("zenoh://events?listen=tcp/127.0.0.1:7448")
    ('events', '', 'tcp/127.0.0.1:7448')
    """
    key, _, query = address.removeprefix(SCHEME).partition("?")
    fields = dict(parse_qsl(query))
    if not key or set(fields) - {"connect", "listen"} or (query and not fields):
        raise ConfigError(
            "Expected zenoh://KEY, zenoh://KEY?connect=tcp/HOST:PORT or "
            f"zenoh://KEY?listen=tcp/HOST:PORT; got {address!r}."
        )
    listen = fields.get("listen", "")
    return key, fields.get("connect", "" if listen else ROUTER), listen


def open_session(
    address: str, *, reconnect: bool = False, bind: str | None = None
) -> tuple[str, Any]:
    """Return the key of an address, and an open session; raise if it cannot be reached."""
    key, connect, listen = parse_address(address)
    zenoh = require("zenoh", extra="zenoh", purpose="zenoh addresses")
    host = listen.partition("/")[2].rpartition(":")[0].strip("[]")
    if listen and not is_loopback(host):
        if bind is None:
            problem = f"{address} admits other machines; the default is this machine only."
            raise ConfigError(problem, remedy=Setting("Admit them", "bind", host))
        logger.warning("%s admits other machines, without a password.", address)
    config = zenoh.Config()
    settings = {
        "mode": "peer",
        "scouting/multicast/enabled": False,  # no other machine is asked
        "listen/endpoints": [listen] if listen else [],
        "connect/endpoints": [connect] if connect else [],
        # A negative time waits for ever.
        "connect/timeout_ms": -1 if reconnect else 2_000,
        "connect/exit_on_failure": not reconnect,
    }
    try:
        for name, value in settings.items():
            config.insert_json5(name, json.dumps(value))
        session = zenoh.open(config)
        zenoh.KeyExpr(key)
    except zenoh.ZError as error:
        reason = str(error).split(" at ")[0].rstrip("!.")
        remedy = "Start a router, or the other program with `?listen=`." if connect else None
        raise EvError(f"{address} cannot be used: {reason}.", remedy=remedy) from error
    return key, session
