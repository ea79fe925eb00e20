"""Contract of every filter, for any chunks and any events."""

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evcrisp import ConfigError, EventDataError, Events
from evcrisp.filters import FILTERS, Labels, build_filter, denoise

pytestmark = pytest.mark.slow

RESOLUTION = (24, 18)

#: Number of events for filters that are slow.
FEW = {"edncnn": 100}


def busy_events(n=1500, seed=0, t_start=0):
    """Return a moving edge, uniform noise and a hot pixel."""
    rng = np.random.default_rng(seed)
    t = np.sort(rng.integers(0, 60_000, n))
    kind = rng.random(n)
    x = np.where(kind < 0.5, (t // 3000 + rng.integers(0, 2, n)) % RESOLUTION[0], 0)
    x = np.where((kind >= 0.5) & (kind < 0.9), rng.integers(0, RESOLUTION[0], n), x)
    y = np.where(kind < 0.9, rng.integers(0, RESOLUTION[1], n), 7)
    p = np.where(kind < 0.5, x % 2, rng.integers(0, 2, n))
    return Events(x=np.where(kind < 0.9, x, 5), y=y, t=t + t_start, p=p, resolution=RESOLUTION)


def events_for(name, **kwargs):
    return busy_events(FEW.get(name, 1500), **kwargs)


def labels_of(config, events, cuts=()):
    stream = config.start(events.resolution)
    edges = [0, *sorted(cuts), len(events)]
    parts = [stream.label(events[a:b]) for a, b in itertools.pairwise(edges)]
    return Labels.concatenate([*parts, stream.finish()])


def assert_same(one, other):
    np.testing.assert_array_equal(one.signal, other.signal)
    np.testing.assert_array_equal(one.score, other.score)


#: Every filter with its defaults and with each preset.
SETTINGS = [(name, preset) for name, kind in FILTERS.items() for preset in (None, *kind.presets)]


@pytest.fixture(params=sorted(FILTERS))
def name(request):
    return request.param


@pytest.mark.parametrize(("name", "preset"), SETTINGS)
def test_filter_gives_label_and_finite_score_per_event(name, preset):
    for events in (events_for(name), events_for(name, t_start=10**15)):
        labels = denoise(events, name, preset)
        assert labels.signal.shape == labels.score.shape == (len(events),)
        assert labels.signal.dtype == np.bool_
        assert labels.score.dtype == np.float64
        assert np.isfinite(labels.score).all()


@pytest.mark.parametrize(("name", "preset"), SETTINGS)
def test_signal_has_higher_scores_than_noise(name, preset):
    labels = denoise(events_for(name), name, preset)
    kept, dropped = labels.score[labels.signal], labels.score[~labels.signal]
    if kept.size and dropped.size:
        assert kept.min() > dropped.max()


@pytest.mark.parametrize("name", sorted(FILTERS))
@settings(deadline=None, max_examples=15)
@given(cuts=st.lists(st.integers(0, 1500), max_size=6), seed=st.integers(0, 3))
def test_labels_are_independent_of_chunks(name, cuts, seed):
    events = events_for(name, seed=seed)
    cuts = [min(cut, len(events)) for cut in cuts]
    assert_same(labels_of(build_filter(name), events, cuts), denoise(events, name))


def test_labels_are_equal_event_by_event(name):
    events = events_for(name)[:200]
    cuts = range(len(events))
    assert_same(labels_of(build_filter(name), events, cuts), denoise(events, name))


@pytest.mark.parametrize("t_start", [1, 10**6, 1_700_000_000_000_000, 2**60, -(10**9)])
def test_labels_are_invariant_to_time_shift(name, t_start):
    late = events_for(name, t_start=t_start)
    assert_same(denoise(events_for(name), name), denoise(late, name))


def test_causal_filter_labels_all_events_at_once(name):
    events = events_for(name)[:50]
    stream = build_filter(name).start(events.resolution)
    is_causal = len(stream.label(events)) == len(events)
    # `density` is causal but declares otherwise, to start anew in each window of `track`.
    assert FILTERS[name].is_causal == (is_causal and name != "density")


def test_streams_are_independent(name):
    config = build_filter(name)
    first = labels_of(config, events_for(name, seed=1))
    labels_of(config, events_for(name, seed=2))
    assert_same(first, labels_of(config, events_for(name, seed=1)))


def test_empty_recording_has_no_labels(name):
    assert len(labels_of(build_filter(name), Events.empty((5, 5)))) == 0
    assert len(labels_of(build_filter(name), Events.empty((5, 5)), cuts=(0, 0))) == 0


@pytest.mark.parametrize("resolution", [(1, 1), (1, 9), (9, 1), (2, 2)])
def test_tiny_sensors_are_accepted(name, resolution):
    rng = np.random.default_rng(0)
    n = min(FEW.get(name, 200), 200)
    x, y = (rng.integers(0, size, n) for size in resolution)
    events = Events(x=x, y=y, t=np.arange(n) * 50, p=x % 2 == 0, resolution=resolution)
    labels = denoise(events, name)
    assert np.isfinite(labels.score).all()


def test_long_pause_keeps_scores_finite(name):
    events = events_for(name)[:400]
    half = len(events) // 2
    t = events.t + np.where(np.arange(len(events)) < half, 0, 10**12)
    late = Events(x=events.x, y=events.y, t=t, p=events.p, resolution=RESOLUTION)
    labels = denoise(late, name)
    assert np.isfinite(labels.score).all()
    assert_same(labels, labels_of(build_filter(name), late, cuts=(half // 2, half, half + 1)))


def test_events_of_another_sensor_raise(name):
    stream = build_filter(name).start((10, 10))
    if name == "raw":
        return
    with pytest.raises(EventDataError, match="10x10; got 24x18"):
        stream.label(busy_events(5))


def test_parameters_that_are_not_finite_raise(name):
    kind = FILTERS[name]
    for field in dataclasses.fields(kind):
        if field.type in (int, float):
            for value in (np.nan, np.inf, -np.inf):
                with pytest.raises(ConfigError, match=rf"`{field.name}`.* got .*{value}"):
                    kind(**{field.name: value})


def test_filter_is_frozen_and_described(name):
    kind = FILTERS[name]
    assert dataclasses.is_dataclass(kind)
    assert kind() == kind()
    assert kind.name == name
    assert kind.about.source
    assert kind.about.cost
    assert kind.about.memory
    for preset in kind.presets:
        assert build_filter(name, preset) == kind(**kind.presets[preset])
    for field in dataclasses.fields(kind):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(kind(), field.name, None)


def test_numpy_numbers_are_accepted(name):
    events = events_for(name)
    plain = {
        field.name: getattr(build_filter(name), field.name)
        for field in dataclasses.fields(FILTERS[name])
    }
    numbers = {k: v for k, v in plain.items() if type(v) in (int, float)}
    kinds = {int: np.int32, float: np.float64}
    settings = {k: kinds[type(v)](v) for k, v in numbers.items() if abs(v) < 2**31}
    assert_same(denoise(events, name, **settings), denoise(events, name))
