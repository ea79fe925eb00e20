"""Parse ROS messages from bytes, without message objects, which are hundreds of times slower.

ROS 1 stores fields without gaps. ROS 2 uses CDR: four bytes with the byte order, then fields
aligned to their size, and strings that end with a zero.
"""

import struct
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import FormatError
from evcrisp.core.messages import counted
from evcrisp.core.sensor_data import Frame

#: One event of dvs_msgs and prophesee_event_msgs in ROS 1.
_ROS1_EVENT = np.dtype(
    [("x", "<u2"), ("y", "<u2"), ("sec", "<u4"), ("nsec", "<u4"), ("p", "u1")], align=False
)
_IMU_NUMBERS = 37  # orientation 4, gyro 3, acceleration 3, and a covariance of 9 after each


class Cursor:
    """Read the fields of one serialized message, front to back."""

    def __init__(self, data: memoryview, *, cdr: bool) -> None:
        self._data = data
        self._start = self._position = 4 if cdr else 0
        self.cdr = cdr
        self.order = "<"
        if cdr:
            if len(data) < 4 or data[0] != 0 or data[1] > 1:
                raise FormatError(f"a message is not plain CDR; it starts with {bytes(data[:4])!r}")
            self.order = "<" if data[1] == 1 else ">"

    def skip(self, size: int, align: int = 1) -> int:
        """Skip ``size`` bytes and return the first one."""
        if self.cdr:
            self._position += -(self._position - self._start) % align
        start = self._position
        if start + size > len(self._data):
            found = counted(len(self._data), "byte")
            raise FormatError(f"a message of {found} ends within a field")
        self._position = start + size
        return start

    def number(self, code: str) -> int:
        """Return one whole number, ``code`` as for `struct`."""
        size = struct.calcsize("=" + code)
        return int(struct.unpack_from(self.order + code, self._data, self.skip(size, size))[0])

    def raw(self, size: int) -> memoryview:
        """Return bytes."""
        start = self.skip(size)
        return self._data[start : start + size]

    def text(self) -> str:
        """Return a string."""
        return bytes(self.raw(self.number("I"))).rstrip(b"\0").decode("utf-8", "replace")

    def array(self, dtype: np.dtype[Any], count: int) -> NDArray[Any]:
        """View numbers or records in place; records are not aligned."""
        size = count * dtype.itemsize
        align = 1 if dtype.names else dtype.itemsize
        return np.frombuffer(self._data, dtype, count, self.skip(size, align))

    def stamp(self) -> int:
        """Skip a header and return its time, us."""
        if not self.cdr:
            self.number("I")  # sequence number, only in ROS 1
        seconds = self.number("i" if self.cdr else "I")
        time = seconds * 1_000_000 + self.number("I") // 1000
        self.text()
        return time


class EventArray(NamedTuple):
    """dvs_msgs/EventArray: events one by one, with ROS time."""

    stamp: int  # us
    resolution: tuple[int, int]
    x: NDArray[Any]
    y: NDArray[Any]
    t: NDArray[np.int64]  # us
    p: NDArray[Any]


class EventPacket(NamedTuple):
    """event_camera_msgs/EventPacket: events in the encoding of a camera."""

    stamp: int  # us
    resolution: tuple[int, int]
    time_base: int  # ns
    encoding: str
    big_endian: bool
    data: memoryview
    seq: int = 0


class ImuSample(NamedTuple):
    """sensor_msgs/Imu without orientation and covariances."""

    stamp: int  # us
    gyro: NDArray[Any]  # rad/s
    accel: NDArray[Any]  # m/s^2


class Image(NamedTuple):
    """sensor_msgs/Image."""

    stamp: int  # us
    encoding: str
    big_endian: bool
    shape: tuple[int, int]  # (height, width)
    step: int  # bytes per row
    data: memoryview


def event_array(cursor: Cursor) -> EventArray:
    """Parse dvs_msgs/EventArray or the identical prophesee_event_msgs/EventArray."""
    stamp = cursor.stamp()
    height, width, count = cursor.number("I"), cursor.number("I"), cursor.number("I")
    if cursor.cdr:
        x, y, records = _cdr_events(cursor, count)
    else:
        records = cursor.array(_ROS1_EVENT, count)
        x, y = records["x"], records["y"]
    # Floor to microseconds, so that equal steps stay equal.
    t = records["sec"].astype(np.int64) * 1_000_000 + records["nsec"] // 1000
    return EventArray(stamp, (width, height), x, y, t, records["p"])


