"""Cut events, or a stream of event chunks, into windows by time or by count."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import EventDataError
from evcrisp.core.events import Events, check_events
from evcrisp.core.validation import check_number

US_PER_S = 1_000_000

#: Longest run of empty windows. A damaged timestamp could otherwise yield windows without end.
MAX_EMPTY_WINDOWS = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """Events between two times, and the time to which they are warped.

    The window must not be longer than the recording: time without events counts as silence.

    Raises
    ------
    EventDataError
        If the window ends before it starts, or an event lies outside of it.
    """

    events: Events
    t_start: int  # us
    t_end: int  # us, not included
    index: int = 0  # number of events of the recording before the window

    def __post_init__(self) -> None:
        t = self.events.t
        if not self.t_start < self.t_end:
            raise EventDataError(
                f"A window must end after it starts; got {self.t_start} to {self.t_end} us."
            )
        if t.size and not self.t_start <= t[0] <= t[-1] < self.t_end:
            raise EventDataError(
                f"A window from {self.t_start} to before {self.t_end} us must contain its events; got "
                f"events from {t[0]} to {t[-1]} us. Cut with `events.between(t_start, t_end)` or `by_time`."
            )

    @property
    def t_ref(self) -> int:
        """Middle of the window, us."""
        return (self.t_start + self.t_end) // 2


def seconds_since(t: NDArray[np.int64], t_ref: int) -> NDArray[np.float64]:
    """Return ``t - t_ref`` in seconds; the difference is exact, in int64."""
    return (t - t_ref) / US_PER_S


class OpenSpan(Protocol):
    """Span of time of a stream that is a part of another; its end is known after its last event."""

    @property
    def t_start(self) -> int | None:
        """Start, us; None if the stream begins with its first event."""
        ...

    @property
    def t_end(self) -> int | None:
        """End, us, not included; None if the stream ends with its last event."""
        ...


def by_time(
    source: Events | Iterable[Events],
    duration_us: int,
    *,
    step_us: int | None = None,
    span: OpenSpan | None = None,
) -> Iterator[Window]:
    """Cut events into windows of equal duration, starting at the first event.

    ::

        step_us < duration_us   |-----|        overlap
                                   |-----|
        step_us = duration_us   |-----|-----|  every event once (default)

    Parameters
    ----------
    source : Events or iterable of Events
        Chunks are read one by one, so that memory is bounded by the window.
    duration_us : int
        Length of a window, us.
    step_us : int, optional
        Time from the start of a window to the next start, 1 to ``duration_us``.
    span : OpenSpan, optional
        Windows fill this span, where the source has no events at its ends, too. Default: from the
        first to the last event.

    Yields
    ------
    Window
        Empty windows between events are yielded too, but a pause of more than 1000 windows is
        skipped. The last window is the first that contains the last event, and ends with it.

    Examples
    --------
    >>> events = Events(x=[0] * 5, y=[0] * 5, t=[0, 4, 5, 9, 12], p=[1] * 5, resolution=(1, 1))
    >>> [(w.t_start, len(w.events)) for w in by_time(events, 5)]
    [(0, 2), (5, 2), (10, 1)]
    >>> [(w.t_start, len(w.events)) for w in by_time(events, 8, step_us=4)]
    [(0, 3), (4, 3), (8, 2)]
    """
    step_us = _checked_step("step_us", step_us, "duration_us", duration_us)
    return _by_time(ordered_chunks(source), int(duration_us), step_us, span)


def _by_time(
    chunks: Iterator[Events], duration_us: int, step_us: int, span: OpenSpan | None
) -> Iterator[Window]:
    parts: list[Events] = []  # events of windows that are not complete yet
    t_start = index = 0
    t_given = None if span is None else span.t_start
    for chunk in chunks:
        if not parts:
            t_start = int(chunk.t[0]) if t_given is None else t_given
        parts.append(chunk)
        if int(chunk.t[-1]) < t_start + duration_us:
            continue
        rest = Events.concatenate(parts)
        t_start = skip_long_pause(rest, t_start, duration_us, step_us)
        while int(rest.t[-1]) >= t_start + duration_us:
            yield _timed(rest, t_start, duration_us, index)
            n_past = int(np.searchsorted(rest.t, t_start + step_us))
            rest, index = rest[n_past:], index + n_past
            t_start = skip_long_pause(rest, t_start + step_us, duration_us, step_us)
        parts = [rest]
    if parts:
        # This window contains the last event; later windows would hold no further events.
        rest = Events.concatenate(parts)
        t_end = None if span is None else span.t_end
        t_last = int(rest.t[-1]) if t_end is None else t_end - 1
        yield end_at_last_event(_timed(rest, t_start, duration_us, index), t_last)
        if t_end is not None:
            rest, index = rest[len(rest) :], index + len(rest)
            yield from _empty_until(t_end, rest, (t_start + step_us, duration_us, step_us), index)


def _empty_until(
    t_end: int, rest: Events, times: tuple[int, int, int], index: int
) -> Iterator[Window]:
    """Yield the windows between the last event and the end of a span, unless they are many."""
    t_start, duration_us, step_us = times
    if (t_end - t_start - duration_us) // step_us + 1 > MAX_EMPTY_WINDOWS:
        return
    while t_start + duration_us <= t_end:
        yield Window(rest, t_start, t_start + duration_us, index)
        t_start += step_us


def skip_long_pause(rest: Events, t_start: int, duration_us: int, step_us: int) -> int:
    """Return the start of the next window; after a long pause, of the next with an event."""
    n_empty = (int(rest.t[0]) - t_start - duration_us) // step_us + 1
    return t_start + n_empty * step_us if n_empty > MAX_EMPTY_WINDOWS else t_start


def end_at_last_event(window: Window, t_last: int) -> Window:
    """Return the window, ended at the last event: time after a recording is not silence."""
    t_end = min(window.t_end, max(t_last, window.t_start) + 1)
    return replace(window, t_end=t_end)


def _timed(rest: Events, t_start: int, duration_us: int, index: int) -> Window:
    t_end = t_start + duration_us
    last = int(np.searchsorted(rest.t, t_end))
    return Window(rest[:last], t_start, t_end, index)


def by_count(
    source: Events | Iterable[Events], n_events: int, *, step: int | None = None
) -> Iterator[Window]:
    """Cut events into windows of an equal number of events; the last may hold fewer.

    Parameters
    ----------
    source : Events or iterable of Events
        See :func:`by_time`.
    n_events : int
        Number of events in a window.
    step : int, optional
        Number of events from the start of a window to the next start, 1 to ``n_events``.

    Examples
    --------
    >>> events = Events(x=[0] * 5, y=[0] * 5, t=[0, 4, 5, 9, 12], p=[1] * 5, resolution=(1, 1))
    >>> [w.events.t.tolist() for w in by_count(events, 2)]
    [[0, 4], [5, 9], [12]]
    >>> [w.events.t.tolist() for w in by_count(events, 4, step=2)]
    [[0, 4, 5, 9], [5, 9, 12]]
    """
    step = _checked_step("step", step, "n_events", n_events)
    return _by_count(ordered_chunks(source), int(n_events), step)


def _by_count(chunks: Iterator[Events], n_events: int, step: int) -> Iterator[Window]:
    parts: list[Events] = []
    n_parts = n_yielded = index = 0  # n_yielded: events of `parts` in earlier windows
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
            n_yielded = n_events - step
        parts, n_parts, index = [rest[first:]], len(rest) - first, index + first
    if n_parts > n_yielded:
        yield _counted(Events.concatenate(parts), index)


def window_at(source: Events | Iterable[Events], start_us: int, duration_us: int) -> Window:
    """Return one window that starts ``start_us`` after the first event; it may be empty.

    It ends no later than the last event.

    >>> events = Events(x=[0] * 5, y=[0] * 5, t=[100, 104, 105, 109, 112], p=[1] * 5, resolution=(1, 1))
    >>> window_at(events, 4, 6).events.t
    array([104, 105, 109])
    """
    duration_us = _checked_step("step", None, "duration_us", duration_us)
    check_number("start_us", start_us, whole=True)
    parts: list[Events] = []
    t_start = t_end = t_last = index = 0
    for chunk in ordered_chunks(source):
        if not parts:
            t_start = int(chunk.t[0]) + int(start_us)
            t_end = t_start + duration_us
        index += int(np.searchsorted(chunk.t, t_start))
        parts.append(chunk.between(t_start, t_end))
        t_last = int(chunk.t[-1])
        if t_last >= t_end:
            break
    if not parts:
        raise EventDataError("There are no events to take a window of.")
    return end_at_last_event(Window(Events.concatenate(parts), t_start, t_end, index), t_last)


def _counted(events: Events, index: int) -> Window:
    return Window(events, int(events.t[0]), int(events.t[-1]) + 1, index)


def ordered_chunks(source: Events | Iterable[Events]) -> Iterator[Events]:
    """Yield the chunks with events; raise if one goes back in time or is not ``Events``."""
    if not isinstance(source, Iterable):
        check_events("source", source)
    t_last: int | None = None
    for part in (source,) if isinstance(source, Events) else source:
        check_events("source", part)
        if not len(part):
            continue
        if t_last is not None and int(part.t[0]) < t_last:
            raise EventDataError(
                f"Chunks must be in the order of time; got one from {part.t[0]} us after one that "
                f"ends at {t_last} us. Sort them, or track each separately."
            )
        t_last = int(part.t[-1])
        yield part


def _checked_step(name: str, step: int | None, size_name: str, size: int) -> int:
    check_number(size_name, size, 1, whole=True)
    if step is None:
        return int(size)
    check_number(name, step, 1, size, whole=True)
    return int(step)
