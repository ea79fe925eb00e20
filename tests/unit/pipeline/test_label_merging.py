"""Labels of overlapping windows come together as one label per event."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evcrisp
from evcrisp import EventDataError, Events, by_count, by_time
from evcrisp.core.status import Status
from evcrisp.estimators.result import Estimate
from evcrisp.motion import motion_model
from evcrisp.pipeline.label_merging import merge_labels


def at(times):
    n = len(times)
    x = np.arange(n) % 7
    return Events(x=x, y=x // 2, t=np.asarray(times, np.int64), p=x % 2, resolution=(7, 4))


def result(window, signal, score):
    n = len(window.events)
    zeros = np.zeros(n)
    return Estimate(
        theta=np.zeros(2),
        signal=np.asarray(signal, bool),
        score=np.asarray(score, float),
        confidence=np.asarray(score, float) / 2,
        aligned_x=zeros,
        aligned_y=zeros,
        status=Status.CONVERGED,
        motion=motion_model("translation", (7, 4)),
        window=window,
        config=None,
    )


@given(
    st.lists(st.integers(0, 300), max_size=50).map(sorted),
    st.integers(1, 60),
    st.data(),
    st.booleans(),
)
def test_every_event_comes_out_once_with_the_label_of_its_last_window(times, size, data, timed):
    events = at(times)
    step = data.draw(st.integers(1, size))
    cut = by_time(events, size, step_us=step) if timed else by_count(events, size, step=step)
    rng = np.random.default_rng(len(times))
    results, seen = [], [[] for _ in times]
    for window in cut:
        n = len(window.events)
        results.append(result(window, rng.random(n) < 0.5, rng.random(n)))
        for i in range(n):
            seen[window.index + i].append((results[-1].signal[i], results[-1].score[i]))
    chunks = list(merge_labels(results))
    if not times:
        assert chunks == []
        return
    labeled = Events.concatenate([chunk.events for chunk in chunks])
    assert labeled.with_signal(None).equals(events)
    for i, votes in enumerate(seen):
        assert labeled.signal[i] == votes[-1][0]
    score = np.concatenate([chunk.score for chunk in chunks])
    np.testing.assert_allclose(score, [np.mean([s for _, s in votes]) for votes in seen])
    confidence = np.concatenate([chunk.confidence for chunk in chunks])
    np.testing.assert_allclose(confidence, [votes[-1][1] / 2 for votes in seen])


def test_labels_leave_as_soon_as_no_later_window_can_hold_the_event():
    windows = list(by_time(at(range(0, 100, 5)), 20, step_us=10))

    def lazily():
        for i, window in enumerate(windows):
            yield result(window, np.ones(len(window.events)), np.ones(len(window.events)))
            if i == 5:
                pytest.fail("the first labels were held back")

    first = next(merge_labels(lazily()))
    assert first.events.t.tolist() == [0, 5]


def test_windows_that_do_not_follow_each_other_are_refused():
    events = at(range(0, 100, 5))
    first, second = (evcrisp.estimate(part) for part in (events[:8], events[8:]))
    with pytest.raises(EventDataError, match="must be those of one recording, in its order"):
        list(merge_labels([first, second]))
    windows = list(by_count(events, 8))
    results = [result(w, np.ones(len(w.events)), np.ones(len(w.events))) for w in windows]
    with pytest.raises(EventDataError, match="got one at event 0 after one at event 8"):
        list(merge_labels([results[1], results[0]]))
