import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evcrisp import ConfigError, EventDataError, Events, by_count, by_time
from evcrisp.core.windows import Window, seconds_since, window_at


def at(times):
    n = len(times)
    return Events(x=[0] * n, y=[0] * n, t=np.asarray(times, np.int64), p=[1] * n, resolution=(1, 1))


def cut(events, cuts):
    """Split into chunks at random places, some of them empty."""
    edges = [0, *sorted(min(c, len(events)) for c in cuts), len(events)]
    return [events[a:b] for a, b in itertools.pairwise(edges)]


sorted_times = st.lists(st.integers(-500, 500), max_size=60).map(sorted)
cut_points = st.lists(st.integers(0, 60), max_size=5)


@given(sorted_times, st.integers(1, 200), cut_points)
def test_windows_by_time_contain_every_event_once(times, duration, cuts):
    windows = list(by_time(cut(at(times), cuts), duration))
    assert [t for w in windows for t in w.events.t.tolist()] == times
    for w in windows:
        # The last window may be cut by the end of the recording.
        assert w.t_end == min(w.t_start + duration, times[-1] + 1)
        assert all(w.t_start <= t < w.t_end for t in w.events.t)


@given(sorted_times, st.integers(1, 40), cut_points)
def test_windows_by_count_contain_every_event_once(times, n, cuts):
    windows = list(by_count(cut(at(times), cuts), n))
    assert [t for w in windows for t in w.events.t.tolist()] == times
    assert all(len(w.events) == n for w in windows[:-1])


@given(sorted_times, st.integers(2, 100), st.data(), cut_points)
def test_overlapping_windows_do_not_depend_on_chunks(times, duration, data, cuts):
    step = data.draw(st.integers(1, duration))
    whole = [(w.t_start, w.events.t.tolist()) for w in by_time(at(times), duration, step_us=step)]
    pieces = by_time(cut(at(times), cuts), duration, step_us=step)
    assert [(w.t_start, w.events.t.tolist()) for w in pieces] == whole
    for t_start, inside in whole:
        assert inside == [t for t in times if t_start <= t < t_start + duration]
    for w in by_time(cut(at(times), cuts), duration, step_us=step):
        assert w.index == sum(t < w.t_start for t in times)


@given(sorted_times, st.integers(1, 30), st.data(), cut_points)
def test_overlapping_counts_cover_every_event(times, n, data, cuts):
    step = data.draw(st.integers(1, n))
    windows = [w.events.t.tolist() for w in by_count(cut(at(times), cuts), n, step=step)]
    assert windows == [w.events.t.tolist() for w in by_count(at(times), n, step=step)]
    for i, inside in enumerate(windows):
        assert inside == times[i * step : i * step + n]
    indices = [w.index for w in by_count(cut(at(times), cuts), n, step=step)]
    assert indices == [i * step for i in range(len(windows))]
    if times:
        assert (len(windows) - 1) * step + len(windows[-1]) == len(times)


def test_pauses_give_empty_windows():
    assert [len(w.events) for w in by_time(at([0, 35]), 10)] == [1, 0, 0, 1]


def test_no_events_give_no_windows():
    assert list(by_time(Events.empty((1, 1)), 10)) == []
    assert list(by_count([], 10)) == []


def test_reference_time_is_the_middle():
    assert Window(at([]), 100, 300).t_ref == 200


def test_seconds_are_exact_far_from_zero():
    t = np.array([10**15, 10**15 + 1], np.int64)
    assert seconds_since(t, 10**15).tolist() == [0.0, 1e-6]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: by_time(at([0]), 0), "`duration_us` must be a positive whole number; got 0"),
        (lambda: by_time(at([0]), 5, step_us=6), r"`step_us` must be a whole number in 1\.\.5"),
        (lambda: by_count(at([0]), 5, step=0), r"`step` must be a whole number in 1\.\.5"),
        (lambda: by_count(at([0]), -1), "`n_events` must be a positive whole number"),
    ],
)
def test_invalid_window_sizes_raise(call, message):
    with pytest.raises(ConfigError, match=message):
        call()


