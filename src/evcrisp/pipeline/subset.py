"""Whether a recording holds nothing but events of another one, in one pass over both."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events


class Subset:
    """Takes a recording chunk by chunk, and looks for the events of a part of it there.

    Events of one time may stand in any order. How often an event is there is not compared.

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
        self._whole: Events | None = None  # of the last time so far; the next chunk may have more
        self._waiting: Events | None = None

    def add(self, chunk: Events) -> tuple[int, int, int] | None:
        """Take the next chunk of the whole; return (t, x, y) of an event that is not there."""
        if not len(chunk):
            return None
        known = chunk if self._whole is None else Events.concatenate((self._whole, chunk))
        until = int(known.t[-1])
        n_done = int(np.searchsorted(known.t, until))
        self._whole = known[n_done:]
        return self._compared(known[:n_done], until) if n_done else None

    def end(self) -> tuple[int, int, int] | None:
        """Compare what is left; return (t, x, y) of an event that is not there."""
        return self._compared(self._whole, None)

    def _compared(self, known: Events | None, until: int | None) -> tuple[int, int, int] | None:
        """Look for the events of the part before ``until`` among those that are known."""
        while (part := self._next(until)) is not None:
            stranger = _stranger(part, part[:0] if known is None else known)
            if stranger is not None:
                return stranger
        return None

    def _next(self, until: int | None) -> Events | None:
        """Return the next events of the part, of times before ``until``; None without any."""
        part = self._waiting
        while part is None or not len(part):
            part = next(self._part, None)
            if part is None:
                self._waiting = None
                return None
        n = len(part) if until is None else int(np.searchsorted(part.t, until))
        self._waiting = part[n:]
        return part[:n] if n else None


def _stranger(part: Events, known: Events) -> tuple[int, int, int] | None:
    """Return (t, x, y) of the first event of a part that is not known."""
    is_new = np.diff(known.t, prepend=known.t[:1] - 1) != 0
    times = known.t[is_new]
    place, is_known = _found(times, part.t)
    # Nearly sorted already, which is what a stable sort is fast at.
    keys = np.sort(_keys(known, np.cumsum(is_new) - 1), kind="stable")
    is_known &= _found(keys, _keys(part, place))[1]
    if is_known.all():
        return None
    k = int(np.argmin(is_known))
    return int(part.t[k]), int(part.x[k]), int(part.y[k])


def _found(
    table: NDArray[np.int64], values: NDArray[np.int64]
) -> tuple[NDArray[np.integer], NDArray[np.bool_]]:
    """Return where values stand in a sorted table, and whether they are there."""
    place = np.searchsorted(table, values)
    if not table.size:
        return place, np.zeros(values.size, np.bool_)
    return place, table[np.minimum(place, table.size - 1)] == values


def _keys(events: Events, place: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return a number per event; ``place`` counts times, which themselves leave no room for pixels."""
    pixel = events.y.astype(np.int64) * events.width + events.x
    return (place.astype(np.int64) * (events.width * events.height) + pixel) * 2 + events.p
