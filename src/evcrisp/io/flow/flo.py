"""``.flo``: the format of the Middlebury benchmark; displacements as float32, without a time."""

import os
import struct
from pathlib import Path
from typing import ClassVar

import numpy as np

from evcrisp.core.errors import FormatError
from evcrisp.core.flow import Flow
from evcrisp.io.atomic_output import naming
from evcrisp.io.flow.stored_flow import StoredFlow, check_size

_MAGIC = b"PIEH"  # 202021.25 as float32, little endian
_HEADER = struct.Struct("<4sii")
#: Displacement of unknown pixels. Readers take everything beyond the limit, and NaN, as unknown.
_UNKNOWN_PX = 1e10
_LIMIT_PX = 1e9


class FloFormat:
    """Middlebury: header, then u and v of each pixel, row by row."""

    name: ClassVar[str] = "flo"
    suffix: ClassVar[str] = ".flo"
    least_px: ClassVar[float] = -_LIMIT_PX
    most_px: ClassVar[float] = _LIMIT_PX

    def read(self, path: Path) -> StoredFlow:
        """Read displacements; the size is compared with that of the file first."""
        with path.open("rb") as file:
            n_bytes = os.fstat(file.fileno()).st_size
            head = file.read(_HEADER.size)
            if not head.startswith(_MAGIC):
                raise FormatError("a .flo file starts with 'PIEH'; this one does not")
            if len(head) < _HEADER.size:
                raise FormatError("the file ends within its header", offset=len(head))
            _, width, height = _HEADER.unpack(head)
            check_size(width, height, offset=4)
            wanted = _HEADER.size + 8 * width * height
            if n_bytes != wanted:
                reason = f"{width} x {height} px take {wanted:,} bytes; the file has {n_bytes:,}"
                raise FormatError(reason, offset=min(n_bytes, wanted))
            data = file.read(wanted - _HEADER.size)
        values = np.frombuffer(data, "<f4").reshape(height, width, 2).astype(np.float32)
        known = np.abs(values) <= _LIMIT_PX
        return StoredFlow(values, known[..., 0] & known[..., 1], None)

    def write(self, path: Path, flow: Flow) -> None:
        """Write displacements over the window."""
        width, height = flow.resolution
        values = np.where(flow.valid[..., None], flow.displacement_px, _UNKNOWN_PX)
        with naming(path), path.open("wb") as file:
            file.write(_HEADER.pack(_MAGIC, width, height))
            file.write(values.astype("<f4").tobytes())
