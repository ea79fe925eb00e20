"""Leave pixels out that fire all the time: one of them is enough to pin a motion to zero."""

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events
from evcrisp.core.windows import Window
from evcrisp.motion import MotionModel
from evcrisp.search.alignment import WindowData

Pixels = NDArray[np.uint16]
Counts = NDArray[np.float32]

#: More events than this, plus FACTOR times the mean of the pixels around, is absurd. The strongest
#: edges of a scene give about ten events as they pass, and their neighbors as many.
LEAST, FACTOR = 12, 6.0


def hot_events(events: Events) -> NDArray[np.bool_]:
    """Return which events come from hot pixels, shape (n,).

    Examples
    --------
    A pixel fires 100 times among others that fire once.

    >>> n = 100
    >>> events = Events(x=[*range(50)] * 2 + [7] * n, y=[3] * (100 + n), t=range(100 + n),
    ...                 p=[1] * (100 + n), resolution=(50, 8))
    >>> int(hot_events(events).sum())
    102
    """
    return of_hot_pixels(events.x, events.y, events_per_pixel(events))


def events_per_pixel(events: Events) -> Counts:
    """Return how many events every pixel has, shape (h, w)."""
    from evcrisp.kernels.auto.hot_pixels import count_pixels

    counts = np.empty((events.resolution[1], events.resolution[0]), np.float32)
    counts.fill(0.0)  # unlike `np.zeros`, in memory that is there already
    count_pixels(np.ascontiguousarray(events.x), np.ascontiguousarray(events.y), counts)
    return counts


def of_hot_pixels(x: Pixels, y: Pixels, counts: Counts) -> NDArray[np.bool_]:
    """Return which events, shape (n,), come from pixels whose counts, shape (h, w), are absurd."""
    from evcrisp.kernels.auto.hot_pixels import find_hot, mark

    out, hot = np.zeros(x.size, np.bool_), np.empty(counts.shape, np.bool_)
    if counts.max() > LEAST and find_hot(counts, LEAST, FACTOR, hot):
        mark(np.ascontiguousarray(x), np.ascontiguousarray(y), hot, out)
    return out


def data_without_hot_pixels(window: Window, model: MotionModel) -> tuple[WindowData, WindowData]:
    """Return all events of a window as numbers, and those that may decide the motion."""
    data = WindowData.of(window, model)
    hot = hot_events(window.events)
    return data, data.subset(~hot) if hot.any() else data
