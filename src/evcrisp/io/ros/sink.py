"""Convert events and sensor data to ROS messages, in the order of their time.

Events and triggers become event_camera_msgs/EventPacket with the encoding ``evt3``. A message has
the events of one slot of 10 ms, or a part of it. Each can be decoded on its own, except for the
number of loops of the 24-bit clock.
"""

import heapq
import logging
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import OutputError
from evcrisp.core.events import Events
from evcrisp.core.messages import counted
from evcrisp.core.sensor_data import Frame, Imu, Triggers
from evcrisp.io.prophesee.evt_encoder import NO_EDGES, Edges, Evt3Encoder
from evcrisp.io.prophesee.evt_writers import Evt3Writer, possible_edges
from evcrisp.io.protocol import PACKET_EVENTS, Columns, slices
from evcrisp.io.ros import serialization
from evcrisp.io.ros.container import (
    EVENT_TOPIC,
    IMAGE_TOPIC,
    IMU_TOPIC,
    MessageCounts,
    OutputContainer,
    OutputTopic,
)

logger = logging.getLogger(__name__)

#: Length of the slots, us; drivers send messages of a few milliseconds.
SLOT_US = 10_000
#: Limit of events per message, for bounded memory.
MAX_EVENTS = 1 << 16
_KEEP_OTHERWISE = "Use another format, such as aedat4."


class _Item(NamedTuple):
    """A serialized message that waits for its place among the events."""

    t: int  # us
    topic: OutputTopic
    data: bytes


