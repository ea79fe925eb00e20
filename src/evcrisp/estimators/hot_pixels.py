"""Find hot pixels in a window or over the last second; one can hold the motion at zero."""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events
from evcrisp.core.types import Bools, Singles
from evcrisp.core.windows import Window
from evcrisp.motion import MotionModel
from evcrisp.search.window_data import WindowData

#: A pixel is hot above LEAST events plus FACTOR times the mean of its neighbors. The strongest edges
#: of a scene give about ten events as they pass, and as many at the neighbors.
LEAST, FACTOR = 12, 6.0

#: Time constant of the counts over a recording, us. A pixel of 20 Hz then differs from noise of 1 Hz.
MEMORY_US = 1_000_000

#: Steps in which events before a recording, or a piece of it, are counted, us.
COUNTING_US = 50_000


def hot_events(events: Events) -> Bools:
    """Return which events come from hot pixels, shape (n,).

    A pixel fires 100 times among others that fire once.

    >>> n = 100
    >>> events = Events(x=[*range(50)] * 2 + [7] * n, y=[3] * (100 + n), t=range(100 + n),
    ...                 p=[1] * (100 + n), resolution=(50, 8))
    >>> int(hot_events(events).sum())
    102
    """
    return events_at_hot_pixels(events.x, events.y, events_per_pixel(events))


def events_per_pixel(events: Events) -> Singles:
    """Return the number of events of every pixel, shape (h, w)."""
    from evcrisp.kernels.auto.hot_pixels import count_pixels

    counts = np.empty((events.resolution[1], events.resolution[0]), np.float32)
    counts.fill(0.0)  # unlike `np.zeros`, reuses memory that is mapped already
    count_pixels(np.ascontiguousarray(events.x), np.ascontiguousarray(events.y), counts)
    return counts


def events_at_hot_pixels(x: NDArray[np.uint16], y: NDArray[np.uint16], counts: Singles) -> Bools:
    """Return which events, shape (n,), lie at hot pixels, given counts of shape (h, w)."""
    from evcrisp.kernels.auto.hot_pixels import find_hot, mark_events

    out, hot = np.zeros(x.size, np.bool_), np.empty(counts.shape, np.bool_)
    if counts.max() > LEAST and find_hot(counts, LEAST, FACTOR, hot):
        mark_events(np.ascontiguousarray(x), np.ascontiguousarray(y), hot, out)
    return out


def data_without_hot_pixels(window: Window, model: MotionModel) -> tuple[WindowData, WindowData]:
    """Return the data of all events of a window, and of those not at hot pixels."""
    data = WindowData.of(window, model)
    hot = hot_events(window.events)
    return data, data.subset(~hot) if hot.any() else data


@dataclass(slots=True, eq=False)
class HotPixelHistory:
    """Decaying event counts of every pixel; windows come in order and may overlap."""

    resolution: tuple[int, int]
    counts: Singles = field(init=False)  # (h, w)
    n_seen: int = 0
    t_last: int | None = None  # us, end of the last window with events

    def __post_init__(self) -> None:
        self.counts = np.zeros((self.resolution[1], self.resolution[0]), np.float32)

    def continue_from_zero(self) -> None:
        """Take the next windows as those of another stream: their events count from 0."""
        self.n_seen = 0

    def mark(self, window: Window) -> Bools:
        """Count the new events of a window; return which of its events are hot, shape (n,)."""
        from evcrisp.kernels.auto.hot_pixels import count_pixels

        if not len(window.events):
            return np.zeros(0, np.bool_)
        events = window.events.contiguous()
        t_last = window.t_end if self.t_last is None else self.t_last
        self.counts *= math.exp(-max(window.t_end - t_last, 0) / MEMORY_US)
        self.t_last = max(t_last, window.t_end)
        new = events[max(self.n_seen - window.index, 0) :]
        self.n_seen = max(self.n_seen, window.index + len(events))
        count_pixels(new.x, new.y, self.counts)
        return events_at_hot_pixels(events.x, events.y, self.counts)
