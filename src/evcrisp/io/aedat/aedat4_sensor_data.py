"""Decode the IMU samples, triggers and frames of an AEDAT4 file."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import FormatError
from evcrisp.core.messages import counted
from evcrisp.core.sensor_data import STANDARD_GRAVITY_M_S2, Frame, Imu, Triggers
from evcrisp.io.aedat import flatbuffers
from evcrisp.io.aedat.aedat4_packets import FRAMES, IMU, TRIGGERS
from evcrisp.io.protocol import keeping, located

#: Small packets are joined to buffers of about this many bytes, for speed.
_JOINED_BYTES = 1 << 22

#: Fields of an IMU table, in g, degrees per second, degrees Celsius and microtesla.
_IMU_FIELDS = {"t": (0, "<i8"), "temperature": (1, "<f4")} | {
    name: (2 + i, "<f4")
    for i, name in enumerate(("ax", "ay", "az", "gx", "gy", "gz", "mx", "my", "mz"))
}

#: Depths of OpenCV image types (three low bits; the other bits are the number of channels - 1).
OPENCV_DEPTHS = ("|u1", "|i1", "<u2", "<i2", "<i4", "<f4", "<f8")

T = TypeVar("T")

Packets = Iterator[tuple[int, bytes]]
Columns = dict[str, NDArray[Any]]


def read_imu(packets: Packets) -> Imu:
    """Return all IMU samples of a stream, in SI units."""
    return _read_columns(packets, IMU, _IMU_FIELDS, _as_imu)


def _as_imu(columns: Columns, present: set[str]) -> Imu:
    def vector(*names: str) -> NDArray[np.float64]:
        return np.stack([columns[name] for name in names], axis=1).astype(np.float64)

    has_temperature = "temperature" in present
    return Imu(
        t=columns["t"].astype(np.int64),
        gyro_rad_s=np.deg2rad(vector("gx", "gy", "gz")),
        accel_m_s2=vector("ax", "ay", "az") * STANDARD_GRAVITY_M_S2,
        temperature_c=columns["temperature"].astype(np.float64) if has_temperature else None,
        magnetic_ut=vector("mx", "my", "mz") if present & {"mx", "my", "mz"} else None,
    )


def read_triggers(packets: Packets) -> Triggers:
    """Return all triggers of a stream. The format has no channels; all are 0."""
    return _read_columns(packets, TRIGGERS, {"t": (0, "<i8"), "kind": (1, "|u1")}, _as_triggers)


def _as_triggers(columns: Columns, present: set[str]) -> Triggers:
    t = columns["t"].astype(np.int64)
    return Triggers(t=t, kind=columns["kind"], channel=np.zeros(t.size, np.uint8))


def read_frames(packets: Packets) -> Iterator[Frame]:
    """Yield the frames of a stream."""
    for offset, data in packets:
        with located(offset):
            frame = _parse_frame(data)
        yield frame


def _read_columns(
    packets: Packets,
    kind: str,
    fields: dict[str, tuple[int, str]],
    convert: Callable[[Columns, set[str]], T],  # columns, and names of the fields that occur
) -> T:
    """Return the converted fields of all tables of a stream; errors keep those before them."""
    parts = {name: [np.empty(0, dtype)] for name, (_, dtype) in fields.items()}
    present: set[str] = set()

    def add(group: list[_TablePacket]) -> None:
        tables = _join(group)
        columns = {name: tables.column(*place) for name, place in fields.items()}
        for name, (values, is_present) in columns.items():
            parts[name].append(values)
            if is_present:
                present.add(name)

    def converted() -> T:
        return convert({name: np.concatenate(part) for name, part in parts.items()}, present)

    with keeping(converted):
        for group in _groups(packets, kind):
            try:
                add(group)
            except FormatError:
                for packet in group:  # up to the damaged one
                    with located(packet.offset):
                        add([packet])
    return converted()


class _TablePacket(NamedTuple):
    offset: int  # byte of the file
    data: bytes
    tables: NDArray[np.int64]  # bytes of the data


def _groups(packets: Packets, kind: str) -> Iterator[list[_TablePacket]]:
    """Yield groups of packets of limited total size."""
    group: list[_TablePacket] = []
    size = 0
    damage = None
    try:
        for offset, data in packets:
            with located(offset):
                tables = flatbuffers.prefixed_root(data, kind.encode()).tables(0)
            group.append(_TablePacket(offset, data, tables))
            size += len(data)
            if size >= _JOINED_BYTES:
                yield group
                group, size = [], 0
    except FormatError as error:
        damage = error
    if group:
        yield group
    if damage is not None:
        raise damage


def _join(group: list[_TablePacket]) -> flatbuffers.Tables:
    starts = np.cumsum([0] + [len(packet.data) for packet in group])
    at = [packet.tables + start for packet, start in zip(group, starts, strict=False)]
    return flatbuffers.Tables(b"".join(packet.data for packet in group), np.concatenate(at))


def _parse_frame(data: bytes) -> Frame:
    table = flatbuffers.prefixed_root(data, FRAMES.encode())
    t = table.scalar(0, "q", 0)
    depth, n_channels = _image_type(table.scalar(5, "b", 0))
    width, height = table.scalar(6, "h", 0), table.scalar(7, "h", 0)
    first, n_bytes = table.vector(10, 1)
    if width < 0 or height < 0 or n_bytes != width * height * n_channels * depth.itemsize:
        size = f"{width}x{height} px, {n_channels} x {depth}"
        raise FormatError(f"a frame of {size}, has {counted(n_bytes, 'byte')} of pixels")
    image = np.frombuffer(data, depth, width * height * n_channels, first)
    shape = (height, width) if n_channels == 1 else (height, width, n_channels)
    start, end = table.scalar(3, "q", 0), table.scalar(4, "q", 0)
    duration = table.scalar(11, "q", 0)
    if not start and not end and duration:
        start, end = t, t + duration
    return Frame(
        t=t,
        image=np.require(image, requirements="A").reshape(shape),
        exposure_start=start or None,
        exposure_end=end or None,
        position=(table.scalar(8, "h", 0), table.scalar(9, "h", 0)),
    )


def _image_type(code: int) -> tuple[np.dtype[Any], int]:
    depth, channels = code & 7, (code >> 3) + 1
    if depth >= len(OPENCV_DEPTHS) or not 1 <= channels <= 4:
        raise FormatError(f"a frame has the unknown image type {code}")
    return np.dtype(OPENCV_DEPTHS[depth]), channels
