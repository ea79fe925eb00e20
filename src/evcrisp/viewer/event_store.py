"""A recording on disk in a form in which any time can be reached at once.

Most formats can only be read from the beginning. They are read once, in bounded memory, into two
flat files of 12 bytes per event, which are mapped: a window costs what it holds, wherever it is.
"""

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events
from evcrisp.core.windows import Window, end_at_last_event
from evcrisp.viewer.bundle_format import pack_pixels, unpack_events, write_bundle

PIXELS, TIMES = "pixels.u4", "times.i8"

#: Windows are drawn and sent with at most this many events; of more, every second, third...
MAX_SHOWN = 1_000_000

#: Bins of the event rate; when there are more, two become one.
MAX_BINS = 2_048


@dataclass(slots=True)
class Rate:
    """Events per bin of time, in bins that grow with the recording."""

    bin_us: int = 1_000
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros((2, 1), np.int64))

    def add(self, t: NDArray[np.int64], p: NDArray[np.bool_]) -> None:
        """Count events; ``t`` is the time since the first event of the recording, us."""
        if not t.size:
            return
        while int(t[-1]) // self.bin_us >= MAX_BINS:
            self._halve()
        bins = t // self.bin_us
        n_bins = int(bins[-1]) + 1
        if n_bins > self.counts.shape[1]:
            self.counts = np.pad(self.counts, ((0, 0), (0, n_bins - self.counts.shape[1])))
        size = self.counts.shape[1]
        self.counts[1] += np.bincount(bins[p], minlength=size)
        self.counts[0] += np.bincount(bins[~p], minlength=size)

    def _halve(self) -> None:
        even = np.pad(self.counts, ((0, 0), (0, self.counts.shape[1] % 2)))
        self.counts = even.reshape(2, -1, 2).sum(axis=2)
        self.bin_us *= 2

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers as JSON types."""
        return {
            "bin_us": self.bin_us,
            "off": self.counts[0].tolist(),
            "on": self.counts[1].tolist(),
        }


@dataclass(frozen=True, slots=True)
class Spool:
    """What is known of the files so far. It says where they are, and travels between processes."""

    folder: str
    resolution: tuple[int, int]  # (width, height) px
    n_events: int = 0
    t_first: int = 0  # us
    t_last: int = 0  # us
    has_labels: bool = False

    @property
    def duration_us(self) -> int:
        """Time from the first event to the end of the last microsecond."""
        return self.t_last - self.t_first + 1 if self.n_events else 0

    def _mapped(self) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        if not self.n_events:
            return np.zeros(0, np.uint32), np.zeros(0, np.int64)
        folder, n = Path(self.folder), self.n_events
        pixels = np.memmap(folder / PIXELS, "<u4", "r", shape=(n,))
        return pixels, np.memmap(folder / TIMES, "<i8", "r", shape=(n,))

    def _range(self, t: NDArray[np.int64], start_us: int, length_us: int) -> tuple[int, int]:
        t_start = self.t_first + start_us
        first, last = np.searchsorted(t, (t_start, t_start + length_us))
        return int(first), int(last)

    def window(self, start_us: int, length_us: int) -> Window:
        """Return a window that starts so long after the first event."""
        pixels, times = self._mapped()
        first, last = self._range(times, start_us, length_us)
        events = unpack_events(
            np.array(pixels[first:last]),
            np.array(times[first:last]),
            self.resolution,
            has_labels=self.has_labels,
        )
        t_start = self.t_first + start_us
        window = Window(events, t_start, t_start + length_us, first)
        return end_at_last_event(window, int(times[-1])) if times.size else window

    def packed_window(self, start_us: int, length_us: int) -> bytes:
        """Return the events of a window as a bundle of 8 bytes per event."""
        pixels, times = self._mapped()
        first, last = self._range(times, start_us, length_us)
        step = stride(last - first)
        dt = times[first:last:step] - (self.t_first + start_us)
        facts = {
            "start_us": start_us,
            "length_us": length_us,
            "n_events": last - first,
            "stride": step,
            "has_labels": self.has_labels,
        }
        return write_bundle(facts, {"pixels": pixels[first:last:step], "dt": dt.astype(np.uint32)})

    def chunks(self, max_events: int = 1 << 18) -> Iterator[Events]:
        """Yield all events."""
        pixels, times = self._mapped()
        for first in range(0, self.n_events, max_events):
            part = slice(first, first + max_events)
            yield unpack_events(
                np.array(pixels[part]),
                np.array(times[part]),
                self.resolution,
                has_labels=self.has_labels,
            )


def stride(n_events: int) -> int:
    """Return of how many events one is shown."""
    return max(1, -(-n_events // MAX_SHOWN))


class SpoolWriter:
    """Writes the files of a spool, chunk after chunk."""

    def __init__(self, folder: Path, resolution: tuple[int, int]) -> None:
        self.folder = folder
        self.resolution = resolution
        self.rate = Rate()
        self._pixels: BinaryIO = (folder / PIXELS).open("wb")
        self._times: BinaryIO = (folder / TIMES).open("wb")
        self._n = self._t_first = self._t_last = 0
        self._has_labels = False

    def append(self, events: Events) -> None:
        """Add the next events."""
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

    def flushed(self) -> Spool:
        """Return the spool of what was added until now; it can be read at once."""
        for file in (self._pixels, self._times):
            if not file.closed:
                file.flush()
        return Spool(
            str(self.folder),
            self.resolution,
            self._n,
            self._t_first,
            self._t_last,
            self._has_labels,
        )

    def close(self) -> None:
        """Close the files."""
        self._pixels.close()
        self._times.close()


def spooled(chunks: Iterable[Events], resolution: tuple[int, int], folder: Path) -> SpoolWriter:
    """Write all chunks to a spool; the writer that comes back is closed and knows the facts."""
    with contextlib.closing(SpoolWriter(folder, resolution)) as writer:
        for chunk in chunks:
            writer.append(chunk)
    return writer
