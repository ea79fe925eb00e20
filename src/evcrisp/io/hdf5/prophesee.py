"""HDF5 layout of Prophesee: tables ``CD/events`` and ``EXT_TRIGGER/events``.

The vendor's files are compressed with its ECF codec, which only its SDK can read; an error with
advice is raised for them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import FormatError
from evcrisp.core.sensor_data import Triggers
from evcrisp.io.event_columns import find_columns
from evcrisp.io.hdf5 import datasets
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
