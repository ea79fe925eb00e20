"""Messages over DDS, as ROS 2 nodes send them by default."""

import logging
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evcrisp.core.errors import ConfigError, EvError, Setting
from evcrisp.core.registry import require
from evcrisp.streaming.addresses import is_loopback
from evcrisp.streaming.ros.links import MessageSink, MessageSource

logger = logging.getLogger(__name__)

SCHEME = "dds://"
#: Time after which a waiting reader looks whether it was closed, ms.
_POLL_MS = 100
#: Messages that wait in DDS for a reader or a writer.
_DEPTH = 1_000
_CONFIG = """<CycloneDDS><Domain Id="any"><General><Interfaces>
<NetworkInterface address="{address}"/></Interfaces><AllowMulticast>{multicast}</AllowMulticast>
<MaxMessageSize>65500B</MaxMessageSize></General>
<Discovery><ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>32</MaxAutoParticipantIndex>
<Peers><Peer address="{address}"/></Peers></Discovery>
<Internal><SocketReceiveBufferSize min="default" max="8MB"/></Internal></Domain></CycloneDDS>"""

#: Domains of this process, with their configuration; DDS has one per number.
_domains: dict[int, tuple[str, Any]] = {}
_lock = threading.Lock()


class DdsSource(MessageSource):
    """Messages of a topic of DDS; best effort, so that all writers match."""

    def __init__(
        self,
        address: str,
        *,
        resolution: tuple[int, int] | None = None,
        bind: str | None = None,
    ) -> None:
        super().__init__(address, resolution)
        self._participant, self._topic = open_topic(address, bind)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def subscribe(self, take: Callable[[bytes], None]) -> None:
        """Start a thread that takes the messages."""
        from cyclonedds.core import Policy, Qos, ReadCondition, WaitSet
        from cyclonedds.core import SampleState as State
        from cyclonedds.sub import DataReader

        qos = Qos(Policy.Reliability.BestEffort, Policy.History.KeepLast(_DEPTH))
        reader = DataReader(self._participant, self._topic, qos=qos)
        waiting = WaitSet(self._participant)
        waiting.attach(ReadCondition(reader, State.NotRead))

        def run() -> None:
            while not self._stop.is_set():
                if waiting.wait(_POLL_MS * 1_000_000):
                    for sample in reader.take(_DEPTH):
                        if getattr(sample, "data", None) is not None:
                            take(sample.data)

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()

    def unsubscribe(self) -> None:
        """End the thread."""
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(10 * _POLL_MS / 1000)


class DdsSink(MessageSink):
    """Publishes messages in a topic of DDS; reliable, as ROS 2 nodes are by default."""

    def __init__(self, address: str, *, bind: str | None = None) -> None:
        super().__init__(address)
        self._participant, topic = open_topic(address, bind)
        from cyclonedds.core import Policy, Qos
        from cyclonedds.pub import DataWriter
        from cyclonedds.util import duration

        qos = Qos(
            Policy.Reliability.Reliable(duration(milliseconds=100)),
            Policy.History.KeepLast(_DEPTH),
        )
        self._writer = DataWriter(self._participant, topic, qos=qos)

    def publish(self, data: bytes) -> None:
        """Send a message."""
        self._writer.write(_packet_type()(data))

    def close(self, *, is_complete: bool) -> None:
        """Leave the domain; DDS does so when the participant is freed."""
        del self._writer, self._participant


@dataclass(frozen=True, slots=True)
class DdsAddress:
    """Number of a domain, and the name of a topic in ROS."""

    domain: int
    topic: str

    @classmethod
    def parse(cls, address: str) -> "DdsAddress":
        """Parse ``dds://DOMAIN/TOPIC``.

        >>> DdsAddress.parse("dds://0/event_camera/events")
        DdsAddress(domain=0, topic='event_camera/events')
        """
        found = re.fullmatch(r"(\d{1,3})/([A-Za-z_][\w/]*)", address.removeprefix(SCHEME))
        if found is None or int(found[1]) > 232:
            raise ConfigError(
                f"Expected dds://DOMAIN/TOPIC with a domain of 0 to 232; got {address!r}."
            )
        return cls(int(found[1]), found[2])


def open_topic(address: str, bind: str | None) -> tuple[Any, Any]:
    """Return a participant and a topic; other machines are admitted on request only."""
    parsed = DdsAddress.parse(address)
    require("cyclonedds", extra="dds", purpose="DDS addresses")
    from cyclonedds.core import DDSException
    from cyclonedds.domain import Domain, DomainParticipant
    from cyclonedds.topic import Topic

    place = "127.0.0.1" if bind is None else bind
    if not is_loopback(place):
        logger.warning("%s admits other machines, without a password.", address)
    config = _CONFIG.format(address=place, multicast="false" if is_loopback(place) else "spdp")
    with _lock:
        known = _domains.get(parsed.domain)
        if known is not None and known[0] != config:
            raise ConfigError(
                f"Domain {parsed.domain} is in use with another address of this machine.",
                remedy=Setting("Use another domain, or the same", "bind", place),
            )
        try:
            if known is None:
                _domains[parsed.domain] = config, Domain(parsed.domain, config)
            participant = DomainParticipant(parsed.domain)
            # Nodes of ROS 2 put "rt/" before the names of topics.
            topic = Topic(participant, f"rt/{parsed.topic}", _packet_type())
        except DDSException as error:
            raise EvError(f"{address} cannot be used: {error}.") from error
    return participant, topic


def _packet_type() -> Any:
    from evcrisp.streaming.ros.dds_types import EventPacket

    return EventPacket