def _cdr_events(cursor: Cursor, count: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return x, y and the other fields of events in CDR."""
    # The first event takes 14 bytes with its padding. After it, x is at the end of a row of 16
    # bytes, and the other fields are in the next row.
    order = cursor.order
    row = np.dtype(
        {
            "names": ["y", "sec", "nsec", "p", "next_x"],
            "formats": [order + "u2", order + "i4", order + "u4", "u1", order + "u2"],
            "offsets": [0, 4, 8, 12, 14],
            "itemsize": 16,
        }
    )
    data = bytes(cursor.raw(16 * count - 3)) + b"\0\0\0" if count else b""
    rows: NDArray[Any] = np.frombuffer(data, row)
    x, y = np.roll(rows["next_x"], 1), rows["y"].copy()
    if count:
        x[0], y[0] = np.frombuffer(data, order + "u2", 2)
    return x, y, rows


def event_packet(cursor: Cursor) -> EventPacket:
    """Parse event_camera_msgs/EventPacket, or its predecessor event_array_msgs/EventArray."""
    stamp = cursor.stamp()
    height, width = cursor.number("I"), cursor.number("I")
    seq = cursor.number("Q")
    time_base = cursor.number("Q")
    encoding = cursor.text()
    big_endian = bool(cursor.number("B"))
    data = cursor.raw(cursor.number("I"))
    return EventPacket(stamp, (width, height), time_base, encoding, big_endian, data, seq)


def imu_sample(cursor: Cursor) -> ImuSample:
    """Parse sensor_msgs/Imu."""
    stamp = cursor.stamp()
    numbers = cursor.array(np.dtype(cursor.order + "f8"), _IMU_NUMBERS)
    return ImuSample(stamp, numbers[13:16], numbers[25:28])


def image(cursor: Cursor) -> Image:
    """Parse sensor_msgs/Image."""
    stamp = cursor.stamp()
    height, width = cursor.number("I"), cursor.number("I")
    encoding = cursor.text()
    big_endian = bool(cursor.number("B"))
    step = cursor.number("I")
    data = cursor.raw(cursor.number("I"))
    return Image(stamp, encoding, big_endian, (height, width), step, data)


#: Encoding -> bytes per sample, samples per pixel, indices of blue, green and red.
_ENCODINGS: dict[str, tuple[int, int, tuple[int, ...]]] = {
    "mono8": (1, 1, (0,)),
    "8UC1": (1, 1, (0,)),
    "mono16": (2, 1, (0,)),
    "16UC1": (2, 1, (0,)),
    "bgr8": (1, 3, (0, 1, 2)),
    "8UC3": (1, 3, (0, 1, 2)),
    "rgb8": (1, 3, (2, 1, 0)),
    "bgra8": (1, 4, (0, 1, 2)),
    "rgba8": (1, 4, (2, 1, 0)),
}


def as_frame(image: Image, offset: int) -> Frame | None:
    """Convert an image to gray or blue-green-red pixels; None if its encoding is unknown."""
    layout = _ENCODINGS.get(image.encoding)
    if layout is None:
        return None
    sample_bytes, n_samples, channels = layout
    height, width = image.shape
    row_bytes = width * n_samples * sample_bytes
    if image.step < row_bytes or image.step * height > len(image.data):
        found = f"{counted(len(image.data), 'byte')} with {image.step} per row"
        reason = f"an image of {width}x{height} px as {image.encoding!r} does not fit {found}"
        raise FormatError(reason, offset=offset)
    rows = np.frombuffer(image.data, np.uint8, image.step * height).reshape(height, image.step)
    order = ">" if image.big_endian else "<"
    samples = np.ascontiguousarray(rows[:, :row_bytes]).view(f"{order}u{sample_bytes}")
    native = samples.astype(samples.dtype.newbyteorder("="))
    if n_samples == 1:
        return Frame(t=image.stamp, image=native)
    pixels = native.reshape(height, width, n_samples)[:, :, list(channels)]
    return Frame(t=image.stamp, image=np.ascontiguousarray(pixels))
