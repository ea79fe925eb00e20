"""Write AEDAT4 files that dv-processing, DV and other programs can read.

The FlatBuffers have a few fixed layouts, filled as arrays. All tables of a packet share one vtable.
Numbers of eight bytes are aligned to eight bytes from the start of the size-prefixed buffer, as the
verifier of dv-processing requires.
"""

import logging
import struct
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import ConfigError, FormatError
from evcrisp.core.events import Events
from evcrisp.core.registry import lookup
from evcrisp.core.sensor_data import STANDARD_GRAVITY_M_S2, Frame, Imu, Triggers
from evcrisp.io.aedat import aedat4_packets
from evcrisp.io.aedat.aedat4_packets import EVENTS, FRAMES, IMU, MAGIC, TRIGGERS
from evcrisp.io.aedat.aedat4_sensor_data import OPENCV_DEPTHS
from evcrisp.io.byte_blocks import copy_bytes
from evcrisp.io.compression import Codec, Lz4Frame, Stored, Zstd
from evcrisp.io.protocol import Writer, slices

_MAX_FRAME_SIDE_PX = 32_767


@dataclass(frozen=True, slots=True)
class _TableLayout:
    fields: tuple[str, ...]  # names in the order of the schema
    dtype: np.dtype[Any]  # the fields and a first member `vtable`; a multiple of eight bytes

    def vtable(self, absent: Sequence[str] = ()) -> bytes:
        """Return the vtable of tables that lack some fields."""
        places: Any = self.dtype.fields
        offsets = [0 if f in absent else places[f][1] for f in self.fields]
        n_bytes = 4 + 2 * len(offsets)
        return struct.pack(f"<{2 + len(offsets)}H", n_bytes, self.dtype.itemsize, *offsets)


_IMU_NAMES = ("temperature", "ax", "ay", "az", "gx", "gy", "gz", "mx", "my", "mz")
IMU_LAYOUT = _TableLayout(
    ("t", *_IMU_NAMES),
    np.dtype(
        [("vtable", "<i4"), ("temperature", "<f4"), ("t", "<i8")]
        + [(name, "<f4") for name in _IMU_NAMES[1:]]
        + [("padding", "<i4")]
    ),
)
TRIGGER_LAYOUT = _TableLayout(
    ("t", "kind"), np.dtype([("vtable", "<i4"), ("kind", "u1"), ("padding", "u1", 3), ("t", "<i8")])
)
DATA_TABLE_LAYOUT = _TableLayout(
    ("position", "packet", "n_elements", "t_first", "t_last"),
    np.dtype(
        [("vtable", "<i4"), ("padding", "<i4"), ("position", "<i8"), ("packet", "<i4", 2)]
        + [(name, "<i8") for name in ("n_elements", "t_first", "t_last")]
    ),
)


