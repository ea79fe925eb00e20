"""Serialize the ROS messages that are written; ``messages.py`` parses them."""

import struct
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.sensor_data import Frame

#: Name of the coordinate frame in the header of all messages.
FRAME_ID = "event_camera"

#: Covariances: -1 in the first element states that there is no orientation; 0 is unknown.
_NO_ORIENTATION = (-1.0, *(0.0,) * 8)
_UNKNOWN = (0.0,) * 9


class MessageBuilder:
    """Append the fields of one message; the counterpart of `messages.Cursor`."""

    def __init__(self, *, cdr: bool) -> None:
        self.cdr = cdr
        self._data = bytearray(b"\x00\x01\x00\x00" if cdr else b"")  # CDR, little-endian
        self._start = len(self._data)

    def number(self, code: str, value: int) -> None:
        """Append one whole number, ``code`` as for `struct`."""
        data = struct.pack("<" + code, value)
        self._align(len(data))
        self._data += data

    def floats(self, values: Iterable[float]) -> None:
        """Append numbers of eight bytes, without their count."""
        self._align(8)
        for value in values:
            self._data += struct.pack("<d", value)

    def text(self, value: str) -> None:
        """Append a string, which ends with a zero in CDR."""
        self.sequence(value.encode() + (b"\0" if self.cdr else b""))

    def sequence(self, data: bytes | memoryview) -> None:
        """Append bytes after their count."""
        self.number("I", len(data))
        self._data += data

    def header(self, t: int, seq: int) -> None:
        """Append a std_msgs/Header with a time in us; only ROS 1 has a sequence number."""
        if not self.cdr:
            self.number("I", seq & 0xFFFF_FFFF)
        seconds, rest = divmod(t, 1_000_000)
        self.number("i" if self.cdr else "I", seconds)
        self.number("I", rest * 1000)
        self.text(FRAME_ID)

    def build(self) -> bytes:
        """Return the serialized message."""
        return bytes(self._data)

    def _align(self, size: int) -> None:
        if self.cdr:
            self._data += bytes(-(len(self._data) - self._start) % size)


def event_packet(
    builder: MessageBuilder,
    t: int,
    seq: int,
    resolution: tuple[int, int],
    time_base: int,
    words: NDArray[np.uint16],
) -> bytes:
    """Serialize event_camera_msgs/EventPacket; times in us, words of EVT 3.0."""
    builder.header(t, seq)
    builder.number("I", resolution[1])
    builder.number("I", resolution[0])
    builder.number("Q", seq)
    builder.number("Q", time_base * 1000)
    builder.text("evt3")
    builder.number("B", 0)  # little-endian words
    builder.sequence(words.astype("<u2", copy=False).tobytes())
    return builder.build()


def imu_sample(
    builder: MessageBuilder, t: int, seq: int, gyro: Sequence[float], accel: Sequence[float]
) -> bytes:
    """Serialize sensor_msgs/Imu without orientation; rad/s and m/s2."""
    builder.header(t, seq)
    builder.floats((0.0, 0.0, 0.0, 1.0, *_NO_ORIENTATION, *gyro, *_UNKNOWN, *accel, *_UNKNOWN))
    return builder.build()


#: Encodings of images by type of the samples and number of axes.
_ENCODINGS = {("u1", 2): "mono8", ("u2", 2): "mono16", ("u1", 3): "bgr8"}


def image_encoding(frame: Frame) -> str | None:
    """Return the name of the encoding of an image, or None if ROS has none for it."""
    image = frame.image
    if image.ndim == 3 and image.shape[2] != 3:
        return None
    return _ENCODINGS.get((image.dtype.str[1:], image.ndim))


def image(builder: MessageBuilder, seq: int, frame: Frame) -> bytes:
    """Serialize sensor_msgs/Image of a frame that has an encoding."""
    pixels = frame.image.astype(frame.image.dtype.newbyteorder("<"), copy=False)
    height, width = pixels.shape[:2]
    builder.header(frame.t, seq)
    builder.number("I", height)
    builder.number("I", width)
    builder.text(image_encoding(frame) or "")
    builder.number("B", 0)  # little-endian samples
    builder.number("I", pixels.nbytes // max(height, 1))
    builder.sequence(pixels.tobytes())
    return builder.build()
