"""Convert IMU samples and frames to ROS messages, in the order of their time."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evcrisp.core.errors import OutputError
from evcrisp.core.messages import counted
from evcrisp.core.sensor_data import Frame, Imu
from evcrisp.io.ros import serialization
from evcrisp.io.ros.container import IMAGE_TOPIC, IMU_TOPIC, OutputTopic
from evcrisp.io.ros.serialization import MessageBuilder

logger = logging.getLogger(__name__)

OTHER_FORMAT = (
    "Shift the time (`evcrisp convert --start-at-zero`), or use another format, such as aedat4."
)


class Item(NamedTuple):
    """A serialized message with its time."""

    t: int  # us
    topic: OutputTopic
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class BagKind:
    """What differs between the messages of ROS 1 and ROS 2."""

    title: str
    cdr: bool  # serialization of ROS 2
    max_time: int  # limit of time stamps, us

    def builder(self) -> MessageBuilder:
        """Start a message."""
        return MessageBuilder(cdr=self.cdr)

    def check_time(self, t: int, what: str) -> None:
        """Raise if a time stamp has no place in a message."""
        if t >= self.max_time:
            found = f"{what} is at {t} us"
            raise OutputError(
                f"{self.title} has no time from {self.max_time} us on; {found}.",
                remedy=OTHER_FORMAT,
            )


def imu_messages(imu: Imu, kind: BagKind) -> Iterator[Item]:
    """Yield the samples from time 0 on; log what a message has no place for."""
    if imu.temperature_c is not None or imu.magnetic_ut is not None:
        text = "%s keeps no temperature and no magnetic field of IMU samples; left out."
        logger.warning(text, kind.title)
    order = np.argsort(imu.t, kind="stable")
    n_early = int(np.searchsorted(imu.t[order], 0))
    if n_early:
        lost = counted(n_early, "IMU sample")
        logger.warning("%s has no time before 0; left out: %s.", kind.title, lost)
    for seq, i in enumerate(order[n_early:].tolist()):
        t = int(imu.t[i])
        kind.check_time(t, "an IMU sample")
        gyro, accel = imu.gyro_rad_s[i].tolist(), imu.accel_m_s2[i].tolist()
        data = serialization.imu_sample(kind.builder(), t, seq, gyro, accel)
        yield Item(t, IMU_TOPIC, data)


def frame_messages(frames: Iterator[Frame], kind: BagKind) -> Iterator[Item]:
    """Yield the frames that have an encoding, from time 0 on; log what is left out at the end."""
    n_lost, n_kept, has_more = 0, 0, False
    for frame in frames:
        if frame.t < 0 or serialization.image_encoding(frame) is None:
            n_lost += 1
            continue
        kind.check_time(frame.t, "a frame")
        has_more |= frame.exposure_start is not None or frame.position != (0, 0)
        yield Item(frame.t, IMAGE_TOPIC, serialization.image(kind.builder(), n_kept, frame))
        n_kept += 1
    if n_lost:
        text = (
            "%s keeps gray (8 and 16 bits) and color frames (8 bits) from time 0 on; left out: %s."
        )
        logger.warning(text, kind.title, counted(n_lost, "other frame"))
    if has_more:
        text = "%s keeps no exposure times and no positions of frames; left out."
        logger.warning(text, kind.title)
