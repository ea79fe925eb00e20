"""Build the FlatBuffers of an AEDAT4 file: a few fixed layouts, filled as arrays.

All tables of a packet share one vtable. Numbers of eight bytes are aligned to eight bytes from the
start of the size-prefixed buffer, as the verifier of dv-processing requires.
"""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import ConfigError
from evcrisp.core.sensor_data import Frame
from evcrisp.io.aedat.aedat4_header import EVENTS, FRAMES, MAGIC
from evcrisp.io.aedat.aedat4_sensor_data import OPENCV_DEPTHS

_MAX_FRAME_SIDE_PX = 32_767


@dataclass(frozen=True, slots=True)
class TableLayout:
    """Layout of a table.

    ``fields`` are the names in the order of the schema (None: never written). ``dtype`` has them
    and a first member ``vtable``; a table starts at a multiple of eight bytes.
    """

    fields: tuple[str | None, ...]
    dtype: np.dtype[Any]

    def vtable(self, absent: Sequence[str] = ()) -> bytes:
        """Return the vtable of tables that lack some fields."""
        places: Any = self.dtype.fields
        offsets = [0 if f is None or f in absent else places[f][1] for f in self.fields]
        n_bytes = 4 + 2 * len(offsets)
        return struct.pack(f"<{2 + len(offsets)}H", n_bytes, self.dtype.itemsize, *offsets)


_IMU_NAMES = ("temperature", "ax", "ay", "az", "gx", "gy", "gz", "mx", "my", "mz")
IMU_LAYOUT = TableLayout(
    ("t", *_IMU_NAMES),
    np.dtype(
        [("vtable", "<i4"), ("temperature", "<f4"), ("t", "<i8")]
        + [(name, "<f4") for name in _IMU_NAMES[1:]]
        + [("padding", "<i4")]
    ),
)
TRIGGER_LAYOUT = TableLayout(
    ("t", "kind"), np.dtype([("vtable", "<i4"), ("kind", "u1"), ("padding", "u1", 3), ("t", "<i8")])
)
DATA_TABLE_LAYOUT = TableLayout(
    ("position", "packet", "n_elements", "t_first", "t_last"),
    np.dtype(
        [
            ("vtable", "<i4"),
            ("padding", "<i4"),
            ("position", "<i8"),
            ("packet", "<i4", 2),
            ("n_elements", "<i8"),
            ("t_first", "<i8"),
            ("t_last", "<i8"),
        ]
    ),
)


def build_tables(
    identifier: bytes,
    layout: TableLayout,
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
        *(30, 52, 4, 0, 0, 12, 20, 48, 36, 38, 40, 42, 44, 28, 49),
        30,
        frame.t,
        start or 0,
        end or 0,
        duration,
        image.shape[1],
        image.shape[0],
        *frame.position,
        8,
        OPENCV_DEPTHS.index(kind) + 8 * (channels - 1),
        0,
        len(pixels),
    )
    return struct.pack("<II", 4 + len(fixed) + len(pixels), 40) + fixed + pixels


def build_header(compression: int, xml: bytes, table_position: int) -> bytes:
    """Return the bytes before the first packet; their number depends on the XML only."""
    start = (24, b"IOHE", 10, 20, 4, 12, 8, 10)
    fixed = struct.pack("<I4s6x5HiiIqI", *start, compression, 12, table_position, len(xml))
    body = fixed + xml + b"\0"
    body += bytes(-len(body) % 4)
    return MAGIC + struct.pack("<I", len(body)) + body


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