def build_tables(
    identifier: bytes,
    layout: _TableLayout,
    columns: Mapping[str, NDArray[Any]],
    absent: Sequence[str] = (),
) -> bytes:
    """Return a size-prefixed buffer whose root is one vector of tables."""
    n = next(iter(columns.values())).shape[0]
    vtable = layout.vtable(absent)
    slots_at = 32
    vtable_at = slots_at + 4 * n
    tables_at = -(-(vtable_at + len(vtable)) // 8) * 8
    at = tables_at + layout.dtype.itemsize * np.arange(n, dtype=np.int64)
    tables = np.zeros(n, layout.dtype)
    tables["vtable"] = at - vtable_at
    for name, column in columns.items():
        tables[name] = column
    buffer = bytearray(tables_at + tables.nbytes)
    # Prefix, root and its vtable, then the length of the vector of tables at byte 28.
    struct.pack_into("<II4s2x3HiII", buffer, 0, len(buffer) - 4, 16, identifier, 6, 8, 4, 6, 4, n)
    buffer[slots_at:vtable_at] = (at - slots_at - 4 * np.arange(n)).astype("<u4").tobytes()
    buffer[vtable_at : vtable_at + len(vtable)] = vtable
    buffer[tables_at:] = tables.tobytes()
    return bytes(buffer)


def imu_packets(imu: Imu) -> Iterator[tuple[bytes, NDArray[np.int64]]]:
    """Yield the packets of IMU samples, and the times in each."""
    vectors = {"a": imu.accel_m_s2 / STANDARD_GRAVITY_M_S2, "g": np.rad2deg(imu.gyro_rad_s)}
    columns: dict[str, NDArray[Any]] = {"t": imu.t}
    if imu.magnetic_ut is not None:
        vectors["m"] = imu.magnetic_ut
    for letter, vector in vectors.items():
        columns |= {letter + axis: vector[:, i] for i, axis in enumerate("xyz")}
    if imu.temperature_c is not None:
        columns["temperature"] = imu.temperature_c
    absent = [name for name in ("temperature", "mx", "my", "mz") if name not in columns]
    for part in slices(len(imu), _SAMPLES_PER_PACKET):
        samples = {name: column[part] for name, column in columns.items()}
        yield build_tables(IMU.encode(), IMU_LAYOUT, samples, absent), samples["t"]


def trigger_packets(triggers: Triggers) -> Iterator[tuple[bytes, NDArray[np.int64]]]:
    """Yield the packets of triggers, and the times in each."""
    for part in slices(len(triggers), _SAMPLES_PER_PACKET):
        columns = {"t": triggers.t[part], "kind": triggers.kind[part]}
        yield build_tables(TRIGGERS.encode(), TRIGGER_LAYOUT, columns), columns["t"]


def build_frame(frame: Frame) -> bytes:
    """Return a size-prefixed buffer with one frame."""
    image = np.ascontiguousarray(frame.image)
    kind = image.dtype.newbyteorder("<").str if image.dtype.itemsize > 1 else image.dtype.str
    channels = {2: 1, 3: image.shape[-1]}.get(image.ndim, 0)
    if kind not in OPENCV_DEPTHS or not 1 <= channels <= 4 or max(image.shape) > _MAX_FRAME_SIDE_PX:
        raise ConfigError(
            "A frame for AEDAT4 must have shape (h, w) or (h, w, 1 to 4), sides up to "
            f"{_MAX_FRAME_SIDE_PX} px, and 8 to 32-bit integers or floats; "
            f"got {image.dtype} of shape {image.shape}."
        )
    if max(map(abs, frame.position)) > _MAX_FRAME_SIDE_PX:
        raise ConfigError("must fit into 16 bits", parameter="position", value=frame.position)
    start, end = frame.exposure_start, frame.exposure_end
    duration = end - start if start is not None and end is not None else 0
    pixels = image.astype(kind, copy=False).tobytes()
    fixed = struct.pack(
        # From byte 8: identifier, vtable of 13 fields at 14, table at 44, pixels at 100.
        "<4s2x15Hi4q4hIbb2xI",
        FRAMES.encode(),
        *(30, 52, 4, 0, 0, 12, 20, 48, 36, 38, 40, 42, 44, 28, 49, 30),
        *(frame.t, start or 0, end or 0, duration),
        *(image.shape[1], image.shape[0], *frame.position),
        *(8, OPENCV_DEPTHS.index(kind) + 8 * (channels - 1), 0, len(pixels)),
    )
    return struct.pack("<II", 4 + len(fixed) + len(pixels), 40) + fixed + pixels


def build_header(compression: int, xml: bytes, table_position: int) -> bytes:
    """Return the bytes before the first packet; their number depends on the XML only."""
    return MAGIC + build_io_header(compression, xml, table_position)


def build_io_header(compression: int, xml: bytes, table_position: int) -> bytes:
    """Return a size-prefixed IOHeader, with which network streams start."""
    start = (24, b"IOHE", 10, 20, 4, 12, 8, 10)
    fixed = struct.pack("<I4s6x5HiiIqI", *start, compression, 12, table_position, len(xml))
    body = fixed + xml + b"\0"
    body += bytes(-len(body) % 4)
    return struct.pack("<I", len(body)) + body


def build_xml(
    streams: Sequence[tuple[int, str, str]],
    resolution: tuple[int, int],
    *,
    camera: str,
    compression: str,
) -> bytes:
    """Return the XML that declares streams, given as (id, type identifier, name)."""
    nodes = []
    for number, kind, name in streams:
        path = f"/outInfo/{number}/"
        size = ""
        if kind in (EVENTS, FRAMES):
            size = _attribute("sizeX", resolution[0]) + _attribute("sizeY", resolution[1])
        nodes.append(
            f'<node name="{number}" path="{path}">'
            + _attribute("compression", compression)
            + _attribute("originalModuleName", "evcrisp")
            + _attribute("originalOutputName", name)
            + _attribute("typeDescription", name)
            + _attribute("typeIdentifier", kind)
            + f'<node name="info" path="{path}info/">{size}{_attribute("source", camera)}</node>'
            + "</node>\n"
        )
    text = "".join(nodes)
    text = f'<dv version="2.0">\n<node name="outInfo" path="/outInfo/">\n{text}</node>\n</dv>\n'
    return text.encode()


def _attribute(key: str, value: str | int) -> str:
    kind = "int" if isinstance(value, int) else "string"
    return f'<attr key="{key}" type="{kind}">{escape(str(value))}</attr>\n'


logger = logging.getLogger(__name__)

#: (id, type identifier, name) of the streams, as in DV.
STREAMS = (
    (0, EVENTS, "events"),
    (1, FRAMES, "frames"),
    (2, IMU, "imu"),
    (3, TRIGGERS, "triggers"),
)
_CODECS: dict[str, tuple[int, Callable[..., Codec]]] = {
    "none": (0, Stored),
    "lz4": (1, Lz4Frame),
    "zstd": (3, Zstd),
}
#: Larger packets are hardly faster, and make playback coarser.
_EVENTS_PER_PACKET = 16_384
_SAMPLES_PER_PACKET = 1024
#: What the data table states of a packet, in the order of `PacketList`.
_ROW = ("position", "stream", "size", "n_elements", "t_first", "t_last")
#: Limit of signed 16-bit coordinates.
_MAX_SIDE_PX = 32_768


class _Aedat4Sink:
    """An open AEDAT4 output.

    Events are written in packets of one size, so that the bytes do not depend on the chunks.
    The header first declares all streams; `finish` removes the empty ones.
    """

    def __init__(self, path: Path, resolution: tuple[int, int], writer: "Aedat4Writer") -> None:
        self._resolution, self._writer = resolution, writer
        self._codec = writer.codec()
        # Rows of the data table, one after another: a list of tuples takes six times the memory.
        self._rows = array("q")
        self._packet = bytearray(
            aedat4_packets.PLAIN_RECORDS_AT + _EVENTS_PER_PACKET * aedat4_packets.RECORD_BYTES
        )
        self._packet[4:28] = aedat4_packets.PLAIN_EVENTS
        self._words = np.frombuffer(self._packet, np.uint64, offset=aedat4_packets.PLAIN_RECORDS_AT)
        self._n_pending = 0
        self._xml_bytes = len(self._xml(STREAMS))
        self._has_warned = False
        self._file: IO[bytes] = path.open("wb")
        self._position = self._write_header(STREAMS, -1)

    def write(self, events: Events) -> None:
        from evcrisp.kernels.io.aedat4 import join_records

        events = events.contiguous()
        p = events.p.view(np.uint8)
        first = 0
        while first < len(events):
            n = min(len(events) - first, _EVENTS_PER_PACKET - self._n_pending)
            join_records(events.x, events.y, events.t, p, first, n, self._words, self._n_pending)
            first += n
            self._n_pending += n
            if self._n_pending == _EVENTS_PER_PACKET:
                self._flush_events()

    def write_imu(self, imu: Imu) -> None:
        self._flush_events()
        for data, t in imu_packets(imu):
            self._write_packet(2, memoryview(data), t)

    def write_triggers(self, triggers: Triggers) -> None:
        self._flush_events()
        if not self._has_warned and np.any(triggers.channel):
            self._has_warned = True
            logger.warning("AEDAT4 has no trigger channels; they are left out.")
        for data, t in trigger_packets(triggers):
            self._write_packet(3, memoryview(data), t)

    def write_frames(self, frames: Iterator[Frame]) -> None:
        self._flush_events()
        for frame in frames:
            self._write_packet(1, memoryview(build_frame(frame)), np.array([frame.t]))

    def end_part(self) -> None:
        self._flush_events()

    def append_part(self, path: Path) -> tuple[int, int] | None:
        self._flush_events()
        with path.open("rb") as file:
            size = path.stat().st_size
            header = aedat4_packets.read_header(file, size)
            packets = aedat4_packets.read_table(file, header, size)
            if packets is None:
                raise FormatError("the data table is damaged", path=path)
            first = header.first_packet
            rows = np.column_stack([getattr(packets, name) for name in _ROW])
            rows[:, 0] += self._position - first
            self._rows.frombytes(rows.tobytes())
            self._position += header.table_position - first
            copy_bytes(file, self._file, first, header.table_position)
        return (int(packets.t_first[0]), int(packets.t_last[-1])) if len(rows) else None

    def finish(self) -> None:
        """Write the data table and the final header, and close the file."""
        try:
            self._flush_events()
            rows = np.array(self._rows, np.int64).reshape(-1, len(_ROW))
            names = ("position", "n_elements", "t_first", "t_last")
            columns = {name: rows[:, i] for i, name in zip((0, 3, 4, 5), names, strict=True)}
            columns["packet"] = rows[:, 1:3]
            data = build_tables(aedat4_packets.TABLE_IDENTIFIER, DATA_TABLE_LAYOUT, columns)
            self._file.write(self._codec.encode(memoryview(data)))
            used = {0, *rows[:, 1].tolist()}
            streams = tuple(stream for stream in STREAMS if stream[0] in used)
            self._write_header(streams, self._position)
        finally:
            self._file.close()

    def abort(self) -> None:
        self._file.close()

    def _flush_events(self) -> None:
        n = self._n_pending
        if n:
            size = aedat4_packets.PLAIN_RECORDS_AT + n * aedat4_packets.RECORD_BYTES
            self._packet[:4] = (size - 4).to_bytes(4, "little")
            self._packet[28:32] = n.to_bytes(4, "little")
            t = self._words[: 2 * n : 2].view(np.int64)
            self._write_packet(0, memoryview(self._packet)[:size], t)
            self._n_pending = 0

    def _write_packet(self, stream: int, data: memoryview, t: NDArray[np.int64]) -> None:
        encoded = self._codec.encode(data)
        self._file.write(aedat4_packets.PACKET_HEADER.pack(stream, len(encoded)))
        self._file.write(encoded)
        position = self._position + aedat4_packets.PACKET_HEADER.size
        self._rows.extend((position, stream, len(encoded), t.size, int(t[0]), int(t[-1])))
        self._position = position + len(encoded)

    def _xml(self, streams: tuple[tuple[int, str, str], ...]) -> bytes:
        writer = self._writer
        compression = writer.compression.upper()
        return build_xml(streams, self._resolution, camera=writer.camera, compression=compression)

    def _write_header(self, streams: tuple[tuple[int, str, str], ...], table: int) -> int:
        """Write the start of the file, which has a constant size; return the size."""
        xml = self._xml(streams).ljust(self._xml_bytes)
        self._file.seek(0)
        return self._file.write(build_header(_CODECS[self._writer.compression][0], xml, table))


@dataclass(frozen=True, slots=True, kw_only=True)
class Aedat4Writer(Writer):
    """Write AEDAT4 files with a data table.

    Parameters
    ----------
    compression : {"lz4", "zstd", "none"}
        Zstandard takes a third less space than LZ4 and twice the time.
    level : int, optional
        Compression level: 0 to 16 for LZ4 (default 0), 1 to 22 for Zstandard (default 3).
    camera : str
        Name of the camera in the header.
    """

    name = "aedat4"
    title = "AEDAT 4 (iniVation DV)"
    suffixes = (".aedat4",)
    keeps = ("imu", "triggers", "frames")
    interleaves = True
    joins = True

    compression: str = "lz4"
    level: int | None = None
    camera: str = "evcrisp"

    def __post_init__(self) -> None:
        if not self.camera.isprintable():
            problem = "must have printable characters"
            raise ConfigError(problem, parameter="camera", value=self.camera)
        self.codec()

    def open(self, path: Path, resolution: tuple[int, int]) -> _Aedat4Sink:
        """Start a file."""
        if max(resolution) > _MAX_SIDE_PX:
            found = f"got a sensor of {resolution[0]}x{resolution[1]} px"
            raise ConfigError(f"AEDAT4 keeps coordinates up to {_MAX_SIDE_PX - 1}; {found}.")
        return _Aedat4Sink(path, resolution, self)

    def codec(self) -> Codec:
        """Return the compression of packets."""
        _, kind = lookup(_CODECS, self.compression, "compression")
        if self.level is None:
            return kind()
        if kind is Stored:
            problem = "is not possible without compression"
            raise ConfigError(problem, parameter="level", value=self.level)
        return kind(level=self.level)
