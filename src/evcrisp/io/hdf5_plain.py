"""HDF5 files with plain columns or one plain table, as many scripts and simulators write them.

- columns ``x, y, t, p`` or ``xs, ys, ts, ps`` at the root or in ``events`` (event_utils, EDS, e2calib);
- a table ``events`` of four columns t [us], x, y, p (v2e);
- a table ``events`` of records.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from evcrisp.errors import FormatError
from evcrisp.io import hdf5_prophesee
from evcrisp.io._columns import find_columns
from evcrisp.io._hdf5 import TableSource, find_node, find_rows, library, size_from_attributes


@dataclass(slots=True)
class V2eSource(TableSource):
    """Events as a table of t, x, y, p."""

    def columns(self, parts: Mapping[str, NDArray[Any]]) -> Mapping[str, NDArray[Any]]:
        """Split the table."""
        t, x, y, p = parts["events"].T
        return {"x": x, "y": y, "t": t, "p": p}


def matches(file: Any) -> bool:
    """Accept every file: this layout is asked last, and says what it looked for."""
    return True


def open_source(file: Any) -> TableSource:
    """Find the columns of an open file."""
    h5py = library()
    node = find_node(file, "events")
    if not isinstance(node, h5py.Dataset):
        return _columns(file, "events" if isinstance(node, h5py.Group) else "")
    if node.dtype.names is not None:
        return hdf5_prophesee.open_source(file, "events", "records")
    table = find_rows(file, "events", n_axes=2)
    if table is None or node.shape[1] != 4 or node.dtype.kind not in "iu":
        raise FormatError(
            "'events' must be a table of whole numbers t [us], x, y, p; "
            f"got {node.dtype} of shape {node.shape}"
        )
    return V2eSource(
        resolution=size_from_attributes(file),
        metadata={"layout": "v2e"},
        file=file,
        rows={"events": table},
    )


def _columns(file: Any, group: str) -> TableSource:
    members = file[group] if group else file
    names = find_columns(members.keys())
    prefix = f"{group}/" if group else ""
    found = {column: find_rows(file, prefix + name) for column, name in names.items()}
    missing = [names[column] for column, rows in found.items() if rows is None]
    if missing:
        raise FormatError(f"{prefix + missing[0]!r} is not a dataset")
    return TableSource(
        resolution=size_from_attributes(file),
        metadata={"layout": "columns"},
        file=file,
        rows={column: rows for column, rows in found.items() if rows is not None},
    )
