"""Bundles, and the event store that makes them."""

import numpy as np
import pytest

from evcrisp import ConfigError, Events
from evcrisp.viewer.bundle_format import (
    delta_encoded,
    pack_pixels,
    read_bundle,
    unpack_events,
    write_bundle,
)
from evcrisp.viewer.event_store import EventStore, display_step, write_store


@pytest.mark.parametrize("has_labels", [True, False])
def test_pack_and_unpack_preserve_events(make_events, has_labels):
    events = make_events(500, resolution=(1280, 720))
    if has_labels:
        events = events.with_signal(np.arange(500) % 3 == 0)
    back = unpack_events(pack_pixels(events), events.t, events.resolution, has_labels=has_labels)
    assert back.equals(events)


def test_largest_sensor_is_packed_and_a_larger_one_raises():
    corner = Events(x=[32_767], y=[32_767], t=[0], p=[0], resolution=(32_768, 32_768))
    assert unpack_events(pack_pixels(corner), corner.t, corner.resolution, has_labels=False).equals(
        corner
    )
    with pytest.raises(ConfigError, match="up to 32768 px"):
        pack_pixels(Events.empty((32_769, 10)))


@pytest.mark.parametrize("compact", [False, True])
def test_write_and_read_preserve_a_bundle(compact):
    arrays = {
        "dt": np.array([3, 3, 10, 2**32 - 1], np.uint32),
        "shift_x": np.array([65_535, 0, 7], np.uint16),
        "flags": np.array([1, 0, 1, 1, 0], np.uint8),
        "rows": np.array([1.5, -2.25], np.float32),
        "none": np.zeros(0, np.uint8),
    }
    data = write_bundle({"name": "ö", "n": 3}, arrays)
    facts, back = read_bundle(delta_encoded(data) if compact else data)
    assert facts == {"name": "ö", "n": 3}
    assert {name: array.tolist() for name, array in back.items()} == {
        name: array.tolist() for name, array in arrays.items()
    }


def test_unsupported_types_and_foreign_data_raise():
    with pytest.raises(TypeError, match="f8"):
        write_bundle({}, {"a": np.zeros(2)})
    with pytest.raises(ValueError, match="not a bundle"):
        read_bundle(b"something else")


@pytest.mark.parametrize(
    ("start", "length"), [(0, 10_000), (37_123, 11), (90_000, 50_000), (-5_000, 6_000)]
)
def test_window_of_a_store_equals_window_of_the_events(make_events, tmp_path, start, length):
    events = make_events(20_000)
    chunks = [events[first : first + 777] for first in range(0, len(events), 777)]
    store = write_store(chunks, events.resolution, tmp_path).store()
    t_start = int(events.t[0]) + start
    expected = events.between(t_start, t_start + length)
    window = store.window(start, length)
    assert window.events.equals(expected)
    t_end = min(t_start + length, int(events.t[-1]) + 1)
    assert (window.t_start, window.t_end) == (t_start, t_end)
    facts, arrays = read_bundle(store.bundle(start, length))
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
