"""The verbs: build a filter by name, class or object, and label events with it."""

from dataclasses import dataclass

import numpy as np
import pytest

from evcrisp import ConfigError, EventDataError, Events, UnknownNameError
from evcrisp.filters import FILTERS, Labels, Stcf, build_filter, denoise, denoise_chunks
from evcrisp.filters.protocol import About, about, is_causal, presets


@dataclass(frozen=True)
class OddColumns:
    """The smallest possible filter: keep events of odd columns."""

    name = "odd"

    parity: int = 1

    def start(self, resolution):
        return self

    def label(self, events):
        signal = events.x % 2 == self.parity
        return Labels(signal, signal.astype(float))

    def finish(self):
        return Labels.empty(0)


@pytest.fixture
def registered():
    FILTERS.register(OddColumns)
    yield
    FILTERS.unregister("odd")


def assert_same(one, other):
    np.testing.assert_array_equal(one.signal, other.signal)
    np.testing.assert_array_equal(one.score, other.score)


def test_name_class_and_object_give_equal_labels(make_events):
    events = make_events(500, resolution=(20, 15), duration_us=20_000)
    by_name = denoise(events, "stcf", k=3)
    assert 0 < by_name.signal.sum() < 500
    assert_same(by_name, denoise(events, Stcf, k=3))
    assert_same(by_name, denoise(events, Stcf(k=3)))
    assert_same(by_name, denoise(events, method=Stcf(k=3)))


def test_chunks_accept_name_class_and_object(make_events):
    events = make_events(500, resolution=(20, 15), duration_us=20_000)
    for method in ("stcf", Stcf, Stcf()):
        parts = [labels for _, labels in denoise_chunks([events[:100], events[100:]], method)]
        assert_same(Labels.concatenate(parts), denoise(events, "stcf"))


def test_own_filter_works_by_object(make_events):
    events = make_events(50)
    np.testing.assert_array_equal(denoise(events, OddColumns(0)).signal, events.x % 2 == 0)


def test_own_filter_works_by_name_when_registered(make_events, registered):
    events = make_events(50)
    np.testing.assert_array_equal(denoise(events, "odd", parity=0).signal, events.x % 2 == 0)


def test_own_filter_needs_no_description_and_no_presets(registered):
    assert about(FILTERS["odd"]) == About()
    assert presets(FILTERS["odd"]) == {}
    assert is_causal(build_filter("odd"))
    with pytest.raises(ConfigError, match="The filter 'odd' has no preset 'emlb'. Known: none"):
        build_filter("odd", "emlb")


def test_parameters_take_precedence_over_preset():
    for method in ("baf", FILTERS["baf"]):
        config = build_filter(method, "emlb", tau_us=7)
        assert (config.tau_us, config.include_self, config.same_polarity) == (7, True, True)


def test_object_takes_no_preset_and_no_parameters():
    with pytest.raises(ConfigError, match="`preset` needs a name or a class; got 'jaer'"):
        build_filter(Stcf(), "jaer")
    with pytest.raises(ConfigError, match="is an object already; got the options k too"):
        build_filter(Stcf(), k=3)


def test_unknown_name_preset_and_parameter_raise(make_events):
    events = make_events(3)
    with pytest.raises(UnknownNameError, match="Unknown filter 'bav'. Did you mean 'baf'"):
        denoise(events, "bav")
    with pytest.raises(UnknownNameError, match="Unknown filter 'bav'. Did you mean 'baf'"):
        denoise(events, "bav", "emlb")
    with pytest.raises(ConfigError, match="no option 'tau'. Did you mean 'tau_us'"):
        denoise(events, "baf", tau=3)
    with pytest.raises(ConfigError, match="'ynoise' has no preset 'paper'. Known: emlb"):
        denoise(events, "ynoise", "paper")
    with pytest.raises(ConfigError, match="The filter 'baf' has no option 'method'"):
        build_filter("baf", method="stcf")


@pytest.mark.parametrize(
    ("name", "look_ahead_us"), [("iets", 5_000), ("dbscan", 10_000), ("pugm", 12_000)]
)
def test_labels_are_late_by_at_most_the_look_ahead(make_events, name, look_ahead_us):
    events = make_events(5000, resolution=(40, 30), duration_us=200_000)
    stream = build_filter(name).start(events.resolution)
    n_out = 0
    for k in range(0, 5000, 100):
        n_out += len(stream.label(events[k : k + 100]))
        waiting = events.t[n_out : k + 100]
        assert waiting.size
        assert events.t[k + 99] - waiting[0] <= look_ahead_us
    assert n_out + len(stream.finish()) == 5000


@pytest.mark.parametrize("n", [0, 1, 500])
def test_kept_returns_events_that_are_signal(make_events, n):
    rng = np.random.default_rng(n)
    events = make_events(n).with_signal(rng.random(n) < 0.5)
    for part in (events, events[::2], events.with_signal(None)):
        for share in (0.0, 0.3, 1.0):
            labels = Labels(rng.random(len(part)) < share, np.zeros(len(part)))
            assert labels.kept(part).equals(part[labels.signal])


def test_kept_requires_events_of_the_labels(make_events):
    with pytest.raises(EventDataError, match="must be the 5 events of the labels; got 4"):
        denoise(make_events(5), "baf").kept(make_events(4))


@pytest.mark.parametrize("name", FILTERS)
def test_filters_accept_the_longest_pause(name):
    rng = np.random.default_rng(1)
    t = np.concatenate(([-(2**62)] * 100, np.arange(100), [2**62 - 1] * 100))
    x, y, p = (rng.integers(0, size, t.size) for size in (16, 12, 2))
    events = Events(x=x, y=y, t=t, p=p, resolution=(16, 12))
    labels = denoise(events, name)
    assert len(labels) == t.size
    assert np.isfinite(labels.score).all()


@pytest.mark.parametrize("name", FILTERS)
def test_filters_accept_polarities_with_other_bytes(name):
    rng = np.random.default_rng(2)
    t, stored = np.arange(0, 40_000, 100), rng.integers(0, 2, 400).astype(np.uint8)
    x, y = (rng.integers(0, size, t.size) for size in (16, 12))
    plain, odd = (
        Events(x=x, y=y, t=t, p=p, resolution=(16, 12))
        for p in (stored.astype(bool), (stored * 200).view(np.bool_))
    )
    np.testing.assert_array_equal(denoise(plain, name).score, denoise(odd, name).score)
