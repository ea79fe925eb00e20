"""Give every event of overlapping windows once, with its final label."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from evcrisp.core.errors import EventDataError
from evcrisp.core.events import Events
from evcrisp.core.types import Bools, Floats
from evcrisp.core.windows import Window
from evcrisp.estimators.result import Estimate
from evcrisp.filters.protocol import Labels


@dataclass(frozen=True, slots=True, eq=False)
class LabeledChunk:
    """Events in order, with their final labels."""

    events: Events  # with signal set to the labels
    score: Floats  # (n,) mean over the windows that contain the event
    confidence: Floats  # (n,) of the last window, which has the mean of all of them
    truth: Bools | None = None  # (n,) labels that the events came with

    @property
    def signal(self) -> Bools:
        """The labels, shape (n,)."""
        signal = self.events.signal
        return np.ones(len(self.events), np.bool_) if signal is None else signal

    def kept(self) -> Events:
        """Return the signal events, with the labels that they came with."""
        labels = Labels(self.signal, self.score)
        return labels.kept(self.events.with_signal(self.truth))


class LabelMerger:
    """Takes estimates in order; gives every event once, when no later window can contain it.

    The last window that contains an event has its final label and confidence: `track` combines them
    with those of the windows before.
    """

    def __init__(self) -> None:
        self._events: Events | None = None  # events that a later window may contain again
        self._rows: Floats = np.zeros((4, 0))  # windows, sum of scores, label, confidence
        self._only: Estimate | None = None  # the window that alone has these events; no rows then
        self._base = 0  # index of the first of these events in the recording

    def add(self, result: Estimate) -> list[LabeledChunk]:
        """Add the next window of :func:`evcrisp.track`; return final events, at most one chunk."""
        window, events = result.window, self._events
        if events is None or 0 <= len(events) <= window.index - self._base:
            done = self.finish()
            self._events, self._only, self._base = window.events, result, window.index
            return done
        new, rows = _rows(result), self._rows if self._only is None else _rows(self._only)
        n_done = min(window.index - self._base, len(events))
        _check_order(events[max(n_done, 0) :], window, self._base)
        n_shared = min(len(events) - n_done, len(result))
        shared = rows[:, n_done:].copy()
        shared[:2, :n_shared] += new[:2, :n_shared]
        shared[2:, :n_shared] = new[2:, :n_shared]
        self._events = Events.concatenate((events[n_done:], window.events[n_shared:]))
        self._rows, self._only = np.concatenate((shared, new[:, n_shared:]), axis=1), None
        self._base = window.index
        return [_labeled(events[:n_done], rows[:, :n_done])] if n_done else []

    def finish(self) -> list[LabeledChunk]:
        """Return the remaining events, at most one chunk."""
        events, only = self._events, self._only
        if events is None or not len(events):
            return []
        if only is None:
            return [_labeled(events, self._rows)]
        labeled = events.with_signal(only.signal)
        return [LabeledChunk(labeled, only.score, only.confidence, events.signal)]


def _rows(result: Estimate) -> Floats:
    """Return the rows of one window: windows, sum of scores, label, confidence."""
    columns = (np.ones(len(result)), result.score, result.signal, result.confidence)
    return np.array(columns, np.float64)


def merge_labels(estimates: Iterable[Estimate]) -> Iterator[LabeledChunk]:
    """Yield every event of a recording once, in order, with its final label."""
    merger = LabelMerger()
    for result in estimates:
        yield from merger.add(result)
    yield from merger.finish()


def _check_order(left: Events, window: Window, base: int) -> None:
    """Raise unless a window continues where the one before it, or its overlap, ends."""
    new = window.events
    both = len(left) and len(new)
    if window.index < base or (both and (left.t[0], left.x[0]) != (new.t[0], new.x[0])):
        raise EventDataError(
            "Windows must be those of one recording, in its order, as `track` yields them; got one at "
            f"event {window.index} after one at event {base}. Estimates of `evcrisp.estimate` all begin at 0: "
            "cut with `by_time` or `by_count`."
        )


def _labeled(events: Events, rows: Floats) -> LabeledChunk:
    n, score, signal, confidence = rows
    return LabeledChunk(events.with_signal(signal > 0.0), score / n, confidence, events.signal)
