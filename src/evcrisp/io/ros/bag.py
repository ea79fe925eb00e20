"""Choose the topics of a ROS bag and convert their messages to events; for ROS 1 and ROS 2.

A bag is a container of serialized messages by topic; see ``rosbag1.py``, ``mcap.py`` and
``readers.py``. `event_packets` decodes the packets of event_camera_msgs. Time is ROS time in dvs_msgs, IMU
samples and frames.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from evcrisp.core.errors import FormatError
from evcrisp.core.sensor_data import Frame, Imu, Triggers
from evcrisp.io.event_columns import row_before
from evcrisp.io.protocol import (
    PACKET_EVENTS,
    Packet,
    Source,
    Stream,
    keeping,
    slices,
)
from evcrisp.io.ros import messages
from evcrisp.io.ros.event_packets import PacketDecoder, evt3_origin, packet_words
from evcrisp.io.ros.messages import EventPacket

logger = logging.getLogger(__name__)

T = TypeVar("T")
Stamped = TypeVar("Stamped", messages.ImuSample, messages.Image)

_ARRAY_TYPES = ("dvs_msgs/EventArray", "prophesee_event_msgs/EventArray")
_PACKET_TYPES = ("event_camera_msgs/EventPacket", "event_array_msgs/EventArray")
_EVENT_TYPES = _ARRAY_TYPES + _PACKET_TYPES
_IMU_TYPE, _IMAGE_TYPE = "sensor_msgs/Imu", "sensor_msgs/Image"

#: Messages are joined up to this many events; more would only cost copies.
_ENOUGH = PACKET_EVENTS // 16

#: Messages whose stamps relate the sensor's clock to ROS time.
_STAMPED_MESSAGES = 16

#: Encodings with time since the start of the sensor.
_SENSOR_CLOCK = ("evt3", "mono")
#: Encodings whose messages do not continue those before them.
_INDEPENDENT = ("libcaer", "mono")
#: IMU samples and images may be this much out of order, us.
_DISORDER_US = 1_000_000


class Topic(NamedTuple):
    """A named stream of messages of one type."""

    name: str
    type: str  # "dvs_msgs/EventArray", in the short form of ROS 1
    wire: str  # serialization: "ros1" or "cdr"; others are not read


class Message(NamedTuple):
    """A serialized message."""

    data: memoryview
    offset: int  # byte of the file, or of the start of the chunk that holds it


class Bag(Protocol):
    """A container of messages. Several iterations over ``messages`` can run at once."""

    path: Path
    topics: list[Topic]

    def messages(self, topic: str, start: int | None = None) -> Iterator[Message]:
        """Yield the messages of a topic in file order, from a place on, and raise at damage."""
        ...

    def places(self, topic: str) -> list[int]:
        """Return where `messages` of a topic can start, in order; none without an index.

        A place is the byte of a chunk, or the id of a row.
        """
        ...


def short_type(name: str) -> str:
    """Convert a type name of ROS 2 to that of ROS 1: a/msg/B becomes a/B."""
    return name.replace("/msg/", "/")


@dataclass(slots=True, kw_only=True)
class RosSource(Source):
    """An open bag: one topic of events, and the topics of its IMU and frames."""

    bag: Bag
    events: Topic
    inertial: Topic | None = None
    images: Topic | None = None
    span: tuple[int, int | None] | None = None  # us, to skip messages outside
    _triggers: Triggers | None = None

    def between(self, t_start: int, t_end: int | None) -> "RosSource":
        """Return a source that finds the first messages through the index of the bag."""
        return replace(self, span=(t_start, t_end), _triggers=None)

    def packets(self) -> Iterator[Packet]:
        """Yield the events in file order."""
        yield from _gathered(self._pieces())

    def imu(self) -> Imu | None:
        """Return all IMU samples of the topic nearest to the events."""
        if self.inertial is None:
            return None
        samples: list[messages.ImuSample] = []
        with keeping(lambda: _as_imu(samples)):
            for sample, _ in self._stamped(self.inertial, messages.imu_sample):
                samples.append(sample)
        return _as_imu(samples)

    def triggers(self) -> Triggers | None:
        """Return the triggers among the events; decodes the events unless `packets` has."""
        if self.events.type in _ARRAY_TYPES:
            return None
        if self._triggers is None:
            with keeping(lambda: self._triggers):
                for _ in self._pieces():
                    pass
        return self._triggers

    def streams(self) -> list[Stream]:
        """Return the topics with events, IMU samples or images.

        A name needs no slash in front; the part before the last names a topic too, such as ``left`` of
        ``/left/events``.
        """
        kinds = dict.fromkeys(_EVENT_TYPES, "events")
        kinds |= {_IMU_TYPE: "imu", _IMAGE_TYPE: "frames"}
        return [
            Stream(
                topic.name,
                kinds[topic.type],
                self.resolution if topic == self.events else None,
                aliases=_aliases(topic),
            )
            for topic in sorted(self.bag.topics)
            if topic.type in kinds
        ]

    def choose(self, stream: str) -> "RosSource":
        """Return the source of another topic of events."""
        return self if stream == self.events.name else open_bag(self.bag, stream)

    def frames(self) -> Iterator[Frame]:
        """Yield the frames of the topic nearest to the events."""
        if self.images is None:
            return
        for image, message in self._stamped(self.images, messages.image):
            frame = messages.as_frame(image, message.offset)
            if frame is None:
                text = "%s: images of %s have the unknown encoding %r; they are left out."
                logger.warning(text, self.bag.path, self.images.name, image.encoding)
                return
            yield frame

    def _pieces(self, start: int | None = None) -> Iterator[Packet]:
        """Yield the events of messages, from a place or the start of the span on."""
        start = self._event_start() if start is None else start
        if self.events.type in _ARRAY_TYPES:
            yield from self._array_pieces(start)
            return
        decoder = PacketDecoder()
        t_end = None if self.span is None else self.span[1]
        try:
            for packet, message in self._parsed(self.events, messages.event_packet, start):
                for columns in decoder.decode(packet, message.offset):
                    yield Packet(*columns, offset=message.offset)
                    if t_end is not None and columns.t.size and columns.t[-1] >= t_end:
                        self._triggers = decoder.triggers()
                        return
        except FormatError:
            self._triggers = decoder.triggers()  # those before the damage
            raise
        self._triggers = decoder.triggers()

    def _event_start(self) -> int | None:
        """Return the last place whose first event is before the span; None for the whole bag."""
        if self.span is None or not self._has_independent_messages():
            return None
        places = self.bag.places(self.events.name)

        def time_of(number: int) -> int | None:
            whole = replace(self, span=None)
            try:
                times = (int(p.t[0]) for p in whole._pieces(places[number]) if p.t.size)
                return next(times, None)
            except FormatError:
                return None  # reading the events reports the damage

        return places[row_before(self.span[0], len(places), time_of)] if places else None

    def _has_independent_messages(self) -> bool:
        """Return whether messages are decoded without those before them."""
        encoding = self.metadata.get("encoding")
        return self.events.type in _ARRAY_TYPES or encoding in _INDEPENDENT

    def _stamped(
        self, topic: Topic, parse: Callable[[messages.Cursor], Stamped]
    ) -> Iterator[tuple[Stamped, Message]]:
        """Yield the parsed messages of a topic around the span, by the time of their header."""
        if self.span is None:
            yield from self._parsed(topic, parse)
            return
        first, last = (None if t is None else t + self.sensor_clock_offset for t in self.span)
        places = self.bag.places(topic.name)

        def time_of(number: int) -> int | None:
            found = next(self._parsed(topic, parse, places[number]), None)
            return None if found is None else found[0].stamp

        number = row_before((first or 0) - _DISORDER_US, len(places), time_of)
        for parsed, message in self._parsed(topic, parse, places[number] if places else None):
            yield parsed, message
            if last is not None and parsed.stamp >= last + _DISORDER_US:
                return

    def _array_pieces(self, start: int | None) -> Iterator[Packet]:
        for array, message in self._parsed(self.events, messages.event_array, start):
            for part in slices(array.t.size, PACKET_EVENTS):
                x, y, t = array.x[part], array.y[part], array.t[part]
                p = array.p[part] != 0
                yield Packet(x.astype(np.uint16), y.astype(np.uint16), t, p, message.offset)

    def _parsed(
        self, topic: Topic, parse: Callable[[messages.Cursor], T], start: int | None = None
    ) -> Iterator[tuple[T, Message]]:
        """Yield the parsed messages of a topic, from a place on; errors name the message."""
        for number, message in enumerate(self.bag.messages(topic.name, start)):
            try:
                parsed = parse(messages.Cursor(message.data, cdr=topic.wire == "cdr"))
            except FormatError as error:
                where = f" (message {number} of {topic.name})"
                raise FormatError(error.reason + where, offset=message.offset) from error
            yield parsed, message


def _as_imu(samples: list[messages.ImuSample]) -> Imu:
    return Imu(
        t=np.array([sample.stamp for sample in samples], np.int64),
        gyro_rad_s=np.array([sample.gyro for sample in samples], np.float64).reshape(-1, 3),
        accel_m_s2=np.array([sample.accel for sample in samples], np.float64).reshape(-1, 3),
    )


def _gathered(pieces: Iterator[Packet]) -> Iterator[Packet]:
    """Join the events of messages to packets; yields all events before an exception."""
    pending: list[Packet] = []
    n_pending = 0
    failure: Exception | None = None
    piece: Packet | None
    while True:
        try:
            piece = next(pieces, None)
        except Exception as error:  # raised below, after the events before it
            piece, failure = None, error
        if piece is not None and piece.t.size:
            pending.append(piece)
            n_pending += piece.t.size
        if pending and (piece is None or n_pending >= _ENOUGH):
            yield pending[0] if len(pending) == 1 else _joined(pending)
            pending, n_pending = [], 0
        if failure is not None:
            raise failure
        if piece is None:
            return


def _joined(pieces: list[Packet]) -> Packet:
    columns = zip(*((piece.x, piece.y, piece.t, piece.p) for piece in pieces), strict=True)
    return Packet(*map(np.concatenate, columns), offset=pieces[0].offset)


def open_bag(bag: Bag, name: str | None = None) -> RosSource:
    """Choose the topics of a bag, by default the first with events; its first message has the size."""
    by_name = sorted(bag.topics)
    event_topics = [topic for topic in by_name if topic.type in _EVENT_TYPES]
    if not event_topics:
        found = ", ".join(f"{topic.name} ({topic.type})" for topic in by_name) or "none"
        raise FormatError(f"the bag has no topic of events; its topics are: {found}")
    events = next(topic for topic in event_topics if name in (None, topic.name))
    if events.wire not in ("ros1", "cdr"):
        raise FormatError(f"topic {events.name} is serialized as {events.wire!r}; expected cdr")
    inertial = _nearest(events, [topic for topic in by_name if topic.type == _IMU_TYPE])
    images = [topic for topic in by_name if topic.type == _IMAGE_TYPE]
    siblings = [topic for topic in images if _parent(topic) == _parent(events)]
    source = RosSource(bag=bag, events=events, inertial=inertial, images=_nearest(events, siblings))
    facts = _first_facts(source)
    source.sensor_clock_offset = facts.get("stamp_offset_us") or 0
    source.resolution = facts.pop("resolution", None)
    source.metadata = {
        "topic": events.name,
        "event_topics": [topic.name for topic in event_topics],
        "topics": {topic.name: topic.type for topic in by_name},
        "imu_topic": None if source.inertial is None else source.inertial.name,
        "frame_topic": None if source.images is None else source.images.name,
        **facts,
    }
    return source


def _first_facts(source: RosSource) -> dict[str, Any]:
    """Return the facts of the first message of events; reading the events reports damage."""
    parse: Callable[[messages.Cursor], messages.EventArray | EventPacket]
    parse = messages.event_array if source.events.type in _ARRAY_TYPES else messages.event_packet
    try:
        message, _ = next(source._parsed(source.events, parse))
    except (FormatError, StopIteration):
        return {}
    facts: dict[str, Any] = {"first_stamp_us": message.stamp, "clock": "ros"}
    if all(0 < side <= 65_536 for side in message.resolution):
        facts["resolution"] = message.resolution
    if isinstance(message, EventPacket):
        facts["encoding"] = message.encoding
        has_ros_time = message.encoding not in _SENSOR_CLOCK
        if message.encoding == "evt3" and not len(message.data) % 2:
            has_ros_time = evt3_origin(message, packet_words(message, "u2", 2)) > 0
        facts["clock"] = "ros" if has_ros_time else "sensor"
        if not has_ros_time:
            facts["stamp_offset_us"] = _stamp_offset(source)
    return facts


def _stamp_offset(source: RosSource) -> int | None:
    """Return ROS time minus sensor time, us, from the first messages; None without events.

    Stamps are late by up to some milliseconds, so the smallest difference is the best.
    """
    offsets: list[int] = []
    decoder = PacketDecoder()
    packets = source._parsed(source.events, messages.event_packet)
    with suppress(FormatError):  # reading the events reports it
        for packet, message in islice(packets, _STAMPED_MESSAGES):
            first = [c.t[0] for c in decoder.decode(packet, message.offset) if c.t.size][:1]
            offsets += [packet.stamp - int(t) for t in first]
    return min(offsets, default=None)


def _aliases(topic: Topic) -> tuple[str, ...]:
    """Return other names of a topic: without the slash in front, and the part before the last."""
    others = topic.name.lstrip("/"), _parent(topic).rpartition("/")[-1]
    return tuple(name for name in others if name and name != topic.name)


def _parent(topic: Topic) -> str:
    return topic.name.rpartition("/")[0]


def _nearest(events: Topic, topics: list[Topic]) -> Topic | None:
    """Return the first topic that shares the longest start of its path with the events."""

    def n_shared(topic: Topic) -> int:
        pairs = zip(events.name.split("/"), topic.name.split("/"), strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))

    readable = (topic for topic in topics if topic.wire in ("ros1", "cdr"))
    return max(readable, key=n_shared, default=None)
