"""The HDF5 layout of DSEC and TUM-VIE: ``events/{x,y,t,p}``, ``ms_to_idx``, ``t_offset``.

Time in the file is relative; ``t_offset`` is to be added. ``ms_to_idx[ms]`` is the first event at
or after millisecond ``ms`` of that relative time.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.errors import ConfigError, OutputError
from evcrisp.events import Events
from evcrisp.io._columns import COLUMN_ALIASES
from evcrisp.io._hdf5 import (
    TableSource,
    find_node,
    find_number,
    find_rows,
    library,
    size_from_attributes,
)

_COLUMNS = {"t": np.int64, "x": np.uint16, "y": np.uint16, "p": np.uint8}
_CHUNK_ROWS = 1 << 16

#: The index has one entry per millisecond; beyond this (11 days) it would outgrow the events.
_MAX_INDEX = 1_000_000_000
_INDEX_BLOCK = 1 << 20

_COMPRESSIONS = ("blosc", "gzip", "none")


def matches(file: Any) -> bool:
    """Say whether the file has this layout."""
    return all(find_node(file, f"events/{column}") is not None for column in "xytp")


def open_source(file: Any) -> TableSource:
    """Find the columns of an open file."""
    names = [name for name in COLUMN_ALIASES if find_node(file, f"events/{name}") is not None]
    found = {name: find_rows(file, f"events/{name}") for name in names}
    t_offset = find_number(file, "t_offset") or 0
    return TableSource(
        resolution=size_from_attributes(file),
        metadata={"layout": "dsec", "t_offset_us": t_offset},
        file=file,
        rows={name: rows for name, rows in found.items() if rows is not None},
        t_offset=t_offset,
    )


@dataclass(slots=True)
class DsecSink:
    """Datasets that grow with each write."""

    file: Any  # h5py.File
    options: dict[str, Any]
    t_offset: int | None = None
    has_signal: bool | None = None
    n_events: int = 0
    n_index: int = 0
    datasets: dict[str, Any] = field(default_factory=dict)

    def write(self, events: Events) -> None:
        """Append events."""
        if len(events) == 0:
            return
        if self.t_offset is None:
            self._start(events)
        if (events.signal is not None) != self.has_signal:
            raise ConfigError("Either all events or none must have labels (`signal`).")
        t = events.t - self.t_offset
        columns = {"t": t, "x": events.x, "y": events.y, "p": events.p}
        if events.signal is not None:
            columns["signal"] = events.signal
        for name, column in columns.items():
            _append(self.datasets[name], column)
        self._append_index(t)
        self.n_events += len(events)

    def finish(self) -> None:
        """Complete and close the file."""
        if self.t_offset is None:
            self._start(None)
        self.file.create_dataset("t_offset", data=np.int64(self.t_offset))
        self.file.close()

    def abort(self) -> None:
        """Close the file without completing it."""
        self.file.close()

    def _start(self, events: Events | None) -> None:
        self.t_offset = 0 if events is None else int(events.t[0])
        self.has_signal = events is not None and events.signal is not None
        dtypes = {f"events/{name}": dtype for name, dtype in _COLUMNS.items()}
        if self.has_signal:
            dtypes["events/signal"] = np.uint8
        for path, dtype in {**dtypes, "ms_to_idx": np.uint64}.items():
            self.datasets[path.removeprefix("events/")] = self.file.create_dataset(
                path,
                shape=(0,),
                maxshape=(None,),
                chunks=(_CHUNK_ROWS,),
                dtype=dtype,
                track_times=False,
                **self.options,
            )

    def _append_index(self, t: NDArray[np.int64]) -> None:
        n_index = int(t[-1]) // 1000 + 1
        if n_index > _MAX_INDEX:
            raise OutputError(
                "The DSEC layout keeps one index entry per millisecond; these events span "
                f"{n_index / 86_400_000:.0f} days, more than 11. Use npz, or write parts."
            )
        for first in range(self.n_index, n_index, _INDEX_BLOCK):
            ms = np.arange(first, min(first + _INDEX_BLOCK, n_index), dtype=np.int64)
            index = self.n_events + np.searchsorted(t, ms * 1000, side="left")
            _append(self.datasets["ms_to_idx"], index)
        self.n_index = n_index


def _append(dataset: Any, values: NDArray[Any]) -> None:
    n = dataset.shape[0]
    dataset.resize(n + values.size, axis=0)
    dataset[n:] = values


@dataclass(frozen=True, slots=True, kw_only=True)
class DsecWriter:
    """Write HDF5 in the DSEC layout, with the labels (`signal`) beside the events.

    Parameters
    ----------
    compression : {"blosc", "gzip", "none"}
        ``"blosc"`` (with zstd, as DSEC has it) needs hdf5plugin wherever the file is read.
    """

    name: ClassVar[str] = "dsec"
    title: ClassVar[str] = "HDF5 in the DSEC layout"
    suffixes: ClassVar[tuple[str, ...]] = (".h5", ".hdf5")
    keeps_signal: ClassVar[bool] = True
    keeps_extras: ClassVar[bool] = False

    compression: str = "blosc"

    def __post_init__(self) -> None:
        if self.compression not in _COMPRESSIONS:
            raise ConfigError(
                f"`compression` must be one of {', '.join(_COMPRESSIONS)}; got {self.compression!r}."
            )

    def open(self, path: Path, resolution: tuple[int, int]) -> DsecSink:
        """Start a file."""
        file = library().File(path, "w")
        file.attrs["creator"] = "evcrisp"
        file.attrs["resolution"] = np.array(resolution, np.int64)
        return DsecSink(file, self._options())

    def _options(self) -> dict[str, Any]:
        if self.compression == "none":
            return {}
        if self.compression == "gzip":
            return {"compression": "gzip", "compression_opts": 4, "shuffle": True}
        import hdf5plugin

        return dict(hdf5plugin.Blosc(cname="zstd", clevel=1, shuffle=hdf5plugin.Blosc.SHUFFLE))
