"""Cut events, or a stream of event chunks, into windows by time or by count."""

import numbers
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import ConfigError, EventDataError
from evcrisp.core.events import Events

US_PER_S = 1_000_000

#: Of a longer pause than this many windows none is shown: nothing would end with a damaged time stamp.
MAX_EMPTY_WINDOWS = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """Events of one piece of time, and the time to which they are warped.

    It should be as long as what was recorded: time without events counts as silence.

    Raises
    ------
    EventDataError
        If the window ends before it starts, or an event lies outside of it.
    """

    events: Events
    t_start: int  # us
    t_end: int  # us, not included
    index: int = 0  # number of events of the stream before the first of the window

    def __post_init__(self) -> None:
        t = self.events.t
        if not self.t_start < self.t_end:
            raise EventDataError(
                f"A window must end after it starts; got {self.t_start} to {self.t_end} us."
            )
        if t.size and not self.t_start <= t[0] <= t[-1] < self.t_end:
            raise EventDataError(
                f"A window from {self.t_start} to before {self.t_end} us must hold its events, which are "
                f"from {t[0]} to {t[-1]} us. Cut with `events.between(t_start, t_end)` or `by_time`."
            )

    @property
    def t_ref(self) -> int:
        """Middle of the window, us."""
        return (self.t_start + self.t_end) // 2


def seconds_since(t: NDArray[np.int64], t_ref: int) -> NDArray[np.float64]:
    """``t - t_ref`` in seconds. The difference is taken in int64, before any float."""
    return (t - t_ref) / US_PER_S


def by_time(
    source: Events | Iterable[Events], duration_us: int, *, step_us: int | None = None
) -> Iterator[Window]:
    """Cut into windows of one duration that start with the first event.

    ::

        step_us < duration_us   |-----|        overlap
                                   |-----|
        step_us = duration_us   |-----|-----|  every event once (default)

    Parameters
    ----------
    source : Events or iterable of Events
        A recording's chunks are read as they are needed; memory stays bounded by the window.
    duration_us : int
        Length of a window, us.
    step_us : int, optional
        Time from one window's start to the next, 1 to ``duration_us``.

    Yields
    ------
    Window
        Windows without events are yielded too, as long as later events exist, unless there are more
        than 1000 of them in a row: of such a pause there are none. The last window is the first one
        that holds the last event, and ends with it.

    Examples
    --------
    >>> events = Events(x=[0] * 5, y=[0] * 5, t=[0, 4, 5, 9, 12], p=[1] * 5, resolution=(1, 1))
    >>> [(w.t_start, len(w.events)) for w in by_time(events, 5)]
    [(0, 2), (5, 2), (10, 1)]
    >>> [(w.t_start, len(w.events)) for w in by_time(events, 8, step_us=4)]
    [(0, 3), (4, 3), (8, 2)]
    """
    step_us = _checked_step("step_us", step_us, "duration_us", duration_us)
    return _by_time(in_order(source), int(duration_us), step_us)


def _by_time(chunks: Iterator[Events], duration_us: int, step_us: int) -> Iterator[Window]:
    parts: list[Events] = []  # what may belong to a window that is not complete yet
    t_start = index = 0
    for chunk in chunks:
        t_start = t_start if parts else int(chunk.t[0])
        parts.append(chunk)
        if int(chunk.t[-1]) < t_start + duration_us:
            continue
        rest = Events.concatenate(parts)
        t_start = past_pause(rest, t_start, duration_us, step_us)
        while int(rest.t[-1]) >= t_start + duration_us:
            yield _timed(rest, t_start, duration_us, index)
            n_past = int(np.searchsorted(rest.t, t_start + step_us))
            rest, index = rest[n_past:], index + n_past
            t_start = past_pause(rest, t_start + step_us, duration_us, step_us)
        parts = [rest]
    if parts:
        # It holds the last event: windows after it would only repeat what it holds.
        rest = Events.concatenate(parts)
        yield ending(_timed(rest, t_start, duration_us, index), int(rest.t[-1]))


def past_pause(rest: Events, t_start: int, duration_us: int, step_us: int) -> int:
    """Return where the next window starts: behind a long pause, the first one that holds an event."""
    n_empty = (int(rest.t[0]) - t_start - duration_us) // step_us + 1
    return t_start + n_empty * step_us if n_empty > MAX_EMPTY_WINDOWS else t_start


def ending(window: Window, t_last: int) -> Window:
    """Return a window that ends with the stream, whose last event is at ``t_last``, if not before.

    Whoever counts events per time would take what was never recorded for silence.
    """
    t_end = min(window.t_end, max(t_last, window.t_start) + 1)
    return replace(window, t_end=t_end)


