"""HDF5 layout of DSEC and TUM-VIE: ``events/{x,y,t,p}``, ``ms_to_idx``, ``t_offset``.

Time in the file is relative to ``t_offset``. ``ms_to_idx[ms]`` is the first event at or after
millisecond ``ms`` of the relative time.
"""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import FormatError, OutputError
from evcrisp.core.events import Events
from evcrisp.core.validation import check_choice
from evcrisp.io.hdf5 import datasets
from evcrisp.io.protocol import Writer, check_labels

_COLUMNS = {"t": np.int64, "x": np.uint16, "y": np.uint16, "p": np.uint8}
_CHUNK_ROWS = 1 << 16
_BLOCK_ROWS = 4 * _CHUNK_ROWS

#: Limit of the index, which has one entry per millisecond; 11 days.
_MAX_INDEX = 1_000_000_000
_INDEX_BLOCK = 1 << 20


class DsecReader(datasets.Hdf5Layout):
    """Read HDF5 files in the layout of DSEC and TUM-VIE."""

    name = "dsec"
    title = "HDF5 in the layout of DSEC and TUM-VIE"

    def matches(self, file: Any) -> bool:
        """Look for the four columns."""
        return all(datasets.find_node(file, f"events/{column}") is not None for column in "xytp")

    def open_source(self, file: Any) -> datasets.TableSource:
        """Find the columns."""
        rows = datasets.find_columns_in(file, "events", "signal")
        t_offset = datasets.find_number(file, "t_offset") or 0
        size = datasets.size_from_attributes(file)
        facts = {"layout": "dsec", "t_offset_us": t_offset}
        try:
            index = datasets.find_rows(file, "ms_to_idx")
        except FormatError:
            index = None  # times are searched without it
        return datasets.TableSource(
            size, facts, file=file, rows=rows, t_offset=t_offset, index=index
        )


