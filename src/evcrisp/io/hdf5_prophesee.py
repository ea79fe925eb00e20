"""The HDF5 layout of Prophesee: tables ``CD/events`` (x, y, p, t) and ``EXT_TRIGGER/events`` (p, t, id).

The vendor's own files are compressed with its ECF codec, which only its SDK can undo; those are
recognized and refused with advice.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.errors import FormatError
from evcrisp.io._columns import find_columns
from evcrisp.io._hdf5 import TableSource, as_text, find_node, find_rows, size_from_attributes
from evcrisp.streams import TriggerKind, Triggers

#: Attributes of the vendor's files that a user may want to see.
_FACTS = ("camera_integrator_name", "generation", "serial_number", "time_shift", "version")


def matches(file: Any) -> bool:
    """Say whether the file has this layout."""
    return find_node(file, "CD/events") is not None


@dataclass(slots=True)
class CompoundSource(TableSource):
    """Events as the records of one table; field names as in `find_columns`."""

    def columns(self, parts: Mapping[str, NDArray[Any]]) -> Mapping[str, NDArray[Any]]:
        """Split the records."""
        records = parts["events"]
        names = find_columns(records.dtype.names or ())
        return {column: records[name] for column, name in names.items()}

    def triggers(self) -> Triggers | None:
        """Return all external triggers."""
        table = find_rows(self.file, "EXT_TRIGGER/events", compound=True)
        if table is None:
            return None
        fields = table.dataset.dtype.names
        if not {"p", "t", "id"} <= set(fields):
            raise FormatError(f"triggers must have the fields p, t, id; got {', '.join(fields)}")
        records = table.read_all()
        rising, falling = TriggerKind.RISING_EDGE, TriggerKind.FALLING_EDGE
        return Triggers(
            t=records["t"].astype(np.int64),
            kind=np.where(records["p"] > 0, rising, falling).astype(np.uint8),
            channel=records["id"].astype(np.uint8),
        )


def open_source(file: Any, path: str = "CD/events", layout: str = "prophesee") -> CompoundSource:
    """Find the table of an open file."""
    table = find_rows(file, path, compound=True)
    if table is None:
        raise FormatError(f"{path!r} is not a table")
    find_columns(table.dataset.dtype.names)
    facts = {name: as_text(file.attrs[name]) for name in _FACTS if name in file.attrs}
    return CompoundSource(
        resolution=size_from_attributes(file),
        metadata={"layout": layout, **facts},
        file=file,
        rows={"events": table},
    )