def _timed(rest: Events, t_start: int, duration_us: int, index: int) -> Window:
    t_end = t_start + duration_us
    last = int(np.searchsorted(rest.t, t_end))
    return Window(rest[:last], t_start, t_end, index)


def by_count(
    source: Events | Iterable[Events], n_events: int, *, step: int | None = None
) -> Iterator[Window]:
    """Cut into windows of one number of events; the last one may hold fewer.

    Parameters
    ----------
    source : Events or iterable of Events
        See :func:`by_time`.
    n_events : int
        Events in a window.
    step : int, optional
        Events from one window's start to the next, 1 to ``n_events``.

    Examples
    --------
    >>> events = Events(x=[0] * 5, y=[0] * 5, t=[0, 4, 5, 9, 12], p=[1] * 5, resolution=(1, 1))
    >>> [w.events.t.tolist() for w in by_count(events, 2)]
    [[0, 4], [5, 9], [12]]
    >>> [w.events.t.tolist() for w in by_count(events, 4, step=2)]
    [[0, 4, 5, 9], [5, 9, 12]]
    """
    step = _checked_step("step", step, "n_events", n_events)
    return _by_count(in_order(source), int(n_events), step)


def _by_count(chunks: Iterator[Events], n_events: int, step: int) -> Iterator[Window]:
    parts: list[Events] = []
    n_parts = n_shown = index = 0  # n_shown: events of the parts that an earlier window held
    for chunk in chunks:
        parts.append(chunk)
        n_parts += len(chunk)
        if n_parts < n_events:
            continue
        rest = Events.concatenate(parts)
        first = 0
        while len(rest) - first >= n_events:
            yield _counted(rest[first : first + n_events], index + first)
            first += step
            n_shown = n_events - step
        parts, n_parts, index = [rest[first:]], len(rest) - first, index + first
    if n_parts > n_shown:
        yield _counted(Events.concatenate(parts), index)


def window_at(source: Events | Iterable[Events], start_us: int, duration_us: int) -> Window:
    """Return one window that starts so long after the first event; it may be empty.

    It ends with the last event where there is none later.

    Examples
    --------
    >>> events = Events(x=[0] * 5, y=[0] * 5, t=[100, 104, 105, 109, 112], p=[1] * 5, resolution=(1, 1))
    >>> window_at(events, 4, 6).events.t
    array([104, 105, 109])
    """
    duration_us = _checked_step("step", None, "duration_us", duration_us)
    if not isinstance(start_us, numbers.Integral):
        raise ConfigError(f"`start_us` must be a whole number of us; got {start_us}.")
    start_us = int(start_us)
    parts: list[Events] = []
    t_start = t_end = t_last = index = 0
    for chunk in in_order(source):
        if not parts:
            t_start = int(chunk.t[0]) + start_us
            t_end = t_start + duration_us
        index += int(np.searchsorted(chunk.t, t_start))
        parts.append(chunk.between(t_start, t_end))
        t_last = int(chunk.t[-1])
        if t_last >= t_end:
            break
    if not parts:
        raise EventDataError("There are no events to take a window of.")
    return ending(Window(Events.concatenate(parts), t_start, t_end, index), t_last)


def _counted(events: Events, index: int) -> Window:
    return Window(events, int(events.t[0]), int(events.t[-1]) + 1, index)


def in_order(source: Events | Iterable[Events]) -> Iterator[Events]:
    """Yield the chunks that hold events; raise where they are none, or go back in time."""
    t_last: int | None = None
    for part in (source,) if isinstance(source, Events) else source:
        if not isinstance(part, Events):
            raise ConfigError(f"A stream must yield Events; got {type(part).__name__}.")
        if not len(part):
            continue
        if t_last is not None and int(part.t[0]) < t_last:
            raise EventDataError(
                f"Chunks must come in the order of time; got one from {part.t[0]} us after one that "
                f"ends at {t_last} us. Sort them, or track each by itself."
            )
        t_last = int(part.t[-1])
        yield part


def _checked_step(name: str, step: int | None, size_name: str, size: int) -> int:
    if not isinstance(size, numbers.Integral) or size < 1:
        raise ConfigError(f"`{size_name}` must be 1 or more, a whole number; got {size}.")
    if step is None:
        return int(size)
    if not isinstance(step, numbers.Integral) or not 1 <= step <= size:
        raise ConfigError(f"`{name}` must lie in 1..{size}, the window; got {step}.")
    return int(step)
