"""Event store: a copy of a recording on disk with fast access to any time.

Most formats can only be read from the beginning. A recording is read once, in bounded memory, into
two flat, memory-mapped files of 12 bytes per event. A third file has the windows of `run`.
"""

import contextlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.camera import Camera
from evcrisp.core.events import Events
from evcrisp.core.types import Bools
from evcrisp.core.windows import Window, end_at_last_event
from evcrisp.io.leftovers import owned_name, remove_leftovers
from evcrisp.pipeline.windowing import Windowing
from evcrisp.viewer.bundle_format import pack_pixels, unpack_events, write_bundle

_PREFIX = "evcrisp-view-"


def make_temp_dir() -> str:
    """Create a temporary folder in ``TMPDIR``, else in ``/var/tmp``; the caller removes it.

    ``/tmp`` is often kept in memory. Folders of processes of this host that were killed are removed
    first.
    """
    use_var_tmp = "TMPDIR" not in os.environ and os.access("/var/tmp", os.W_OK)
    parent = "/var/tmp" if use_var_tmp else tempfile.gettempdir()
    remove_leftovers(Path(parent), _PREFIX)
    folder = Path(parent) / owned_name(_PREFIX)
    folder.mkdir(mode=0o700)
    return str(folder)


PIXELS, TIMES, WINDOWS = "pixels.u4", "times.i8", "windows.i8"

#: Events of a window that are sent and drawn; of more, every second, third, ... event.
MAX_SHOWN = 1_000_000

#: Bins of the event rate; above this number, pairs of bins are merged.
MAX_BINS = 2_048


