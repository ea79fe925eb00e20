"""Laws of filters without a preferred direction or polarity."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evcrisp import Events
from evcrisp.filters import Ebf, Pfd, PfdSlices, denoise

WIDTH, HEIGHT = 7, 6

streams = st.lists(
    st.tuples(
        st.integers(0, WIDTH - 1), st.integers(0, HEIGHT - 1), st.integers(0, 60), st.booleans()
    ),
    min_size=1,
    max_size=80,
).map(lambda steps: np.array(steps, np.int64).T)

FILTERS = [
    Ebf(tau_us=150, threshold=1.0),
    Ebf(tau_us=150, radius=1, threshold=0.5),
    Pfd(tau_us=150, window_us=150, min_active=2),
    Pfd(tau_us=150, window_us=150, min_active=2, flicker=True),
    PfdSlices(tau_us=150, window_us=300, min_active=2),
]


def events_of(x, y, dt, p, resolution=(WIDTH, HEIGHT)):
    return Events(x=x, y=y, t=np.cumsum(dt), p=p, resolution=resolution)


def assert_same(labels, other):
    np.testing.assert_array_equal(labels.signal, other.signal)
    # The order of a sum, but nothing else, depends on the direction.
    np.testing.assert_allclose(labels.score, other.score, rtol=1e-15, atol=0.0)


@pytest.mark.parametrize("config", FILTERS, ids=str)
@settings(deadline=None)
@given(stream=streams)
def test_labels_are_invariant_to_mirror_swap_polarity_and_border(config, stream):
    x, y, dt, p = stream
    labels = denoise(events_of(x, y, dt, p), config)
    assert_same(labels, denoise(events_of(WIDTH - 1 - x, y, dt, p), config))
    assert_same(labels, denoise(events_of(x, HEIGHT - 1 - y, dt, p), config))
    assert_same(labels, denoise(events_of(y, x, dt, p, (HEIGHT, WIDTH)), config))
    assert_same(labels, denoise(events_of(x, y, dt, 1 - p), config))
    assert_same(labels, denoise(events_of(x + 3, y + 2, dt, p, (WIDTH + 9, HEIGHT + 7)), config))


@settings(deadline=None)
@given(stream=streams, tau_us=st.integers(1, 300), more_us=st.integers(0, 300))
def test_score_of_ebf_grows_with_tau_and_radius(stream, tau_us, more_us):
    events = events_of(*stream)
    score = denoise(events, "ebf", tau_us=tau_us).score
    assert (score >= 0).all()
    assert (score <= 24).all()
    assert (denoise(events, "ebf", tau_us=tau_us + more_us).score >= score).all()
    assert (denoise(events, "ebf", tau_us=tau_us, radius=3).score >= score).all()


@settings(deadline=None)
@given(stream=streams, factor=st.integers(2, 1000))
def test_score_of_ebf_is_independent_of_unit_of_time(stream, factor):
    x, y, dt, p = stream
    score = denoise(events_of(x, y, dt, p), "ebf", tau_us=150).score
    slow = denoise(events_of(x, y, factor * dt, p), "ebf", tau_us=150 * factor).score
    np.testing.assert_array_equal(score, slow)


@settings(deadline=None)
@given(stream=streams)
def test_events_of_other_polarity_give_no_score(stream):
    x, y, dt, _ = stream
    p = (x + y) % 2  # a checkerboard: events of the same polarity are diagonal neighbors
    events = events_of(x, y, dt, p)
    is_on = events.p
    score = denoise(events, "ebf", tau_us=150).score
    only_on = denoise(events[is_on], "ebf", tau_us=150).score
    np.testing.assert_array_equal(score[is_on], only_on)


@pytest.mark.parametrize("name", ["pfd", "pfdslices"])
@settings(deadline=None)
@given(stream=streams, max_changes=st.floats(0.1, 3.0), more=st.floats(0.0, 3.0))
def test_pfd_keeps_more_with_a_looser_limit(name, stream, max_changes, more):
    events = events_of(*stream)
    params = {"tau_us": 150, "window_us": 150, "min_active": 2}
    kept = denoise(events, name, **params, max_changes=max_changes).signal
    looser = denoise(events, name, **params, max_changes=max_changes + more).signal
    assert not (kept & ~looser).any()
