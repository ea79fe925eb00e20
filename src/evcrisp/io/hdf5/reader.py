"""Read HDF5 of any layout, and plain columns and tables of scripts and simulators.

- columns ``x, y, t, p`` or ``xs, ys, ts, ps`` at the root or in ``events`` (event_utils, EDS, e2calib);
- a table ``events`` of four columns t [us], x, y, p (v2e);
- a table ``events`` of records.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from evcrisp.core.errors import FormatError
from evcrisp.io.event_columns import find_columns
from evcrisp.io.hdf5 import datasets
from evcrisp.io.hdf5.dsec import DsecReader
from evcrisp.io.hdf5.prophesee import PropheseeHdf5Reader, open_records
from evcrisp.io.hdf5.stereo import M3edReader, MvsecReader

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
