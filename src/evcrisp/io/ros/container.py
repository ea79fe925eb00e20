"""What the containers of ROS messages have in common when they are written."""

from dataclasses import dataclass, field
from typing import Protocol

from evcrisp.io.ros.definitions import EVENT_PACKET, IMAGE, IMU, MessageType

#: Size at which a chunk of messages is closed, bytes. Recorders use 1 MiB; parts of a bag read less so.
CHUNK_BYTES = 1 << 17


@dataclass(frozen=True, slots=True)
class OutputTopic:
    """A topic that is written."""

    name: str
    type: MessageType


EVENT_TOPIC = OutputTopic("/event_camera/events", EVENT_PACKET)
IMU_TOPIC = OutputTopic("/event_camera/imu", IMU)
IMAGE_TOPIC = OutputTopic("/event_camera/image_raw", IMAGE)


class OutputContainer(Protocol):
    """An open container of serialized messages."""

    def write(self, topic: OutputTopic, t: int, data: bytes) -> None:
        """Append a message; ``t`` in ns."""
        ...

    def finish(self) -> None:
        """Write the index and close the file."""
        ...

    def abort(self) -> None:
        """Close the file without completing it."""
        ...


@dataclass(slots=True)
class MessageCounts:
    """Numbers of messages by topic, and their first and last time, ns."""

    by_topic: dict[OutputTopic, int] = field(default_factory=dict)
    t_first: int | None = None
    t_last: int = 0

    @property
    def n_messages(self) -> int:
        """Number of all messages."""
        return sum(self.by_topic.values())

    @property
    def span(self) -> tuple[int, int]:
        """First and last time, ns; zeros without messages."""
        return self.t_first or 0, self.t_last

    def add(self, topic: OutputTopic, t: int) -> None:
        """Count a message."""
        self.by_topic[topic] = self.by_topic.get(topic, 0) + 1
        self.t_first = t if self.t_first is None else min(self.t_first, t)
        self.t_last = max(self.t_last, t)