class _OutputFile:
    """A file object whose writes never raise; `check` raises the first failure.

    HDF5 writes buffered data when a file is closed, or when Python ends. If that fails (full disk),
    it crashes the process, because its objects can neither be written nor released.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb+", buffering=0)
        self._failure: OSError | None = None
        self._position = 0

    def check(self) -> None:
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        self._file.close()

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._position = self._file.seek(offset, whence)
        return self._position

    def tell(self) -> int:
        return self._position

    def read(self, size: int) -> bytes:
        """Return bytes; h5py requires this method."""
        buffer = bytearray(size)
        self.readinto(memoryview(buffer))
        return bytes(buffer)

    def readinto(self, buffer: memoryview) -> int:
        """Fill the buffer, with zeros after the end of the file."""
        view = memoryview(buffer).cast("B")
        n_read = self._file.readinto(view) or 0
        view[n_read:] = bytes(len(view) - n_read)
        self._position += len(view)
        return len(view)

    def write(self, data: memoryview) -> int:
        """Write all of the data, or keep the failure."""
        view = memoryview(data).cast("B")
        n_written = 0
        try:
            while self._failure is None and n_written < len(view):
                n_written += self._file.write(view[n_written:])
        except OSError as error:
            self._failure = error
        self._position += len(view)
        return len(view)

    def truncate(self, size: int) -> int:
        """Set the size, or keep the failure."""
        try:
            if self._failure is None:
                self._file.truncate(size)
        except OSError as error:
            self._failure = error
        return size

    def flush(self) -> None:
        pass  # there is no buffer


@dataclass(slots=True)
class _DsecSink:
    """Datasets that grow by whole blocks, so that the file does not depend on the chunks."""

    file: Any  # h5py.File
    output: _OutputFile
    options: dict[str, Any]
    t_offset: int = 0
    has_signal: bool | None = None  # None before the first event
    empty_has_signal: bool = False
    n_events: int = 0
    n_index: int = 0
    datasets: dict[str, Any] = field(default_factory=dict)
    waiting: dict[str, NDArray[Any]] = field(default_factory=dict)  # less than a block

    def write(self, events: Events) -> None:
        if len(events) == 0:
            self.empty_has_signal |= events.signal is not None
            return
        if self.has_signal is None:
            self._start(int(events.t[0]), events.signal is not None)
        check_labels(events.signal is not None, bool(self.has_signal))
        self._check_span(int(events.t[-1]))
        new = {"t": events.t - self.t_offset, "x": events.x, "y": events.y, "p": events.p}
        if events.signal is not None:
            new["signal"] = events.signal
        columns = {
            name: np.concatenate([self.waiting[name], column]) for name, column in new.items()
        }
        self._write_blocks(columns, columns["t"].size // _BLOCK_ROWS * _BLOCK_ROWS)

    def finish(self) -> None:
        if self.has_signal is None:
            self._start(0, self.empty_has_signal)
        self._write_blocks(self.waiting, self.waiting["t"].size)
        self.file.create_dataset("t_offset", data=np.int64(self.t_offset))
        self.abort()
        self.output.check()

    def abort(self) -> None:
        self.file.close()
        self.output.close()

    def _start(self, t_offset: int, has_signal: bool) -> None:
        self.t_offset, self.has_signal = t_offset, has_signal
        dtypes = {**_COLUMNS, "signal": np.uint8} if has_signal else _COLUMNS
        self.waiting = {name: np.empty(0, dtype) for name, dtype in dtypes.items()}
        options = {"maxshape": (None,), "chunks": (_CHUNK_ROWS,), "track_times": False}
        for name, dtype in {**dtypes, "ms_to_idx": np.uint64}.items():
            path = name if name == "ms_to_idx" else f"events/{name}"
            self.datasets[name] = self.file.create_dataset(
                path, shape=(0,), dtype=dtype, **options, **self.options
            )

    def _check_span(self, t_last: int) -> None:
        n_index = (t_last - self.t_offset) // 1000 + 1
        if n_index > _MAX_INDEX:
            days = f"{n_index / 86_400_000:.0f} days, more than 11"
            raise OutputError(
                f"The DSEC layout has one index entry per millisecond; these events span {days}.",
                remedy="Use npz, or write parts.",
            )

    def _write_blocks(self, columns: dict[str, NDArray[Any]], n_ready: int) -> None:
        """Write the first rows in blocks of one size; keep the others for later."""
        for first in range(0, n_ready, _BLOCK_ROWS):
            last = min(first + _BLOCK_ROWS, n_ready)
            for name, column in columns.items():
                _append(self.datasets[name], column[first:last])
            self._append_index(columns["t"][first:last])
            self.n_events += last - first
        self.waiting = {name: column[n_ready:].copy() for name, column in columns.items()}
        self.output.check()

    def _append_index(self, t: NDArray[np.int64]) -> None:
        n_index = int(t[-1]) // 1000 + 1
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
class DsecWriter(Writer):
    """Write HDF5 in the DSEC layout, with labels (`signal`) in the group of events.

    Parameters
    ----------
    compression : {"blosc", "gzip", "none"}
        ``"blosc"`` (with zstd, as in DSEC) requires hdf5plugin for reading.
    """

    name = "dsec"
    title = "HDF5 in the DSEC layout"
    suffixes = (".h5", ".hdf5")
    keeps_signal = True

    compression: str = "blosc"

    def __post_init__(self) -> None:
        check_choice("compression", self.compression, ("blosc", "gzip", "none"))

    def open(self, path: Path, resolution: tuple[int, int]) -> _DsecSink:
        """Start a file."""
        h5py = datasets.library()
        output = _OutputFile(path)
        file = h5py.File(output, "w")
        file.attrs["creator"] = "evcrisp"
        file.attrs["resolution"] = np.array(resolution, np.int64)
        return _DsecSink(file, output, self._options())

    def _options(self) -> dict[str, Any]:
        if self.compression == "none":
            return {}
        if self.compression == "gzip":
            return {"compression": "gzip", "compression_opts": 4, "shuffle": True}
        import hdf5plugin

        return dict(hdf5plugin.Blosc(cname="zstd", clevel=1, shuffle=hdf5plugin.Blosc.SHUFFLE))
