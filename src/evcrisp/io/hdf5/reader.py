"""Read HDF5 of any layout.

- Prophesee: tables ``CD/events`` and ``EXT_TRIGGER/events``. The vendor's files are compressed with
  its ECF codec, which only its SDK can read; an error with advice is raised for them.
- columns ``x, y, t, p`` or ``xs, ys, ts, ps`` at the root or in ``events`` (event_utils, EDS, e2calib);
- a table ``events`` of four columns t [us], x, y, p (v2e);
- a table ``events`` of records.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import FormatError
from evcrisp.core.sensor_data import Triggers
from evcrisp.io.event_columns import find_columns
from evcrisp.io.hdf5 import datasets
from evcrisp.io.hdf5.dsec import DsecReader
from evcrisp.io.hdf5.stereo import M3edReader, MvsecReader
from evcrisp.io.prophesee.evt_decoder import edge_triggers
from evcrisp.io.protocol import PROPHESEE_SIZES

#: Attributes of the vendor's files for the metadata.
_FACTS = ("camera_integrator_name", "generation", "serial_number", "time_shift", "version")


@dataclass(slots=True)
class CompoundSource(datasets.TableSource):
    """Events as the records of one table; field names as in `find_columns`."""

    def columns(self, parts: Mapping[str, NDArray[Any]]) -> Mapping[str, NDArray[Any]]:
        """Split the records."""
        records = parts["events"]
        names = find_columns(records.dtype.names or ())
        return {column: records[name] for column, name in names.items()}

    def triggers(self) -> Triggers | None:
        """Return all external triggers."""
        table = datasets.find_rows(self.file, "EXT_TRIGGER/events", compound=True)
        if table is None:
            return None
        fields = table.dataset.dtype.names
        if not {"p", "t", "id"} <= set(fields):
            raise FormatError(f"triggers must have the fields p, t, id; got {', '.join(fields)}")
        records = table.read_all()
        return edge_triggers(records["t"].astype(np.int64), records["p"], records["id"])


class PropheseeHdf5Reader(datasets.Hdf5Layout):
    """Read HDF5 files in the layout of Prophesee, except those with its own codec."""

    name = "prophesee-hdf5"
    title = "HDF5 in the layout of Prophesee"
    standard_sizes = PROPHESEE_SIZES

    def matches(self, file: Any) -> bool:
        """Look for the table of events."""
        return datasets.find_node(file, "CD/events") is not None

    def open_source(self, file: Any) -> CompoundSource:
        """Find the table."""
        return open_records(file, "CD/events", "prophesee")


def open_records(file: Any, path: str, layout: str) -> CompoundSource:
    """Find events stored as records of one table."""
    table = datasets.find_rows(file, path, compound=True)
    if table is None:
        raise FormatError(f"expected a table of records at {path!r}")
    find_columns(table.dataset.dtype.names)
    facts = {name: datasets.as_text(file.attrs[name]) for name in _FACTS if name in file.attrs}
    return CompoundSource(
        resolution=datasets.size_from_attributes(file),
        metadata={"layout": layout, **facts},
        file=file,
        rows={"events": table},
    )


#: Readers of the named layouts, in the order of detection.
LAYOUTS: tuple[datasets.Hdf5Layout, ...] = (
    DsecReader(),
    MvsecReader(),
    M3edReader(),
    PropheseeHdf5Reader(),
)


@dataclass(slots=True)
class V2eSource(datasets.TableSource):
    """Events as a table of t, x, y, p."""

    def columns(self, parts: Mapping[str, NDArray[Any]]) -> Mapping[str, NDArray[Any]]:
        """Split the table."""
        t, x, y, p = parts["events"].T
        return {"x": x, "y": y, "t": t, "p": p}


class Hdf5Reader(datasets.Hdf5Layout):
    """Read HDF5 files of every layout; recognizes the magic number only."""

    name = "hdf5"
    title = "HDF5"
    suffixes = (".h5", ".hdf5", ".hdf")

    def recognizes(self, head: bytes, path: Path) -> bool:
        """Look for the magic number, without h5py."""
        return datasets.has_magic(head)

    def open_source(self, file: Any) -> datasets.TableSource:
        """Find the events of an open file in any layout."""
        for layout in LAYOUTS:
            if layout.matches(file):
                return layout.open_source(file)
        h5py = datasets.library()
        node = datasets.find_node(file, "events")
        if not isinstance(node, h5py.Dataset):
            return _open_columns(file, "events" if isinstance(node, h5py.Group) else "")
        if node.dtype.names is not None:
            return open_records(file, "events", "records")
        return _open_table(file)


def _open_columns(file: Any, group: str) -> datasets.TableSource:
    members = file[group] if group else file
    names = find_columns(members.keys())
    prefix = f"{group}/" if group else ""
    found = {column: datasets.find_rows(file, prefix + name) for column, name in names.items()}
    missing = [names[column] for column, rows in found.items() if rows is None]
    if missing:
        raise FormatError(f"{prefix + missing[0]!r} is not a dataset")
    return datasets.TableSource(
        resolution=datasets.size_from_attributes(file),
        metadata={"layout": "columns"},
        file=file,
        rows={column: rows for column, rows in found.items() if rows is not None},
    )


def _open_table(file: Any) -> V2eSource:
    table = datasets.find_rows(file, "events", n_axes=2)
    if table is None or table.dataset.shape[1] != 4 or table.dataset.dtype.kind not in "iu":
        raise FormatError("'events' must be a table of four columns of whole numbers: t, x, y, p")
    return V2eSource(
        resolution=datasets.size_from_attributes(file),
        metadata={"layout": "v2e"},
        file=file,
        rows={"events": table},
    )
