"""Parse the addresses of network sources and sinks, and make sockets of them."""

import ipaddress
import logging
import socket
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from evcrisp.core.errors import ConfigError, OutputError, Setting

logger = logging.getLogger(__name__)

SCHEMES = ("tcp", "unix", "udp")
#: Time to wait for a connection, s.
_CONNECT_S = 5.0


@dataclass(frozen=True, slots=True)
class Address:
    """A place on the network, or the path of a local socket.

    >>> Address.parse("tcp://127.0.0.1:7777")
    Address(scheme='tcp', host='127.0.0.1', port=7777, path='')
    >>> str(Address.parse("unix:///tmp/camera.sock"))
    'unix:///tmp/camera.sock'
    """

    scheme: str
    host: str = ""
    port: int = 0
    path: str = ""

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Parse ``tcp://HOST:PORT``, ``udp://HOST:PORT`` or ``unix:///PATH``."""
        try:
            parts = urlsplit(text)
            host, port = parts.hostname, parts.port
        except ValueError:  # a port that is no number
            raise _wrong(text) from None
        if parts.scheme == "unix" and not parts.netloc and len(parts.path) > 1:
            return cls("unix", path=parts.path)
        is_plain = parts.path in ("", "/") and not parts.query and parts.username is None
        if parts.scheme not in ("tcp", "udp") or port is None or not is_plain:
            raise _wrong(text)
        return cls(parts.scheme, host or "127.0.0.1", port)

    def __str__(self) -> str:
        if self.scheme == "unix":
            return f"unix://{self.path}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    def bound_to(self, bind: str | None) -> "Address":
        """Return the address on which to receive; other machines are admitted on request only."""
        if self.scheme == "unix":
            return self
        host = self.host if bind is None else bind
        if not is_loopback(host):
            if bind is None:
                problem = f"{self} admits other machines; the default is this machine only."
                raise ConfigError(problem, remedy=Setting("Admit them", "bind", self.host))
            logger.warning("%s:%d admits other machines, without a password.", host, self.port)
        return Address(self.scheme, host, self.port)

    def connect(self) -> socket.socket:
        """Return a socket that is connected to a server."""
        if self.scheme == "unix":
            made = socket.socket(socket.AF_UNIX)
            try:
                made.connect(self.path)
            except BaseException:
                made.close()
                raise
            return made
        made = socket.create_connection((self.host, self.port), timeout=_CONNECT_S)
        made.settimeout(None)
        return made

    def listen(self) -> socket.socket:
        """Return a socket that accepts connections."""
        try:
            if self.scheme != "unix":
                family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
                return socket.create_server((self.host, self.port), family=family)
            if Path(self.path).exists():
                raise OutputError(f"{self.path} exists already.", remedy="Remove it first.")
            return _listen_unix(self.path)
        except (OSError, OverflowError) as error:
            if isinstance(error, OutputError):
                raise
            reason = getattr(error, "strerror", None) or error
            raise OutputError(f"No server can be started at {self}: {reason}.") from error


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches a host.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_address(text: str) -> bool:
    """Return whether a text is an address, not the name of a file."""
    return "://" in text


def _listen_unix(path: str) -> socket.socket:
    made = socket.socket(socket.AF_UNIX)
    try:
        made.bind(path)
        made.listen()
    except BaseException:
        made.close()
        raise
    return made


def _wrong(text: str) -> ConfigError:
    return ConfigError(
        f"Expected an address tcp://HOST:PORT, udp://HOST:PORT, unix:///PATH, zenoh://KEY, "
        f"dds://DOMAIN/TOPIC or usb://NAME; got {text!r}."
    )