@dataclass(slots=True)
class EventRate:
    """Number of OFF and ON events per time bin; bins grow with the recording."""

    bin_us: int = 1_000
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros((2, 1), np.int64))

    def add(self, t: NDArray[np.int64], p: Bools) -> None:
        """Count events; ``t`` is the time since the first event of the recording, us."""
        if not t.size:
            return
        while int(t[-1]) // self.bin_us >= MAX_BINS:
            self._merge_bins()
        bins = t // self.bin_us
        n_bins = int(bins[-1]) + 1
        if n_bins > self.counts.shape[1]:
            self.counts = np.pad(self.counts, ((0, 0), (0, n_bins - self.counts.shape[1])))
        size = self.counts.shape[1]
        self.counts[1] += np.bincount(bins[p], minlength=size)
        self.counts[0] += np.bincount(bins[~p], minlength=size)

    def _merge_bins(self) -> None:
        even = np.pad(self.counts, ((0, 0), (0, self.counts.shape[1] % 2)))
        self.counts = even.reshape(2, -1, 2).sum(axis=2)
        self.bin_us *= 2

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers as JSON types."""
        off, on = self.counts.tolist()
        return {"bin_us": self.bin_us, "off": off, "on": on}


@dataclass(frozen=True, slots=True)
class EventStore:
    """Location and facts of the stored events; can be sent to other processes."""

    folder: str
    resolution: tuple[int, int]  # (width, height) px
    n_events: int = 0
    t_first: int = 0  # us
    t_last: int = 0  # us
    has_labels: bool = False
    n_windows: int = 0  # that the events choose
    camera: Camera | None = None  # of the recording

    @property
    def duration_us(self) -> int:
        """Time from the first event to the end of the last microsecond."""
        return self.t_last - self.t_first + 1 if self.n_events else 0

    def _open(self) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        if not self.n_events:
            return np.zeros(0, np.uint32), np.zeros(0, np.int64)
        folder, n = Path(self.folder), self.n_events
        pixels = np.memmap(folder / PIXELS, "<u4", "r", shape=(n,))
        return pixels, np.memmap(folder / TIMES, "<i8", "r", shape=(n,))

    def _open_window(
        self, start_us: int, duration_us: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64], int]:
        """Return pixels and times of a window, and the number of events before it."""
        pixels, times = self._open()
        t_start = self.t_first + start_us
        first, last = np.searchsorted(times, (t_start, t_start + duration_us))
        return pixels[first:last], times[first:last], int(first)

    def _unpack(self, pixels: NDArray[np.uint32], times: NDArray[np.int64]) -> Events:
        columns = np.array(pixels), np.array(times)
        return unpack_events(*columns, self.resolution, has_labels=self.has_labels)

    def window(self, start_us: int, duration_us: int) -> Window:
        """Return a window that starts ``start_us`` after the first event."""
        pixels, times, index = self._open_window(start_us, duration_us)
        t_start = self.t_first + start_us
        window = Window(self._unpack(pixels, times), t_start, t_start + duration_us, index)
        return end_at_last_event(window, self.t_last) if self.n_events else window

    def bundle(self, start_us: int, duration_us: int) -> bytes:
        """Return the events of a window as a bundle of 8 bytes per event."""
        pixels, times, _ = self._open_window(start_us, duration_us)
        step = display_step(times.size)
        dt = times[::step] - (self.t_first + start_us)
        facts = {
            "start_us": start_us,
            "duration_us": duration_us,
            "n_events": times.size,
            "step": step,
            "has_labels": self.has_labels,
        }
        return write_bundle(facts, {"pixels": pixels[::step], "dt": dt.astype(np.uint32)})

    def windows(self) -> NDArray[np.int64]:
        """Return start and duration of the windows that the events choose, shape (n, 2), us.

        They are those of `track`; starts count from the first event.
        """
        if not self.n_windows:
            return np.zeros((0, 2), np.int64)
        stored = np.fromfile(Path(self.folder) / WINDOWS, "<i8", 2 * self.n_windows).reshape(-1, 2)
        return np.column_stack((stored[:, 0] - self.t_first, stored[:, 1] - stored[:, 0]))

    def chunks(self, max_events: int = 1 << 18) -> Iterator[Events]:
        """Yield all events."""
        pixels, times = self._open()
        for first in range(0, self.n_events, max_events):
            part = slice(first, first + max_events)
            yield self._unpack(pixels[part], times[part])


def display_step(n_events: int) -> int:
    """Return the step between events that are shown; 1 for all events."""
    return max(1, -(-n_events // MAX_SHOWN))


class EventStoreWriter:
    """Writes the files of an event store, chunk by chunk."""

    def __init__(
        self, folder: Path, resolution: tuple[int, int], camera: Camera | None = None
    ) -> None:
        self.folder = folder
        self.resolution = resolution
        self.camera = camera
        self.rate = EventRate()
        self._pixels: BinaryIO = (folder / PIXELS).open("wb")
        self._times: BinaryIO = (folder / TIMES).open("wb")
        self._windows: BinaryIO = (folder / WINDOWS).open("wb")
        self._n = self._t_first = self._t_last = self._n_windows = 0
        self._has_labels = False

    def append(self, events: Events) -> None:
        """Append events."""
        if not len(events):
            return
        if not self._n:
            self._t_first = int(events.t[0])
            self._has_labels = events.signal is not None
        self._pixels.write(pack_pixels(events).astype("<u4", copy=False).tobytes())
        self._times.write(events.t.astype("<i8", copy=False).tobytes())
        self.rate.add(events.t - self._t_first, events.p)
        self._n += len(events)
        self._t_last = int(events.t[-1])

    def append_all(self, chunks: Iterable[Events]) -> None:
        """Append all chunks, and the windows that their events choose."""

        def appended() -> Iterator[Events]:
            for chunk in chunks:
                self.append(chunk)
                yield chunk

        for window, _ in Windowing().cut(appended(), lambda: None):
            self._windows.write(np.array((window.t_start, window.t_end), "<i8").tobytes())
            self._n_windows += 1

    def store(self) -> EventStore:
        """Flush the files, and return the store of the events so far."""
        for file in (self._pixels, self._times, self._windows):
            if not file.closed:
                file.flush()
        facts = self._n, self._t_first, self._t_last, self._has_labels, self._n_windows
        return EventStore(str(self.folder), self.resolution, *facts, self.camera)

    def close(self) -> None:
        """Close the files."""
        self._pixels.close()
        self._times.close()
        self._windows.close()


def write_store(
    chunks: Iterable[Events],
    resolution: tuple[int, int],
    folder: Path,
    camera: Camera | None = None,
) -> EventStoreWriter:
    """Write all chunks to an event store, and return its closed writer."""
    with contextlib.closing(EventStoreWriter(folder, resolution, camera)) as writer:
        writer.append_all(chunks)
    return writer
