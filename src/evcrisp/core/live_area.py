"""Live area: the part of the sensor where events occur.

A region of interest, a crop or a guessed sensor size leaves parts of the declared sensor without any
event.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events

#: Share of the events that may lie beyond each side: single events beside a region of interest.
STRAY_SHARE = 5e-4

#: Share of the sensor without events that is worth a crop.
_MUCH = 0.25

#: Number of events that shows where the sensor is read; fewer may lie anywhere by chance.
_LEAST_EVENTS = 100


class Box(NamedTuple):
    """Rectangle of pixels, px."""

    left: int
    top: int
    width: int
    height: int

    @property
    def area(self) -> int:
        """Number of pixels."""
        return self.width * self.height

    @property
    def resolution(self) -> tuple[int, int]:
        """``(width, height)``, px."""
        return self.width, self.height

    @classmethod
    def whole(cls, resolution: tuple[int, int]) -> "Box":
        """Return the whole sensor."""
        return cls(0, 0, *resolution)

    @classmethod
    def of_counts(
        cls, columns: NDArray[np.int64], rows: NDArray[np.int64], n_stray: int = 0
    ) -> "Box":
        """Return the box of all events, given their number per column and row.

        Up to ``n_stray`` events may lie beyond each side. Without events it is the whole sensor.
        """
        if not columns.any():
            return cls.whole((columns.size, rows.size))
        (left, right), (top, bottom) = (_ends(counts, n_stray) for counts in (columns, rows))
        return cls(left, top, right - left, bottom - top)


@dataclass(frozen=True, slots=True)
class LiveArea:
    """Where the events of a recording occur, but for a few strays.

    Examples
    --------
    >>> import evcrisp
    >>> events = evcrisp.simulate(duration_us=20_000, noise_hz=5.0, seed=1).events
    >>> padded = evcrisp.Events(x=events.x + 200, y=events.y, t=events.t, p=events.p, resolution=(640, 480))
    >>> area = LiveArea.of(padded)
    >>> area.box, area.is_small
    (Box(left=200, top=0, width=346, height=260), True)
    >>> area.crop(padded).resolution
    (346, 260)
    """

    box: Box
    resolution: tuple[int, int]  # of the declared sensor, px
    n_events: int | None = None  # None if it is not known

    @classmethod
    def of(cls, source: Events | Iterable[Events]) -> "LiveArea":
        """Return the live area of events, or of chunks such as ``recording.chunks()``."""
        counter = LiveAreaCounter()
        for chunk in (source,) if isinstance(source, Events) else source:
            counter.add(chunk)
        return counter.area()

    @property
    def empty_share(self) -> float:
        """Share of the sensor beyond the live area."""
        return 1.0 - self.box.area / max(self.resolution[0] * self.resolution[1], 1)

    @property
    def is_small(self) -> bool:
        """Whether so much of the sensor has no events that a crop is worth it."""
        has_enough = self.n_events is None or self.n_events >= _LEAST_EVENTS
        return has_enough and self.empty_share > _MUCH

    def advice(self) -> str:
        """Return what to tell a user of a small live area."""
        left, top, width, height = self.box
        return (
            f"{self.empty_share:.0%} of the sensor of {self.resolution[0]}x{self.resolution[1]} px "
            f"has no events. They lie in {width}x{height} px from x={left}, y={top}; the region (roi) "
            f"{left},{top},{width},{height} cuts to that."
        )

    def crop(self, events: Events) -> Events:
        """Return the events in the live area, as those of a sensor of that size."""
        left, top, width, height = self.box
        x, y = events.x.astype(np.int64) - left, events.y.astype(np.int64) - top
        inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
        signal = None if events.signal is None else events.signal[inside]
        return Events(
            x=x[inside], y=y[inside], t=events.t[inside], p=events.p[inside],
            resolution=(width, height), signal=signal,
        )  # fmt: skip


class LiveAreaCounter:
    """Counts events per column and row, chunk by chunk."""

    def __init__(self) -> None:
        self._columns, self._rows = np.zeros(0, np.int64), np.zeros(0, np.int64)

    def add(self, events: Events) -> None:
        """Count a chunk."""
        width, height = events.resolution
        if not self._columns.size:
            self._columns, self._rows = np.zeros(width, np.int64), np.zeros(height, np.int64)
        self._columns += np.bincount(events.x, minlength=width)
        self._rows += np.bincount(events.y, minlength=height)

    def add_lines(self, columns: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
        """Add the events of every column and row of the sensor."""
        if not self._columns.size:
            self._columns, self._rows = np.zeros_like(columns), np.zeros_like(rows)
        self._columns += columns
        self._rows += rows

    def counts(self) -> tuple[list[int], list[int]]:
        """Return the counts of columns and rows, for `merge`."""
        return self._columns.tolist(), self._rows.tolist()

    def merge(self, columns: list[int], rows: list[int]) -> None:
        """Add counts of the same sensor."""
        if not self._columns.size:
            self._columns, self._rows = (
                np.zeros(len(columns), np.int64),
                np.zeros(len(rows), np.int64),
            )
        if columns:
            self._columns += np.array(columns, np.int64)
            self._rows += np.array(rows, np.int64)

    def area(self) -> LiveArea:
        """Return the live area of all chunks."""
        n = int(self._columns.sum())
        box = Box.of_counts(self._columns, self._rows, int(STRAY_SHARE * n))
        return LiveArea(box, (self._columns.size, self._rows.size), n)


def _ends(counts: NDArray[np.int64], n_stray: int) -> tuple[int, int]:
    """Return the first line with events beyond the allowed strays, and the line after the last."""
    first = int(np.searchsorted(np.cumsum(counts), n_stray, side="right"))
    last = int(np.searchsorted(np.cumsum(counts[::-1]), n_stray, side="right"))
    return first, counts.size - last