def test_windows_of_a_long_pause_are_skipped():
    windows = by_time(at([0, 2**60 + 4, 2**60 + 14]), 10)
    shown = [(w.t_start, w.events.t.tolist(), w.index) for w in windows]
    assert [t for _, t, _ in shown] == [[0], [2**60 + 4], [2**60 + 14]]
    assert [index for *_, index in shown] == [0, 1, 2]
    # The grid of starts is not shifted by the pause.
    assert all(t_start % 10 == 0 for t_start, *_ in shown)


@pytest.mark.parametrize("cut", [1, 2, 3])
@pytest.mark.parametrize("step_us", [1000, 500, 333])
def test_windows_around_a_pause_stay_on_the_grid(step_us, cut):
    t = np.array([0, 900, 2_000_600, 2_000_900, 2_001_700, 2_003_000])
    chunks = [at(t[:cut]), at(t[cut:4]), at(t[4:])]
    shown = [w for w in by_time(chunks, 1000, step_us=step_us) if len(w.events)]
    for window in shown:
        assert window.t_start % step_us == 0
        held = t[(t >= window.t_start) & (t < window.t_end)]
        np.testing.assert_array_equal(window.events.t, held)
    assert {int(value) for window in shown for value in window.events.t} == set(t.tolist())


def test_windows_of_a_short_pause_are_yielded():
    windows = list(by_time(at([0, 9_995]), 10))
    assert len(windows) == 1000
    assert [len(w.events) for w in windows] == [1, *[0] * 998, 1]


def test_chunks_that_go_back_in_time_raise():
    chunks = [at([5, 6]), at([3, 4])]
    for windows in (by_time(chunks, 10), by_count(chunks, 3)):
        with pytest.raises(EventDataError, match="from 3 us after one that ends at 6 us"):
            list(windows)


@pytest.mark.parametrize("source", [None, 5, [1, 2], "recording.aedat4"])
def test_source_without_events_raises(source):
    for windows in (by_time(source, 10), by_count(source, 3)):
        with pytest.raises(ConfigError, match="`source` must be Events; got"):
            list(windows)


def test_fractional_duration_raises():
    with pytest.raises(ConfigError, match="a positive whole number; got 3.5"):
        by_time(at([0]), 3.5)


@pytest.mark.parametrize(
    ("t_start", "t_end", "message"),
    [
        (10, 10, "must end after it starts; got 10 to 10 us"),
        (20, 10, "must end after it starts; got 20 to 10 us"),
        (4, 100, "from 4 to before 100 us must contain its events; got events from 3 to 7 us"),
        (0, 7, "from 0 to before 7 us must contain its events"),
        (-100, -50, "must contain its events"),
    ],
)
def test_events_outside_the_window_raise(t_start, t_end, message):
    with pytest.raises(EventDataError, match=message):
        Window(at([3, 5, 7]), t_start, t_end)
    assert len(Window(at([]), 0, 1).events) == 0


@pytest.mark.parametrize("kind", [np.int32, np.uint16, np.int64])
def test_numpy_integers_are_accepted(kind):
    far = at([1 << 40, (1 << 40) + 30_000, (1 << 40) + 70_000])
    assert [len(w.events) for w in by_time(far, kind(30_000), step_us=kind(30_000))] == [1, 1, 1]
    assert [len(w.events) for w in by_count(far, kind(2), step=kind(1))] == [2, 2]
    assert len(window_at(far, kind(0), kind(30_001)).events) == 2


def test_fractional_start_raises():
    with pytest.raises(ConfigError, match="`start_us` must be a whole number; got 0.5"):
        window_at(at([0, 1]), 0.5, 10)


def test_last_window_ends_with_the_recording():
    events = at([100, 104, 105, 109, 112])
    assert [(w.t_start, w.t_end) for w in by_time(events, 8)] == [(100, 108), (108, 113)]
    ends = [(w.t_start, w.t_end) for w in by_time(events, 8, step_us=4)]
    assert ends == [(100, 108), (104, 112), (108, 113)]
    assert (window_at(events, 0, 10).t_end, window_at(events, 4, 60).t_end) == (110, 113)
    late = window_at(events, 50, 60)
    assert (late.t_start, late.t_end, len(late.events)) == (150, 151, 0)
