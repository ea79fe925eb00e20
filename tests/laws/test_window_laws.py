"""Laws of the windows that the events choose."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evcrisp
from evcrisp.pipeline import auto_windows as module
from evcrisp.pipeline.windowing import DEFAULT_LATENCY_US, Windowing
from evcrisp.simulation import ObjectConfig

SIZE = (120, 90)


def cut(chunks, **fields):
    return [window for window, _ in Windowing(**fields).cut(chunks, lambda: None)]


def bounds(windows):
    return [(window.t_start, window.t_end, window.index, len(window.events)) for window in windows]


def shifted(events, us):
    return evcrisp.Events(x=events.x, y=events.y, t=events.t + us, p=events.p, resolution=SIZE)


@pytest.fixture(scope="module")
def events():
    """Return a scene that stops, an object, a pause of 3 s, and noise alone."""
    trajectory = ((0, 900, 0), (40_000, 900, 0), (60_000, 0, 0), (150_000, 0, 0), (200_000, 0, 300))
    thing = ObjectConfig(theta=(-300, 90), size=(0.3, 0.4))
    moving = evcrisp.simulate(
        resolution=SIZE, trajectory=trajectory, duration_us=300_000, objects=(thing,),
        noise_hz=4.0, seed=5,
    ).events  # fmt: skip
    noise = evcrisp.simulate(
        resolution=SIZE, theta=(0, 0), duration_us=900_000, noise_hz=1.0, seed=6
    ).events
    return evcrisp.Events.concatenate(
        [part.with_signal(None) for part in (moving, shifted(noise, 3_300_000))]
    )


def test_every_event_is_in_one_window(events):
    windows = cut([events])
    assert len({window.t_end - window.t_start for window in windows}) > 3
    joined = evcrisp.Events.concatenate([window.events for window in windows])
    assert joined.equals(events)
    counts = np.cumsum([0, *(len(window.events) for window in windows)])
    assert [window.index for window in windows] == counts[:-1].tolist()
    for before, after in itertools.pairwise(windows):
        assert before.t_end <= after.t_start
        # Time is left out only where nothing happens.
        assert after.t_start == before.t_end or after.events.t[0] == after.t_start


@pytest.mark.parametrize("latency_us", [1_000, 20_000, 100_000, 500_000])
def test_no_window_is_longer_than_the_latency(events, latency_us):
    windows = cut([events], max_latency_us=latency_us)
    assert max(window.t_end - window.t_start for window in windows) <= latency_us
    assert sum(len(window.events) for window in windows) == len(events)


@settings(max_examples=20, deadline=None)
@given(data=st.data(), overlap=st.sampled_from([0.0, 0.5, 0.8]))
def test_windows_do_not_depend_on_chunks(events, data, overlap):
    whole = cut([events], overlap=overlap)
    ends = sorted(data.draw(st.lists(st.integers(0, len(events)), max_size=40)))
    edges = [0, *ends, len(events)]
    chunks = [events[a:b] for a, b in itertools.pairwise(edges)]
    assert bounds(cut(chunks, overlap=overlap)) == bounds(whole)


@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_later_events_do_not_change_a_window(events, data):
    """Windows that are followed by more than a short rest stay, whatever comes then."""
    k = data.draw(st.integers(1_000, len(events) - 1))
    whole, early = cut([events]), cut([events[:k]])
    assert bounds(early[:-1]) == bounds(whole[: len(early) - 1])
    other = shifted(events[:2_000], int(events.t[k - 1]) - int(events.t[0]) + 1)
    changed = cut([events[:k], other])
    t_known = int(events.t[k - 1])
    # A window may end before the events from which its end follows.
    settled = [window for window in whole if window.t_start + 1.5 * DEFAULT_LATENCY_US <= t_known]
    assert bounds(changed[: len(settled)]) == bounds(settled)


def test_a_window_follows_from_its_start(events):
    """Nothing is remembered: a stream that starts with a window has the same windows."""
    windows = cut([events])
    for k in (1, len(windows) // 2, len(windows) - 2):
        rest = events[windows[k].index :]
        first = int(rest.t[0])
        again = cut([rest])
        # Windows start with an event at the start of a stream only.
        if first == windows[k].t_start:
            assert [w.t_end for w in again] == [w.t_end for w in windows[k:]]
        assert again[0].t_start == first


@settings(max_examples=10, deadline=None)
@given(us=st.integers(-(2**40), 2**50))
def test_shift_of_time(events, us):
    expected = [
        replace(window, events=shifted(window.events, us), t_start=window.t_start + us,
                t_end=window.t_end + us)
        for window in cut([events])
    ]  # fmt: skip
    assert bounds(cut([shifted(events, us)])) == bounds(expected)


def test_overlapping_windows_repeat_a_share(events):
    windows = cut([events], overlap=0.5)
    for before, after in itertools.pairwise(windows):
        step = round(0.5 * (before.t_end - before.t_start))
        t_next = before.t_start + step
        assert after.t_start == t_next or after.t_start == after.events.t[0] > t_next
    n_end = max(window.index + len(window.events) for window in windows)
    assert n_end == len(events)
    covered = np.zeros(len(events), bool)
    for window in windows:
        covered[window.index : window.index + len(window.events)] = True
    assert covered.all()


def test_short_rest_joins_the_window_before():
    scene = evcrisp.simulate(theta=(300, -120), duration_us=120_000, noise_hz=5.0, seed=1)
    whole = cut([scene.events])
    second = whole[1]
    length = second.t_end - second.t_start
    for rest_us, n in ((length // 4, 2), (3 * length // 4, 3)):
        part = scene.events.between(0, second.t_end + rest_us)
        windows = cut([part])
        assert len(windows) == n
        assert windows[-1].t_end == part.t[-1] + 1


def test_rest_that_exceeds_the_latency_does_not_join():
    noise = evcrisp.simulate(theta=(0, 0), duration_us=210_000, noise_hz=1.0, seed=3).events
    windows = cut([noise], max_latency_us=100_000)
    assert len(windows) == 3
    assert windows[-1].t_end - windows[-1].t_start < 15_000


def test_events_of_a_window_are_bounded(events, monkeypatch):
    monkeypatch.setattr(module, "MAX_EVENTS", 700)
    windows = cut([events])
    for window in windows:
        # A rest of half as many may join the last one; the shortest window is not cut.
        assert len(window.events) <= 1_050 or window.t_end - window.t_start == module.LEAST_US
    assert sum(len(window.events) for window in windows) == len(events)
    chunks = [events[k : k + 97] for k in range(0, len(events), 97)]
    assert bounds(cut(chunks)) == bounds(windows)


def test_many_events_at_one_time_make_one_window(monkeypatch):
    monkeypatch.setattr(module, "MAX_EVENTS", 100)
    n = 1_000
    events = evcrisp.Events(x=[3] * n, y=[3] * n, t=[5] * n, p=[1] * n, resolution=SIZE)
    (window,) = cut([events[:300], events[300:]])
    assert len(window.events) == n


@pytest.mark.parametrize("n", [0, 1, 2])
def test_hardly_any_events(n):
    events = evcrisp.Events(x=[1] * n, y=[1] * n, t=[10, 9_000_000][:n], p=[1] * n, resolution=SIZE)
    windows = cut([events])
    assert [len(window.events) for window in windows] == [1] * n
