"""Join the labels of windows that may overlap, so that every event gets one."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import EventDataError
from evcrisp.core.events import Events
from evcrisp.core.types import Floats
from evcrisp.core.windows import Window
from evcrisp.estimators.result import Estimate


@dataclass(frozen=True, slots=True, eq=False)
class LabeledChunk:
    """Events in order, with their final labels."""

    events: Events  # with signal set to the labels
    score: Floats  # (n,) mean over the windows that hold the event
    confidence: Floats  # (n,) likewise
    truth: NDArray[np.bool_] | None = None  # (n,) labels that the events came with


def vote(estimates: Iterable[Estimate]) -> Iterator[LabeledChunk]:
    """Yield every event once, in order, with the label that its windows give together.

    An event is kept if at least half of the windows that hold it keep it. Windows must come in the
    order in which :func:`evcrisp.track` yields them.
    """
    events: Events | None = None  # those that a later window may hold again
    votes: Floats = np.zeros((4, 0))  # rows: windows, votes to keep, score, confidence
    base = 0  # index of the first of them in the stream
    for result in estimates:
        window = result.window
        rows = (np.ones(len(result)), result.signal, result.score, result.confidence)
        new = np.array(rows, np.float64)
        if events is None:
            events, votes, base = window.events, new, window.index
            continue
        n_done = min(window.index - base, len(events))
        _check_order(events[max(n_done, 0) :], window, base)
        if n_done:
            yield _labeled(events[:n_done], votes[:, :n_done])
        n_shared = min(len(events) - n_done, len(result))
        shared = votes[:, n_done:].copy()
        shared[:, :n_shared] += new[:, :n_shared]
        events = Events.concatenate((events[n_done:], window.events[n_shared:]))
        votes = np.concatenate((shared, new[:, n_shared:]), axis=1)
        base = window.index
    if events is not None and len(events):
        yield _labeled(events, votes)


def _check_order(left: Events, window: Window, base: int) -> None:
    """Raise if a window does not go on where the one before it, or its overlap, ends."""
    new = window.events
    both = len(left) and len(new)
    if window.index < base or (both and (left.t[0], left.x[0]) != (new.t[0], new.x[0])):
        raise EventDataError(
            "Windows must be those of one recording, in its order, as `track` yields them; got one at "
            f"event {window.index} after one at event {base}. Estimates of `evcrisp.estimate` all begin at 0: "
            "cut with `by_time` or `by_count`."
        )


def _labeled(events: Events, votes: Floats) -> LabeledChunk:
    n, keep, score, confidence = votes
    labeled = events.with_signal(keep >= 0.5 * n)
    return LabeledChunk(labeled, score / n, confidence / n, events.signal)
