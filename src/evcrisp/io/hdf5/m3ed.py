"""The HDF5 layout of M3ED: ``prophesee/{left,right}/{x,y,t,p}``; the left camera is read."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from evcrisp.core.errors import FormatError
from evcrisp.core.sensor_data import Imu
from evcrisp.io.hdf5.datasets import Hdf5Layout, TableSource, find_node, find_rows


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


@dataclass(frozen=True, slots=True)
class M3edReader(Hdf5Layout):
    """Read HDF5 files in the layout of M3ED: the left camera, or the right if there is no other."""

    name: ClassVar[str] = "m3ed"
    title: ClassVar[str] = "HDF5 in the layout of M3ED"
    standard_sizes: ClassVar[tuple[tuple[int, int], ...]] = ((1280, 720),)

    def matches(self, file: Any) -> bool:
        """Look for the columns of a camera."""
        return bool(_cameras(file))

    def open_source(self, file: Any) -> M3edSource:
        """Find the columns."""
        cameras = _cameras(file)
        side = cameras[0] if cameras else "left"
        found = {name: find_rows(file, f"prophesee/{side}/{name}") for name in "xytp"}
        rows = {name: column for name, column in found.items() if column is not None}
        if set(rows) != set("xytp"):
            raise FormatError(f"expected the datasets x, y, t and p in 'prophesee/{side}'")
        return M3edSource(
            resolution=_resolution(file, side),
            metadata={"layout": "m3ed", "camera": side, "cameras": cameras},
            file=file,
            rows=rows,
        )


def _resolution(file: Any, side: str) -> tuple[int, int] | None:
    rows = find_rows(file, f"prophesee/{side}/calib/resolution")
    if rows is None or rows.n_stored != 2:
        return None
    width, height = rows.read_all().tolist()
    return int(width), int(height)
