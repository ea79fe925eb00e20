"""Samples of recordings: events of bounded number and time, and what is known about them."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evcrisp.core.events import Events
from evcrisp.core.types import Bools, Floats
from evcrisp.io.reading import open_recording

if TYPE_CHECKING:
    from evcrisp.experiments.datasets import Clip


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of a sample, from the start of a recording or of its truth."""

    max_events: int | None = None
    max_us: int | None = None
    min_us: int = 0  # least time, whatever the bounds; that of the first frame of a truth

    def of(self, events: Events) -> Events:
        """Return the first events within the bounds."""
        if not len(events):
            return events
        start, n = int(events.t[0]), len(events)
        if self.max_us is not None:
            n = int(np.searchsorted(events.t, start + self.max_us))
        n = n if self.max_events is None else min(n, self.max_events)
        return events[: max(n, int(np.searchsorted(events.t, start + self.min_us)))]

    def is_reached(self, n_events: int, duration_us: int) -> bool:
        """Return whether no further events are needed."""
        is_long = self.max_us is not None and duration_us >= self.max_us
        is_full = self.max_events is not None and n_events >= self.max_events
        return (is_long or is_full) and duration_us >= self.min_us

    def with_first_frame(self, duration_us: int) -> "Limits":
        """Return bounds that hold a frame of a truth, and the event after it."""
        return replace(self, min_us=duration_us + 1)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FlowFrame:
    """True velocity of the pixels during a time."""

    t_start: int  # us
    t_end: int  # us
    velocity: Floats  # (h, w, 2) px/s, NaN where it is not known


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BoxFrame:
    """True boxes of moving objects during a time."""

    t_start: int  # us
    t_end: int  # us
    boxes: Floats  # (n, 4) x_min, y_min, x_max, y_max, px
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Sample:
    """Events with true labels in ``signal`` (None if unknown), and true motion and boxes."""

    events: Events
    flow: tuple[FlowFrame, ...] = ()
    boxes: tuple[BoxFrame, ...] = ()


#: Reads a sample of a recording; a function of a module, so that other processes can import it.
SampleReader = Callable[["Clip", Limits], Sample]


def read_sample(clip: "Clip", limits: Limits) -> Sample:
    """Read a sample of a recording with its truth."""
    return (clip.reader or read_plain)(clip, limits)


def read_plain(clip: "Clip", limits: Limits) -> Sample:
    """Read a sample of a file that `evcrisp.open` reads; labels are in it or beside it."""
    events = read_limited(clip.path, limits, clip.resolution)
    truth = read_true_labels(clip.path)
    if truth is not None and len(truth) >= len(events):
        events = events.with_signal(truth[: len(events)])
    return Sample(events=events)


def read_limited(
    path: Path, limits: Limits, resolution: tuple[int, int] | None = None, *, start_us: int = 0
) -> Events:
    """Read the first events of a file, from ``start_us`` after the first one on."""
    parts: list[Events] = []
    with open_recording(path, resolution=resolution) as recording:
        chunks = recording.chunks()
        t_start: int | None = None
        n_events = 0
        for chunk in chunks:
            if not len(chunk):
                continue
            t_start = int(chunk.t[0]) + start_us if t_start is None else t_start
            parts.append(chunk[int(np.searchsorted(chunk.t, t_start)) :])
            n_events += len(parts[-1])
            if limits.is_reached(n_events, int(chunk.t[-1]) - t_start):
                break
        return limits.of(Events.concatenate(parts) if parts else recording.read()[:0])


def limit_events(chunks: Iterable[Events], max_events: int | None) -> Iterator[Events]:
    """Yield chunks of the first ``max_events`` events; all events for None."""
    left = math.inf if max_events is None else max_events
    for chunk in chunks:
        if left <= 0:
            return
        yield chunk[: int(min(left, len(chunk)))]
        left -= len(chunk)


def read_true_labels(path: Path) -> Bools | None:
    """Return the true labels beside a simulated recording; None without them."""
    beside = path.with_name(f"{path.stem}.truth.npz")
    if not beside.is_file():
        return None
    with np.load(beside) as archive:
        return archive["signal"].astype(np.bool_)
