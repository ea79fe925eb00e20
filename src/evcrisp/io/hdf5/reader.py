"""Read HDF5 of any layout.

- Prophesee: tables ``CD/events`` and ``EXT_TRIGGER/events``, also with the vendor's ECF codec.
- MVSEC: ``davis/{left,right}/events``, a table of x, y, t [s], p. M3ED:
  ``prophesee/{left,right}/{x,y,t,p}``. Of two cameras, the left one is the default.
- columns ``x, y, t, p`` or ``xs, ys, ts, ps`` at the root or in ``events`` (event_utils, EDS, e2calib);
- a table ``events`` of four columns t [us], x, y, p (v2e);
- a table ``events`` of records.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import FormatError
from evcrisp.core.messages import counted
from evcrisp.core.sensor_data import Frame, Imu, Triggers
from evcrisp.core.types import Floats
from evcrisp.io.cut import TimeSpan
from evcrisp.io.event_columns import as_microseconds, find_columns
from evcrisp.io.hdf5 import datasets
from evcrisp.io.hdf5.datasets import Hdf5Layout, TableSource, find_node, find_rows
from evcrisp.io.hdf5.dsec import DsecReader
from evcrisp.io.prophesee.evt_decoder import edge_triggers
from evcrisp.io.protocol import PROPHESEE_SIZES

_DAVIS346 = (346, 260)


def _cameras(file: Any, path: str) -> list[str]:
    """Return the sides that have a dataset at a path such as ``davis/{}/events``."""
    return [side for side in ("left", "right") if find_node(file, path.format(side)) is not None]


@dataclass(slots=True)
class _MvsecSource(TableSource):
    """An open MVSEC file; events, IMU and frames of one camera."""

    side: str = "left"

    def choose(self, stream: str) -> "_MvsecSource":
        """Return the source of the other camera."""
        return _open_mvsec(self.file, sorted(self.sides, key=lambda side: side != stream))

    def imu(self) -> Imu | None:
        table = find_rows(self.file, f"davis/{self.side}/imu", n_axes=2)
        stamps = find_rows(self.file, f"davis/{self.side}/imu_ts")
        if table is None or stamps is None:
            return None
        values = table.read_all().astype(np.float64)
        t = as_microseconds(stamps.read_all(), stamps.offset(0))
        if values.shape != (t.size, 6):
            raise FormatError(f"the IMU table must have shape ({t.size}, 6); got {values.shape}")
        # The order of the two sensors is not documented; gravity distinguishes them.
        halves = (np.ascontiguousarray(half) for half in (values[:, :3], values[:, 3:]))
        gyro, accel = sorted(halves, key=_median_norm)
        return Imu(t=t, gyro_rad_s=gyro, accel_m_s2=accel)

    def frames(self) -> Iterator[Frame]:
        images = find_rows(self.file, f"davis/{self.side}/image_raw", n_axes=3)
        stamps = find_rows(self.file, f"davis/{self.side}/image_raw_ts")
        if images is None or stamps is None:
            return
        t = as_microseconds(stamps.read_all(), stamps.offset(0))
        n = min(t.size, images.n_stored)
        if self.span is not None:
            for index in np.flatnonzero(TimeSpan(*self.span).has(t[:n])).tolist():
                yield Frame(t=int(t[index]), image=images.read(index, index + 1)[0])
            return
        for index in range(n):
            yield Frame(t=int(t[index]), image=images.read(index, index + 1)[0])
        if t.size != images.n_claimed:
            reason = f"{counted(images.n_claimed, 'frame')}, but {counted(t.size, 'time stamp')}"
            raise FormatError(reason, offset=images.offset(t.size))


def _median_norm(vectors: Floats) -> float:
    return float(np.median(np.linalg.norm(vectors, axis=1))) if len(vectors) else 0.0


class MvsecReader(Hdf5Layout):
    """Read HDF5 files in the layout of MVSEC."""

    name = "mvsec"
    title = "HDF5 in the layout of MVSEC"
    standard_sizes = (_DAVIS346,)

    def matches(self, file: Any) -> bool:
        """Look for the table of a camera."""
        return bool(_cameras(file, "davis/{}/events"))

    def open_source(self, file: Any) -> _MvsecSource:
        """Find the table of the first camera."""
        return _open_mvsec(file, _cameras(file, "davis/{}/events") or ["left"])


def _open_mvsec(file: Any, cameras: list[str]) -> _MvsecSource:
    side = cameras[0]
    table = find_rows(file, f"davis/{side}/events", n_axes=2)
    if table is None or table.dataset.shape[1] != 4:
        raise FormatError(f"expected a table of four columns at 'davis/{side}/events'")
    facts = {"layout": "mvsec", "camera": side, "cameras": sorted(cameras)}
    return _MvsecSource(
        _DAVIS346,
        facts,
        file=file,
        rows={"events": table},
        order="xytp",
        seconds=True,
        side=side,
        sides=tuple(cameras),
    )


@dataclass(slots=True)
class _M3edSource(TableSource):
    def choose(self, stream: str) -> "_M3edSource":
        """Return the source of the other camera."""
        return _open_m3ed(self.file, sorted(self.sides, key=lambda side: side != stream))

    def imu(self) -> Imu | None:
        """Return the samples of the rig's IMU, without missing ones (NaN)."""
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


