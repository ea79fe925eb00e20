"""Event store: windows, chunks and event rate of a recording on disk."""

import numpy as np
import pytest

from evcrisp import Events
from evcrisp.viewer.bundle_format import read_bundle
from evcrisp.viewer.event_store import EventStore, display_step, write_store


@pytest.mark.parametrize(
    ("start", "duration"), [(0, 10_000), (37_123, 11), (90_000, 50_000), (-5_000, 6_000)]
)
def test_window_of_a_store_equals_window_of_the_events(make_events, tmp_path, start, duration):
    events = make_events(20_000)
    chunks = [events[first : first + 777] for first in range(0, len(events), 777)]
    store = write_store(chunks, events.resolution, tmp_path).store()
    t_start = int(events.t[0]) + start
    expected = events.between(t_start, t_start + duration)
    window = store.window(start, duration)
    assert window.events.equals(expected)
    t_end = min(t_start + duration, int(events.t[-1]) + 1)
    assert (window.t_start, window.t_end) == (t_start, t_end)
    facts, arrays = read_bundle(store.bundle(start, duration))
    assert facts["n_events"] == len(expected)
    assert (arrays["dt"].astype(np.int64) + t_start).tolist() == expected.t.tolist()
    assert arrays["pixels"].nbytes + arrays["dt"].nbytes == 8 * len(expected)


def test_chunks_of_a_store_contain_all_events(make_events, tmp_path):
    events = make_events(5_000)
    store = write_store([events], events.resolution, tmp_path).store()
    assert Events.concatenate(store.chunks(999)).equals(events)


def test_event_rate_counts_all_events_in_bounded_bins(make_events, tmp_path):
    events = make_events(20_000, duration_us=60_000_000)
    chunks = [events[first : first + 1_000] for first in range(0, len(events), 1_000)]
    rate = write_store(chunks, events.resolution, tmp_path).rate
    assert rate.counts.shape[1] <= 2_048
    assert rate.counts.sum(axis=1).tolist() == [len(events) - events.n_on, events.n_on]
    bins = (events.t - events.t[0]) // rate.bin_us
    assert rate.counts.sum(axis=0).tolist() == np.bincount(bins).tolist()


def test_empty_store_has_empty_windows(tmp_path):
    store = write_store([], (8, 4), tmp_path).store()
    assert store == EventStore(str(tmp_path), (8, 4))
    assert store.duration_us == 0
    assert len(store.window(0, 1_000).events) == 0
    assert read_bundle(store.bundle(0, 1_000))[0]["n_events"] == 0


def test_display_step_limits_the_number_of_shown_events():
    assert [display_step(n) for n in (0, 1, 1_000_000, 1_000_001, 2_500_000)] == [1, 1, 1, 2, 3]
