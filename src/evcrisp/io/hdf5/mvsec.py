"""The HDF5 layout of MVSEC: ``davis/left/events`` is a table of x, y, t [s], p; the left camera is read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import FormatError
from evcrisp.core.messages import counted
from evcrisp.core.sensor_data import Frame, Imu
from evcrisp.io.event_columns import as_microseconds
from evcrisp.io.hdf5.datasets import Hdf5Layout, TableSource, find_node, find_rows

_DAVIS346 = (346, 260)


def _cameras(file: Any) -> list[str]:
    return [
        side for side in ("left", "right") if find_node(file, f"davis/{side}/events") is not None
    ]


@dataclass(slots=True)
class MvsecSource(TableSource):
    """An open MVSEC file; events, IMU and frames of one camera."""

    side: str = "left"

    def columns(self, parts: Mapping[str, NDArray[Any]]) -> Mapping[str, NDArray[Any]]:
        """Split the table."""
        x, y, t, p = parts["events"].T
        return {"x": x, "y": y, "t": t, "p": p}

    def imu(self) -> Imu | None:
        """Return all IMU samples."""
        table = find_rows(self.file, f"davis/{self.side}/imu", n_axes=2)
        stamps = find_rows(self.file, f"davis/{self.side}/imu_ts")
        if table is None or stamps is None:
            return None
        values = table.read_all().astype(np.float64)
        t = as_microseconds(stamps.read_all(), stamps.offset(0))
        if values.shape != (t.size, 6):
            raise FormatError(f"the IMU table must have shape ({t.size}, 6); got {values.shape}")
        # The order of the two sensors is documented nowhere; gravity tells them apart.
        halves = sorted((values[:, :3], values[:, 3:]), key=_median_norm)
        return Imu(
            t=t,
            gyro_rad_s=np.ascontiguousarray(halves[0]),
            accel_m_s2=np.ascontiguousarray(halves[1]),
        )

    def frames(self) -> Iterator[Frame]:
        """Yield the frames one by one."""
        images = find_rows(self.file, f"davis/{self.side}/image_raw", n_axes=3)
        stamps = find_rows(self.file, f"davis/{self.side}/image_raw_ts")
        if images is None or stamps is None:
            return
        t = as_microseconds(stamps.read_all(), stamps.offset(0))
        for index in range(min(t.size, images.n_stored)):
            yield Frame(t=int(t[index]), image=images.read(index, index + 1)[0])
        if t.size != images.n_claimed:
            raise FormatError(
                f"{counted(images.n_claimed, 'frame')}, but {counted(t.size, 'time stamp')}",
                offset=images.offset(t.size),
            )


def _median_norm(vectors: NDArray[np.float64]) -> float:
    return float(np.median(np.linalg.norm(vectors, axis=1))) if len(vectors) else 0.0


@dataclass(frozen=True, slots=True)
class MvsecReader(Hdf5Layout):
    """Read HDF5 files in the layout of MVSEC: the left camera, or the right if there is no other."""

    name: ClassVar[str] = "mvsec"
    title: ClassVar[str] = "HDF5 in the layout of MVSEC"
    standard_sizes: ClassVar[tuple[tuple[int, int], ...]] = (_DAVIS346,)

    def matches(self, file: Any) -> bool:
        """Look for the table of a camera."""
        return bool(_cameras(file))

    def open_source(self, file: Any) -> MvsecSource:
        """Find the table."""
        cameras = _cameras(file)
        side = cameras[0] if cameras else "left"
        table = find_rows(file, f"davis/{side}/events", n_axes=2)
        if table is None or table.dataset.shape[1] != 4:
            raise FormatError(f"expected a table of four columns at 'davis/{side}/events'")
        return MvsecSource(
            resolution=_DAVIS346,
            metadata={"layout": "mvsec", "camera": side, "cameras": cameras},
            file=file,
            rows={"events": table},
            seconds=True,
            side=side,
        )