class M3edReader(Hdf5Layout):
    """Read HDF5 files in the layout of M3ED."""

    name = "m3ed"
    title = "HDF5 in the layout of M3ED"
    standard_sizes = ((1280, 720),)

    def matches(self, file: Any) -> bool:
        """Look for the columns of a camera."""
        return bool(_cameras(file, "prophesee/{}/t"))

    def open_source(self, file: Any) -> _M3edSource:
        """Find the columns of the first camera."""
        return _open_m3ed(file, _cameras(file, "prophesee/{}/t") or ["left"])


def _open_m3ed(file: Any, cameras: list[str]) -> _M3edSource:
    side = cameras[0]
    rows = datasets.find_columns_in(file, f"prophesee/{side}")
    size = find_rows(file, f"prophesee/{side}/calib/resolution")
    resolution = None
    if size is not None and size.n_stored == 2:
        width, height = size.read_all().tolist()
        resolution = int(width), int(height)
    facts = {"layout": "m3ed", "camera": side, "cameras": sorted(cameras)}
    return _M3edSource(resolution, facts, file=file, rows=rows, sides=tuple(cameras))


#: Attributes of the vendor's files for the metadata.
_FACTS = ("camera_integrator_name", "generation", "serial_number", "time_shift", "version")


@dataclass(slots=True)
class _CompoundSource(TableSource):
    """Events as the records of one table; field names as in `find_columns`."""

    def columns(self, parts: Mapping[str, NDArray[Any]]) -> Mapping[str, NDArray[Any]]:
        records = parts["events"]
        names = find_columns(records.dtype.names or ())
        return {column: records[name] for column, name in names.items()}

    def triggers(self) -> Triggers | None:
        table = find_rows(self.file, "EXT_TRIGGER/events", compound=True)
        if table is None:
            return None
        fields = table.dataset.dtype.names
        if not {"p", "t", "id"} <= set(fields):
            raise FormatError(f"triggers must have the fields p, t, id; got {', '.join(fields)}")
        records = table.read_all()
        return edge_triggers(records["t"].astype(np.int64), records["p"], records["id"])


class PropheseeHdf5Reader(Hdf5Layout):
    """Read HDF5 files in the layout of Prophesee, also with its ECF codec."""

    name = "prophesee-hdf5"
    title = "HDF5 in the layout of Prophesee"
    standard_sizes = PROPHESEE_SIZES

    def matches(self, file: Any) -> bool:
        """Look for the table of events."""
        return find_node(file, "CD/events") is not None

    def open_source(self, file: Any) -> _CompoundSource:
        """Find the table."""
        return open_records(file, "CD/events", "prophesee")


def open_records(file: Any, path: str, layout: str) -> _CompoundSource:
    """Find events stored as records of one table."""
    table = find_rows(file, path, compound=True)
    if table is None:
        raise FormatError(f"expected a table of records at {path!r}")
    find_columns(table.dataset.dtype.names)
    facts = {name: datasets.as_text(file.attrs[name]) for name in _FACTS if name in file.attrs}
    size = datasets.size_from_attributes(file)
    return _CompoundSource(size, {"layout": layout, **facts}, file=file, rows={"events": table})


#: Layouts with a name of their own.
LAYOUTS: tuple[type[Hdf5Layout], ...] = (DsecReader, MvsecReader, M3edReader, PropheseeHdf5Reader)


class Hdf5Reader(Hdf5Layout):
    """Read HDF5 files of every layout; recognizes the magic number only."""

    name = "hdf5"
    title = "HDF5"
    suffixes = (".h5", ".hdf5", ".hdf")

    def recognizes(self, head: bytes, path: Path) -> bool:
        """Look for the magic number, without h5py."""
        return datasets.has_magic(head)

    def open_source(self, file: Any) -> TableSource:
        """Find the events of an open file in any layout."""
        for layout in (kind() for kind in LAYOUTS):
            if layout.matches(file):
                return layout.open_source(file)
        h5py = datasets.library()
        node = find_node(file, "events")
        if not isinstance(node, h5py.Dataset):
            return _open_columns(file, "events" if isinstance(node, h5py.Group) else "")
        if node.dtype.names is not None:
            return open_records(file, "events", "records")
        return _open_table(file)


def _open_columns(file: Any, group: str) -> TableSource:
    members = file[group] if group else file
    names = find_columns(name for name in members if isinstance(name, str))
    prefix = f"{group}/" if group else ""
    found = {column: find_rows(file, prefix + name) for column, name in names.items()}
    missing = [names[column] for column, rows in found.items() if rows is None]
    if missing:
        raise FormatError(f"{prefix + missing[0]!r} is not a dataset")
    columns = {column: rows for column, rows in found.items() if rows is not None}
    size = datasets.size_from_attributes(file)
    return TableSource(size, {"layout": "columns"}, file=file, rows=columns)


def _open_table(file: Any) -> TableSource:
    table = find_rows(file, "events", n_axes=2)
    if table is None or table.dataset.shape[1] != 4 or table.dataset.dtype.kind not in "iu":
        raise FormatError("'events' must be a table of four columns of whole numbers: t, x, y, p")
    size = datasets.size_from_attributes(file)
    return TableSource(size, {"layout": "v2e"}, file=file, rows={"events": table}, order="txyp")