class RosSink:
    """An open bag; sensor data must be given before the first event.

    ``max_time`` is the limit of time stamps, us.
    """

    def __init__(
        self,
        container: OutputContainer,
        resolution: tuple[int, int],
        *,
        cdr: bool,
        title: str,
        max_time: int,
    ) -> None:
        self.counts = MessageCounts()
        self._container, self._resolution = container, resolution
        self._cdr, self._title, self._max_time = cdr, title, max_time
        self._edges = NO_EDGES
        self._imu: Iterator[_Item] = iter(())
        self._frames: Iterator[_Item] = iter(())
        self._waiting: Iterator[_Item] = iter(())
        self._next: _Item | None = None  # the first one that waits
        self._encoder: Evt3Encoder | None = None
        self._t_origin = self._stamp_offset = 0
        self._pending: list[Columns] = []
        self._n_pending, self._slot = 0, -1

    def write_stamp_offset(self, offset: int) -> None:
        """Take ROS time minus the time of the events, us; sensor data has ROS time."""
        self._stamp_offset = offset

    def write_imu(self, imu: Imu) -> None:
        """Take the IMU samples."""
        if imu.temperature_c is not None or imu.magnetic_ut is not None:
            text = "%s keeps no temperature and no magnetic field of IMU samples; left out."
            logger.warning(text, self._title)
        n_early = int((imu.t < 0).sum())
        if n_early:
            self._warn_of_loss(counted(n_early, "IMU sample"), "before time 0")
        self._imu = self._imu_items(imu)

    def write_triggers(self, triggers: Triggers) -> None:
        """Take the triggers."""
        self._edges = possible_edges(Evt3Encoder, triggers)

    def write_frames(self, frames: Iterator[Frame]) -> None:
        """Take the frames, which are read while the events come."""
        self._frames = self._frame_items(frames)

    def write(self, events: Events) -> None:
        """Append events."""
        for rows in slices(len(events), PACKET_EVENTS):
            part = events[rows].contiguous()
            self._start(int(part.t[0]))
            columns = Columns(part.x, part.y, part.t - self._t_origin, part.p)
            slots = columns.t // SLOT_US
            bounds = [0, *(np.flatnonzero(np.diff(slots)) + 1).tolist(), slots.size]
            for first, last in pairwise(bounds):
                self._add(columns.part(slice(first, last)), int(slots[first]))

    def finish(self) -> None:
        """Write what is pending, and complete the container."""
        self._start(None)
        encoder = self._open_encoder()
        self._end_message()
        if encoder.next_edge is not None or EVENT_TOPIC not in self.counts.by_topic:
            # The triggers after the last event; without events, a message with the sensor size.
            t = encoder.next_edge or 0
            self._write_packet(t, [encoder.restart(), *encoder.finish()])
        self._write_waiting(None)
        self._container.finish()

    def abort(self) -> None:
        """Close the container."""
        self._container.abort()

    def _start(self, first_event: int | None) -> None:
        """Choose the origin of the sensor's clock: 0, or a first time beyond its words."""
        if self._encoder is not None:
            return
        edge = int(self._edges.t[0]) if self._edges.t.size else None
        first = min((t for t in (first_event, edge) if t is not None), default=0)
        if first < 0:
            raise OutputError(
                f"{self._title} has no time before 0; the first event is at {first} us.",
                remedy="Shift the time first, or use another format, such as aedat4.",
            )
        self._t_origin = first if first >= Evt3Writer.max_start else 0
        edges = Edges(self._edges.t - self._t_origin, self._edges.value)
        self._encoder = Evt3Encoder(self._resolution[0], edges)
        self._waiting = heapq.merge(self._imu, self._frames, key=lambda item: item.t)

    def _open_encoder(self) -> Evt3Encoder:
        if self._encoder is None:
            raise RuntimeError("the encoder is created before the first message")
        return self._encoder

    def _add(self, columns: Columns, slot: int) -> None:
        """Add events of one slot to the pending message, which ends with the slot."""
        if slot != self._slot:
            self._end_message()
            self._slot = slot
        while columns.t.size:
            n = min(MAX_EVENTS - self._n_pending, columns.t.size)
            self._pending.append(columns.part(slice(n)))
            self._n_pending += n
            columns = columns.part(slice(n, None))
            if self._n_pending == MAX_EVENTS:
                self._end_message()

    def _end_message(self) -> None:
        if not self._pending:
            return
        columns = Columns(*map(np.concatenate, zip(*self._pending, strict=True)))
        self._pending, self._n_pending = [], 0
        encoder = self._open_encoder()
        edge, first = encoder.next_edge, int(columns.t[0])
        t = first if edge is None else min(edge, first)
        self._write_packet(t, [encoder.restart(), *encoder.encode(columns), encoder.flush()])

    def _write_packet(self, t: int, words: list[NDArray[np.uint16]]) -> None:
        """Write a message that starts at a time of the sensor's clock, after earlier data."""
        t += self._t_origin + self._stamp_offset
        self._check_time(t, "an event")
        self._write_waiting(t)
        seq = self.counts.by_topic.get(EVENT_TOPIC, 0)
        builder = serialization.MessageBuilder(cdr=self._cdr)
        size, joined = self._resolution, np.concatenate(words)
        data = serialization.event_packet(builder, t, seq, size, self._t_origin, joined)
        self._write_item(_Item(t, EVENT_TOPIC, data))

    def _write_waiting(self, t: int | None) -> None:
        """Write the sensor data up to a time, or all of it."""
        item = self._next or next(self._waiting, None)
        while item is not None and (t is None or item.t <= t):
            self._write_item(item)
            item = next(self._waiting, None)
        self._next = item

    def _write_item(self, item: _Item) -> None:
        self._container.write(item.topic, item.t * 1000, item.data)
        self.counts.add(item.topic, item.t * 1000)

    def _check_time(self, t: int, what: str) -> None:
        if t >= self._max_time:
            raise OutputError(
                f"{self._title} has no time from {self._max_time} us on; {what} is at {t} us.",
                remedy=f"Shift the time first. {_KEEP_OTHERWISE}",
            )

    def _imu_items(self, imu: Imu) -> Iterator[_Item]:
        order = np.argsort(imu.t, kind="stable")
        order = order[np.searchsorted(imu.t[order], 0) :]
        for seq, i in enumerate(order.tolist()):
            t, builder = int(imu.t[i]), serialization.MessageBuilder(cdr=self._cdr)
            self._check_time(t, "an IMU sample")
            gyro, accel = imu.gyro_rad_s[i].tolist(), imu.accel_m_s2[i].tolist()
            data = serialization.imu_sample(builder, t, seq, gyro, accel)
            yield _Item(t, IMU_TOPIC, data)

    def _frame_items(self, frames: Iterator[Frame]) -> Iterator[_Item]:
        n_lost, n_kept, has_more = 0, 0, False
        for frame in frames:
            if frame.t < 0 or serialization.image_encoding(frame) is None:
                n_lost += 1
                continue
            self._check_time(frame.t, "a frame")
            has_more |= frame.exposure_start is not None or frame.position != (0, 0)
            builder = serialization.MessageBuilder(cdr=self._cdr)
            yield _Item(frame.t, IMAGE_TOPIC, serialization.image(builder, n_kept, frame))
            n_kept += 1
        if n_lost:
            reason = "before time 0, or of a type other than gray or blue-green-red integers"
            self._warn_of_loss(counted(n_lost, "frame"), reason)
        if has_more:
            text = "%s keeps no exposure times and no positions of frames; left out."
            logger.warning(text, self._title)

    def _warn_of_loss(self, lost: str, reason: str) -> None:
        logger.warning("%s left out %s: %s.", self._title, lost, reason)
