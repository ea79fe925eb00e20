"""Cut a stream into windows whose length the events choose: until the image has moved.

A window grows in steps. At each step its events, and no others, tell which share of the image has moved
(`moved_share`). Nothing is remembered from window to window: a window follows from its start. Where a
motion begins, events come faster; it is tested by itself then, apart from the rest before.

A window then ends earlier where its events change their rate: edges make events as fast as they move, so
that a thing which stops, starts or turns back does not share a window with its motion.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events
from evcrisp.core.windows import Window
from evcrisp.pipeline.moved_share import MovedShare

#: Shortest window, us: in it, an image of 30 000 px/s moves by 7 px.
LEAST_US = 250

#: A longer pause ends with the next event, us.
_PAUSE_US = 1_000

#: Most events of a window, unless more come within the shortest one. They bound memory and time.
MAX_EVENTS = 1_000_000

#: Fewer events do not show that an image has moved.
_LEAST_EVENTS = 500

#: A window ends when this share has moved: of several motions, the slow ones decide ...
_MOVED = 2.0 / 3.0

#: ... but it ends at this multiple of the length in which the first share has moved.
_FIRST_MOVED, _MOST_OF_FIRST = 0.15, 4

#: Below this share the next step is twice as large.
_HARDLY_MOVED = 0.05

#: Largest difference between the share of the events and the share of the time up to any moment of a
#: window. If the speed falls or rises steadily, by 0.6 of its mean to either side, it is 0.15, and the motion
#: changes by a tenth of the displacement: more than a constant motion may.
_MOST_UNEVEN = 0.15

#: Moments of a window at which both shares are compared.
_MOMENTS = 1024


def auto_windows(
    chunks: Iterator[Events],
    max_latency_us: int,
    overlap: float = 0.0,
    *,
    joins_rest: bool = True,
) -> Iterator[tuple[Window, int]]:
    """Yield windows, and the length of the one before for the last of several, otherwise 0.

    Parameters
    ----------
    chunks : iterator of Events
        In order, none of them empty.
    max_latency_us : int, us
        Longest window, and longest time from the first event of a window until it is yielded.
    overlap : float
        Share of a window that the next one contains again.
    joins_rest : bool
        Join a short rest of the stream to the last window, which needs the events after each window.
    """
    buffer = _Buffer(chunks)
    if not buffer.fill(0, 0):
        return
    moved = MovedShare(buffer.events.resolution)
    t_start, before = int(buffer.events.t[0]), 0
    while True:
        length = _choose_length(buffer, t_start, max_latency_us, moved)
        t_end = t_start + length
        n_inside = buffer.count(t_end)
        t_rest = min(t_end + length // 2, t_start + max_latency_us) if joins_rest else t_end
        is_last = _has_short_rest(buffer, n_inside, (t_end, t_rest), moved)
        if is_last:
            t_end = max(buffer.t_last, t_start) + 1
            yield Window(buffer.events, t_start, t_end, buffer.index), before
            return
        yield Window(buffer.events[:n_inside], t_start, t_end, buffer.index), 0
        before = length
        t_start += max(1, round(length * (1.0 - overlap)))
        buffer.drop(t_start)
        if not buffer.fill(t_start, 0):
            return
        t_next = int(buffer.events.t[0])
        t_start = t_next if t_next >= t_start + _PAUSE_US else t_start


def _has_short_rest(
    buffer: "_Buffer", n_inside: int, t_limits: tuple[int, int], moved: MovedShare
) -> bool:
    """Return whether the recording ends between two times without a window of its own, or before them."""
    t_end, t_rest = t_limits
    buffer.fill(t_rest, n_inside + MAX_EVENTS // 2)
    if not buffer.ends_before(t_rest) or len(buffer.events) - n_inside > MAX_EVENTS // 2:
        return False
    rest = buffer.events[n_inside:]
    alone = _Buffer(iter((rest,) if len(rest) else ()))
    if not alone.fill(t_rest):
        return True
    return alone.ends_before(t_end + _choose_length(alone, t_end, t_rest - t_end, moved))


def _choose_length(buffer: "_Buffer", t_start: int, most_us: int, moved: MovedShare) -> int:
    """Return the length of the window, us; it depends only on events within ``most_us``."""
    length = _moved_length(buffer, t_start, most_us, moved)
    if buffer.ends_before(t_start + length):
        return length
    return _steady_length(buffer.events.t[: buffer.count(t_start + length)], length, t_start)


def _steady_length(t: NDArray[np.int64], length_us: int, t_start: int = 0) -> int:
    """Return the time until events come at another rate, us, or the length of the window.

    ``t``, shape (n,), are the times of its events, us. Both parts have enough events for windows of their
    own.
    """
    n_before = np.arange(_LEAST_EVENTS, t.size - _LEAST_EVENTS + 1, max(t.size // _MOMENTS, 1))
    if not n_before.size:
        return length_us
    t_before = t[n_before - 1] - t_start
    uneven = np.abs(n_before / t.size - t_before / length_us)
    most = int(np.argmax(uneven))
    length = int(t_before[most]) + 1
    return length if uneven[most] > _MOST_UNEVEN and length >= LEAST_US else length_us


def _moved_length(buffer: "_Buffer", t_start: int, most_us: int, moved: MovedShare) -> int:
    """Return the time in which the image has moved, us, or ``most_us``; of the events within alone."""
    step, most = 0, most_us
    known = _Growth(0, _LEAST_EVENTS)
    while True:
        length = min(round(LEAST_US * 2.0 ** (step / 2)), most)
        buffer.fill(t_start + length, MAX_EVENTS)
        n = buffer.count(t_start + length)
        while n > known.n_more:
            more = _Growth(int(buffer.events.t[known.n_more]) - t_start, known.n_more)
            if known.is_slower_than(more) and _has_moved(buffer, t_start, more, moved):
                return more.length_us
            known = more
        if n > MAX_EVENTS:
            length = max(int(buffer.events.t[MAX_EVENTS]) - t_start, min(LEAST_US, most))
            buffer.fill(t_start + length)
            return length
        if length >= most or buffer.ends_before(t_start + length):
            return length
        share = moved(buffer.events, 0, n) if n >= _LEAST_EVENTS else 0.0
        if share >= _MOVED:
            return length
        if share >= _FIRST_MOVED:
            most = min(most, _MOST_OF_FIRST * length)
        known = _Growth(length, max(n, _LEAST_EVENTS))
        step += 2 if share < _HARDLY_MOVED else 1


class _Growth(NamedTuple):
    """Length of a window, us, and its number of events."""

    length_us: int
    n: int

    @property
    def n_more(self) -> int:
        """Number of events at which growth is looked at again: half as many more."""
        return self.n + self.n // 2

    def is_slower_than(self, later: "_Growth") -> bool:
        """Return whether events come at twice the mean rate since then."""
        return 4 * (later.length_us - self.length_us) < self.length_us


def _has_moved(buffer: "_Buffer", t_start: int, now: _Growth, moved: MovedShare) -> bool:
    """Return whether the image has moved within the later half of the events."""
    t_half, t_end = int(buffer.events.t[now.n // 2]), t_start + now.length_us
    if now.length_us < LEAST_US or t_half >= t_end:
        return False
    return moved(buffer.events, buffer.count(t_half), buffer.count(t_end)) >= _MOVED


class _Buffer:
    """Events of a stream from the start of a window on."""

    def __init__(self, chunks: Iterator[Events]) -> None:
        self._chunks = chunks
        self._ended = False
        self.events = Events.empty((1, 1))
        self.index = 0  # number of events before
        self.t_last = 0  # us

    def fill(self, t_us: int, n_events: int | None = None) -> bool:
        """Read until an event at ``t_us`` or later, or more than ``n_events``; return if any is held."""
        n = len(self.events)
        if n and self.t_last >= t_us:
            return True
        parts = [self.events] if n else []
        while not self._ended and (not n or self.t_last < t_us):
            if n and n_events is not None and n > n_events:
                break
            chunk = next(self._chunks, None)
            self._ended = chunk is None
            if chunk is not None:
                parts.append(chunk)
                n += len(chunk)
                self.t_last = int(chunk.t[-1])
        if len(parts) > 1 or (parts and not len(self.events)):
            self.events = Events.concatenate(parts)
        return n > 0

    def count(self, t_us: int) -> int:
        """Return the number of events before a time."""
        return int(self.events.t.searchsorted(t_us))  # `np.searchsorted` takes twice as long

    def ends_before(self, t_us: int) -> bool:
        """Return whether the stream has no event at a time or later."""
        return self._ended and self.t_last < t_us

    def drop(self, t_us: int) -> None:
        """Forget the events before a time."""
        n = self.count(t_us)
        self.events, self.index = self.events[n:], self.index + n
