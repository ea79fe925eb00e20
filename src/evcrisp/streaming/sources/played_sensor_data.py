"""Deliver the IMU samples, triggers and frames of a recording as time goes on."""

import logging
from collections.abc import Iterator

from evcrisp.core.errors import FormatError
from evcrisp.core.sensor_data import Frame, Imu, Triggers, shifted
from evcrisp.io.recording import Recording
from evcrisp.streaming.sensor_data import SensorData, first_time, kind_of, split

logger = logging.getLogger(__name__)


class PlayedSensorData:
    """The sensor data of a recording that are not delivered yet; frames are read one by one.

    Times are those of the events: IMU samples and frames of some ROS bags have another clock.
    """

    def __init__(self, recording: Recording) -> None:
        self._offset_us = -recording.sensor_clock_offset_us
        self._frames = self._until_damage(recording.frames())
        self._waiting: list[SensorData] = []
        for read, offset_us in ((recording.imu, self._offset_us), (recording.triggers, 0)):
            try:
                samples: Imu | Triggers | None = read()
            except FormatError as error:
                samples = _before(error)
            if samples is not None and len(samples):
                self._waiting.append(shifted(samples, offset_us))
        self._frame = next(self._frames, None)
        self.kinds = tuple(kind_of(data) for data in self._waiting)
        self.kinds += ("frames",) if self._frame is not None else ()

    def take(self, t_last: int | None) -> list[SensorData]:
        """Remove and return the data up to a time, or all, in the order of time."""
        found = [(d, None) if t_last is None else split(d, t_last) for d in self._waiting]
        self._waiting = [later for _, later in found if later is not None]
        due = [now for now, _ in found if now is not None]
        while self._frame is not None and (t_last is None or self._frame.t <= t_last):
            due.append(self._frame)
            self._frame = next(self._frames, None)
        return sorted(due, key=first_time)

    def _until_damage(self, frames: Iterator[Frame]) -> Iterator[Frame]:
        try:
            for frame in frames:
                yield shifted(frame, self._offset_us)
        except FormatError as error:
            logger.warning("%s", error.kept())


def _before(error: FormatError) -> Imu | Triggers | None:
    """Return the samples before the damage, and say so."""
    logger.warning("%s", error.kept())
    return error.partial if isinstance(error.partial, (Imu, Triggers)) else None
