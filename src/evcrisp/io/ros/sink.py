"""Convert events to ROS messages, and write them with the sensor data in the order of time.

Events and triggers become event_camera_msgs/EventPacket with the encoding ``evt3``. A message has
the events of one slot of 10 ms, or a part of it. Each can be decoded on its own, except for the
number of loops of the 24-bit clock.
"""

import heapq
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import OutputError
from evcrisp.core.events import Events
from evcrisp.core.sensor_data import Frame, Imu, Triggers
from evcrisp.io.prophesee.evt_encoder import NO_EDGES, Edges, Evt3Encoder
from evcrisp.io.prophesee.evt_writers import Evt3Writer, possible_edges
from evcrisp.io.protocol import PACKET_EVENTS, Columns, slices
from evcrisp.io.ros import sensor_messages, serialization
from evcrisp.io.ros.container import EVENT_TOPIC, MessageCounts, OutputContainer
from evcrisp.io.ros.sensor_messages import OTHER_FORMAT, BagKind, Item

#: Length of the slots, us; drivers send messages of a few milliseconds.
SLOT_US = 10_000
#: Limit of events per message, for bounded memory.
MAX_EVENTS = 1 << 16


class RosSink:
    """An open bag; sensor data must be given before the first event."""

    def __init__(
        self, container: OutputContainer, resolution: tuple[int, int], kind: BagKind
    ) -> None:
        self.counts = MessageCounts()
        self._container, self._resolution, self._kind = container, resolution, kind
        self._edges = NO_EDGES
        self._others: list[Iterator[Item]] = []  # messages of sensor data, by kind
        self._waiting: Iterator[Item] = iter(())
        self._next: Item | None = None  # the first one that waits
        self._encoder: Evt3Encoder | None = None
        self._t_origin = self._stamp_offset = 0
        self._pending: list[Columns] = []
        self._n_pending, self._slot = 0, -1

    def write_stamp_offset(self, offset: int) -> None:
        """Take ROS time minus the time of the events, us; sensor data has ROS time."""
        self._stamp_offset = offset

    def write_imu(self, imu: Imu) -> None:
        """Take the IMU samples."""
        self._others.append(sensor_messages.imu_messages(imu, self._kind))

    def write_triggers(self, triggers: Triggers) -> None:
        """Take the triggers."""
        self._edges = possible_edges(Evt3Encoder, triggers)

    def write_frames(self, frames: Iterator[Frame]) -> None:
        """Take the frames, which are read while the events come."""
        self._others.append(sensor_messages.frame_messages(frames, self._kind))

    def write(self, events: Events) -> None:
        """Append events."""
        for rows in slices(len(events), PACKET_EVENTS):
            part = events[rows].contiguous()
            encoder = self._started(int(part.t[0]))
            columns = Columns(part.x, part.y, part.t - self._t_origin, part.p)
            slots = columns.t // SLOT_US
            bounds = [0, *(np.flatnonzero(np.diff(slots)) + 1).tolist(), slots.size]
            for first, last in pairwise(bounds):
                self._add(columns.part(slice(first, last)), int(slots[first]), encoder)

    def flush(self) -> None:
        """Write the events so far, for those who wait for them."""
        if self._encoder is not None:
            self._end_message(self._encoder)

    def finish(self) -> None:
        """Write what is pending, and complete the container."""
        encoder = self._started(None)
        self._end_message(encoder)
        if encoder.next_edge is not None or EVENT_TOPIC not in self.counts.by_topic:
            # The triggers after the last event; without events, a message with the sensor size.
            t = encoder.next_edge or 0
            self._write_packet(t, [encoder.restart(), *encoder.finish()])
        self._write_waiting(None)
        self._container.finish()

    def abort(self) -> None:
        """Close the container."""
        self._container.abort()

    def _started(self, first_event: int | None) -> Evt3Encoder:
        """Return the encoder; its clock starts at 0, or at a first time beyond its words."""
        if self._encoder is not None:
            return self._encoder
        edge = int(self._edges.t[0]) if self._edges.t.size else None
        first = min((t for t in (first_event, edge) if t is not None), default=0)
        if first < 0:
            problem = f"no time before 0; the first event is at {first} us"
            raise OutputError(f"{self._kind.title} has {problem}.", remedy=OTHER_FORMAT)
        self._t_origin = first if first >= Evt3Writer.max_start else 0
        edges = Edges(self._edges.t - self._t_origin, self._edges.value)
        self._encoder = Evt3Encoder(self._resolution[0], edges)
        self._waiting = heapq.merge(*self._others, key=lambda item: item.t)
        return self._encoder

    def _add(self, columns: Columns, slot: int, encoder: Evt3Encoder) -> None:
        """Add events of one slot to the pending message, which ends with the slot."""
        if slot != self._slot:
            self._end_message(encoder)
            self._slot = slot
        while columns.t.size:
            n = min(MAX_EVENTS - self._n_pending, columns.t.size)
            self._pending.append(columns.part(slice(n)))
            self._n_pending += n
            columns = columns.part(slice(n, None))
            if self._n_pending == MAX_EVENTS:
                self._end_message(encoder)

    def _end_message(self, encoder: Evt3Encoder) -> None:
        if not self._pending:
            return
        columns = Columns(*map(np.concatenate, zip(*self._pending, strict=True)))
        self._pending, self._n_pending = [], 0
        edge, first = encoder.next_edge, int(columns.t[0])
        t = first if edge is None else min(edge, first)
        self._write_packet(t, [encoder.restart(), *encoder.encode(columns), encoder.flush()])

    def _write_packet(self, t: int, words: list[NDArray[np.uint16]]) -> None:
        """Write a message that starts at a time of the sensor's clock, after earlier data."""
        t += self._t_origin + self._stamp_offset
        self._kind.check_time(t, "an event")
        self._write_waiting(t)
        seq, size = self.counts.by_topic.get(EVENT_TOPIC, 0), self._resolution
        data = serialization.event_packet(
            self._kind.builder(), t, seq, size, self._t_origin, np.concatenate(words)
        )
        self._write_item(Item(t, EVENT_TOPIC, data))

    def _write_waiting(self, t: int | None) -> None:
        """Write the sensor data up to a time, or all of it."""
        item = self._next or next(self._waiting, None)
        while item is not None and (t is None or item.t <= t):
            self._write_item(item)
            item = next(self._waiting, None)
        self._next = item

    def _write_item(self, item: Item) -> None:
        self._container.write(item.topic, item.t * 1000, item.data)
        self.counts.add(item.topic, item.t * 1000)
