"""Check that all events of a recording are in another one, in one pass over both."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events


class Subset:
    """Search a recording, chunk by chunk, for the events of a part of it.

    The order of events with equal times, and the number of equal events, are not compared.

    Examples
    --------
    >>> whole = Events(x=[0, 1, 2], y=[0, 0, 0], t=[5, 5, 9], p=[1, 1, 0], resolution=(8, 4))
    >>> subset = Subset(iter([whole[1:]]))
    >>> subset.add(whole), subset.end()
    (None, None)
    >>> subset = Subset(iter([whole]))
    >>> subset.add(whole[1:])
    (5, 0, 0)
    """

    def __init__(self, part: Iterator[Events]) -> None:
        self._part = part
        self._whole: Events | None = (
            None  # events of the last time; the next chunk can have more of it
        )
        self._waiting: Events | None = None

    def add(self, chunk: Events) -> tuple[int, int, int] | None:
        """Add the next chunk of the whole; return (t, x, y) of an event that is missing in it."""
        if not len(chunk):
            return None
        known = chunk if self._whole is None else Events.concatenate((self._whole, chunk))
        until = int(known.t[-1])
        n_done = int(np.searchsorted(known.t, until))
        self._whole = known[n_done:]
        return self._compared(known[:n_done], until) if n_done else None

    def end(self) -> tuple[int, int, int] | None:
        """Compare the remaining events; return (t, x, y) of a missing event."""
        return self._compared(self._whole, None)

    def _compared(self, known: Events | None, until: int | None) -> tuple[int, int, int] | None:
        """Search the known events for the events of the part before ``until``."""
        while (part := self._next(until)) is not None:
            missing = _first_missing(part, part[:0] if known is None else known)
            if missing is not None:
                return missing
        return None

    def _next(self, until: int | None) -> Events | None:
        """Return the next events of the part before ``until``; None if there are none."""
        part = self._waiting
        while part is None or not len(part):
            part = next(self._part, None)
            if part is None:
                self._waiting = None
                return None
        n = len(part) if until is None else int(np.searchsorted(part.t, until))
        self._waiting = part[n:]
        return part[:n] if n else None


def _first_missing(part: Events, known: Events) -> tuple[int, int, int] | None:
    """Return (t, x, y) of the first event of a part that is not known."""
    is_new = np.diff(known.t, prepend=known.t[:1] - 1) != 0
    times = known.t[is_new]
    place, is_known = _found(times, part.t)
    # The keys are nearly sorted, for which the stable sort is fast.
    keys = np.sort(_keys(known, np.cumsum(is_new) - 1), kind="stable")
    is_known &= _found(keys, _keys(part, place))[1]
    if is_known.all():
        return None
    k = int(np.argmin(is_known))
    return int(part.t[k]), int(part.x[k]), int(part.y[k])


def _found(
    table: NDArray[np.int64], values: NDArray[np.int64]
) -> tuple[NDArray[np.integer], NDArray[np.bool_]]:
    """Return the positions of values in a sorted table, and whether they are in it."""
    place = np.searchsorted(table, values)
    if not table.size:
        return place, np.zeros(values.size, np.bool_)
    return place, table[np.minimum(place, table.size - 1)] == values


def _keys(events: Events, place: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return a number per event; the rank of the time, since time and pixel overflow int64."""
    pixel = events.y.astype(np.int64) * events.width + events.x
    return (place.astype(np.int64) * (events.width * events.height) + pixel) * 2 + events.p
