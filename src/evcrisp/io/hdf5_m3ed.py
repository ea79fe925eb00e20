"""The HDF5 layout of M3ED: ``prophesee/{left,right}/{x,y,t,p}``; the left camera is read."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from evcrisp.errors import FormatError
from evcrisp.io._hdf5 import TableSource, find_node, find_rows
from evcrisp.streams import Imu


def matches(file: Any) -> bool:
    """Say whether the file has this layout."""
    return bool(_cameras(file))


def _cameras(file: Any) -> list[str]:
    return [
        side for side in ("left", "right") if find_node(file, f"prophesee/{side}/t") is not None
    ]


@dataclass(slots=True)
class M3edSource(TableSource):
    """An open M3ED file."""

    def imu(self) -> Imu | None:
        """Return the samples of the rig's IMU, without those that are marked as missing (NaN)."""
        accel = find_rows(self.file, "ovc/imu/accel", n_axes=2)
        omega = find_rows(self.file, "ovc/imu/omega", n_axes=2)
        stamps = find_rows(self.file, "ovc/imu/ts")
        if accel is None or omega is None or stamps is None:
            return None
        t = stamps.read_all().astype(np.int64)
        vectors = np.stack([omega.read_all(), accel.read_all()]).astype(np.float64)
        if vectors.shape != (2, t.size, 3):
            raise FormatError(f"the IMU tables must have shape ({t.size}, 3)")
        present = np.isfinite(vectors).all(axis=(0, 2))
        return Imu(t=t[present], gyro_rad_s=vectors[0][present], accel_m_s2=vectors[1][present])


def open_source(file: Any) -> M3edSource:
    """Find the columns of an open file."""
    cameras = _cameras(file)
    side = cameras[0]
    found = {name: find_rows(file, f"prophesee/{side}/{name}") for name in "xytp"}
    missing = [name for name, rows in found.items() if rows is None]
    if missing:
        raise FormatError(f"'prophesee/{side}' has no {missing[0]!r}")
    return M3edSource(
        resolution=_resolution(file, side),
        metadata={"layout": "m3ed", "camera": side, "cameras": cameras},
        file=file,
        rows={name: rows for name, rows in found.items() if rows is not None},
    )


def _resolution(file: Any, side: str) -> tuple[int, int] | None:
    rows = find_rows(file, f"prophesee/{side}/calib/resolution")
    if rows is None or rows.n_stored != 2:
        return None
    width, height = rows.read_all().tolist()
    return int(width), int(height)
