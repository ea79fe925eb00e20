"""Bags written with the package rosbags."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

EVENT = "uint16 x\nuint16 y\n{time} ts\nbool polarity\n"
EVENT_ARRAY = "std_msgs/Header header\nuint32 height\nuint32 width\n{package}/Event[] events\n"
EVENT_PACKET = (
    "std_msgs/Header header\nuint32 height\nuint32 width\nuint64 seq\nuint64 time_base\n"
    "string encoding\nbool is_bigendian\nuint8[] events\n"
)
NS = 1_000_000_000


@dataclass
class Bags:
    """Make messages, and bags of them, for one generation of ROS."""

    generation: int  # 1 or 2
    store: Any

    def _new(self, kind: str, **fields: Any) -> Any:
        return self.store.types[kind](**fields)

    def time(self, t_us: int) -> Any:
        sec, nanosec = divmod(int(t_us) * 1000, NS)
        return self._new("builtin_interfaces/msg/Time", sec=sec, nanosec=nanosec)

    def header(self, t_us: int, frame: str = "camera") -> Any:
        fields = {"stamp": self.time(t_us), "frame_id": frame}
        if self.generation == 1:
            fields["seq"] = 7
        return self._new("std_msgs/msg/Header", **fields)

    def event_array(self, events, *, package: str = "dvs_msgs", frame: str = "camera"):
        one = self.store.types[f"{package}/msg/Event"]
        columns = (events.x.tolist(), events.y.tolist(), events.t.tolist(), events.p.tolist())
        listed = [
            one(x=x, y=y, ts=self.time(t), polarity=p) for x, y, t, p in zip(*columns, strict=True)
        ]
        kind = f"{package}/msg/EventArray"
        stamp = int(events.t[0]) if len(events) else 0
        width, height = events.resolution
        header = self.header(stamp, frame)
        return kind, self._new(kind, header=header, height=height, width=width, events=listed)

    def event_packet(
        self,
        data: bytes,
        *,
        encoding: str,
        time_base: int = 0,
        resolution: tuple[int, int] = (346, 260),
        big_endian: bool = False,
        kind: str = "event_camera_msgs/msg/EventPacket",
    ):
        return kind, self._new(
            kind,
            header=self.header(5),
            height=resolution[1],
            width=resolution[0],
            seq=3,
            time_base=time_base,
            encoding=encoding,
            is_bigendian=big_endian,
            events=np.frombuffer(data, np.uint8),
        )

    def imu(self, t_us: int, gyro, accel):
        vector = self.store.types["geometry_msgs/msg/Vector3"]
        quaternion = self.store.types["geometry_msgs/msg/Quaternion"]
        kind = "sensor_msgs/msg/Imu"
        covariance = np.full(9, 0.5)
        return kind, self._new(
            kind,
            header=self.header(t_us),
            orientation=quaternion(x=0.0, y=0.0, z=0.0, w=1.0),
            orientation_covariance=covariance,
            angular_velocity=vector(*map(float, gyro)),
            angular_velocity_covariance=covariance,
            linear_acceleration=vector(*map(float, accel)),
            linear_acceleration_covariance=covariance,
        )

    def image(self, t_us: int, pixels, encoding: str, *, step: int | None = None):
        kind = "sensor_msgs/msg/Image"
        row = int(pixels[0].nbytes)
        data = np.ascontiguousarray(pixels).view(np.uint8).reshape(pixels.shape[0], row)
        step = row if step is None else step
        data = np.pad(data, ((0, 0), (0, step - row)))
        return kind, self._new(
            kind,
            header=self.header(t_us),
            height=pixels.shape[0],
            width=pixels.shape[1],
            encoding=encoding,
            is_bigendian=0,
            step=step,
            data=data.ravel(),
        )

    def serialize(self, kind: str, message: Any) -> bytes:
        to_bytes = self.store.serialize_ros1 if self.generation == 1 else self.store.serialize_cdr
        return bytes(to_bytes(message, kind))

    def write(
        self,
        path: Path,
        messages,
        *,
        packing: str = "none",
        storage: str = "mcap",
        chunk_bytes: int = 1 << 20,
    ) -> Path:
        """Write (topic, (kind, message)) pairs, one per millisecond of recording time."""
        writer = self._writer(path, packing, storage)
        writer.chunk_threshold = chunk_bytes  # of ROS 1
        connections: dict[str, Any] = {}
        with writer:
            for number, (topic, (kind, message)) in enumerate(messages):
                if topic not in connections:
                    connections[topic] = writer.add_connection(topic, kind, typestore=self.store)
                data = message if isinstance(message, bytes) else self.serialize(kind, message)
                writer.write(connections[topic], 10 * NS + number * 1_000_000, data)
        return path

    def _writer(self, path: Path, packing: str, storage: str) -> Any:
        if self.generation == 1:
            from rosbags.rosbag1 import Writer

            writer = Writer(path)
            if packing != "none":
                writer.set_compression(Writer.CompressionFormat[packing.upper()])
            return writer
        from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer

        plugin = StoragePlugin.MCAP if storage == "mcap" else StoragePlugin.SQLITE3
        writer = Writer(path, version=9, storage_plugin=plugin)
        if packing != "none":
            writer.set_compression(CompressionMode[packing.upper()], CompressionFormat.ZSTD)
        return writer


def _bags(generation: int) -> Bags:
    typesys = pytest.importorskip("rosbags.typesys", reason="rosbags writes the bags")
    name = typesys.Stores.ROS1_NOETIC if generation == 1 else typesys.Stores.ROS2_HUMBLE
    store = typesys.get_typestore(name)
    time = "time" if generation == 1 else "builtin_interfaces/Time"
    types = {
        "event_camera_msgs/msg/EventPacket": EVENT_PACKET,
        "event_array_msgs/msg/EventArray": EVENT_PACKET,
    }
    for package in ("dvs_msgs", "prophesee_event_msgs"):
        types[f"{package}/msg/Event"] = EVENT.format(time=time)
        types[f"{package}/msg/EventArray"] = EVENT_ARRAY.format(package=package)
    for kind, definition in types.items():
        store.register(typesys.get_types_from_msg(definition, kind))
    return Bags(generation, store)


@pytest.fixture(scope="session")
def ros1() -> Bags:
    """Return the maker of ROS 1 bags."""
    return _bags(1)


@pytest.fixture(scope="session")
def ros2() -> Bags:
    """Return the maker of ROS 2 bags."""
    return _bags(2)
