"""The compiled denoisers give the scores of the slow and obvious ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.filters import recent_neighbors as reference

from evcrisp import Events
from evcrisp.filters import (
    Baf,
    Density,
    Dwf,
    HotPixel,
    KNoise,
    Padala,
    Refractory,
    Stcf,
    Ts,
    YNoise,
)

RESOLUTION = (5, 4)

#: Small sensors and short times, so that everything happens: neighbors, borders, repetitions, ties.
streams = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 40), st.booleans()),
    max_size=60,
)


def events_of(steps):
    x, y, dt, p = np.array(steps, np.int64).reshape(-1, 4).T
    return Events(x=x, y=y, t=1_000_000 + np.cumsum(dt), p=p, resolution=RESOLUTION)


def columns(events):
    return [getattr(events, name).astype(int).tolist() for name in "xytp"]


def check(config, events, scores, rtol=0.0):
    stream = config.start(events.resolution)
    labels = stream.label(events)
    assert len(stream.finish()) == 0
    np.testing.assert_allclose(labels.score, np.array(scores, float), rtol=rtol, atol=0.0)
    threshold = getattr(config, "threshold", 0.5)
    np.testing.assert_array_equal(labels.signal, labels.score >= threshold)


SUPPORTS = [
    Baf(tau_us=50),
    Baf(tau_us=50, same_polarity=True),
    Baf(tau_us=50, include_self=True),
    Baf(tau_us=50, cross=True),
    Baf(tau_us=50, cross=True, radius=2),
    Baf(tau_us=50, radius=2, same_polarity=True),
    Baf(tau_us=50, drop_first=True),
    Stcf(tau_us=80, k=1),
    Stcf(tau_us=80, k=2),
    Stcf(tau_us=80, k=3, same_polarity=False),
    Stcf(tau_us=80, k=5, same_polarity=False),
    Stcf(tau_us=80, k=6, radius=2),
    Stcf(tau_us=80, pair_us=30),
    Stcf(tau_us=80, pair_us=30, same_polarity=False, drop_first=True),
    YNoise(tau_us=80),
    YNoise(tau_us=80, k=2),
    YNoise(tau_us=80, k=4, same_polarity=False),
    Padala(tau_us=80, refractory_us=40),
    Padala(tau_us=80, refractory_us=40, include_self=True, same_polarity=True),
]


@pytest.mark.parametrize("config", SUPPORTS, ids=str)
@settings(deadline=None)  # the first call compiles
@given(steps=streams)
def test_support_matches_the_reference(config, steps):
    events = events_of(steps)
    check(config, events, reference.support(*columns(events), config.support()))


CASES = [
    (KNoise(tau_us=60), reference.line_support, 0.0),
    (KNoise(tau_us=60, k=2), reference.line_support, 0.0),
    (KNoise(tau_us=60, k=4, same_polarity=False), reference.line_support, 0.0),
    (KNoise(tau_us=60, k=2, include_self=True), reference.line_support, 0.0),
    (KNoise(tau_us=60, include_self=True, same_polarity=False), reference.line_support, 0.0),
    (Dwf(length=4, radius_px=1), reference.window_distance, 0.0),
    (Dwf(length=3, radius_px=2, k=2), reference.window_distance, 0.0),
    (Dwf(length=3, radius_px=1, k=3, warm_up=3), reference.window_distance, 0.0),
    (Dwf(length=3, radius_px=1, warm_up=7), reference.window_distance, 0.0),
    (Ts(tau_us=30, threshold=0.37), reference.mean_decay, 1e-12),
    (Ts(tau_us=1, threshold=0.37), reference.mean_decay, 1e-12),
    (Ts(tau_us=7, radius=2, threshold=0.61), reference.mean_decay, 1e-12),
    (Refractory(period_us=50), reference.own_age, 0.0),
    (Refractory(period_us=50, since_kept=True), reference.own_age, 0.0),
    (Density(tau_us=60, k=3, radius=2), reference.event_density, 0.0),
    (Density(tau_us=60, k=2, radius=1, include_self=False), reference.event_density, 0.0),
    (Density(tau_us=60, k=4, radius=3, fine=False), reference.event_density, 0.0),
]


@pytest.mark.parametrize(("config", "scores", "rtol"), CASES, ids=[str(case[0]) for case in CASES])
@settings(deadline=None)  # the first call compiles
@given(steps=streams)
def test_scores_match_the_reference(config, scores, rtol, steps):
    events = events_of(steps)
    check(config, events, scores(*columns(events), config), rtol)


@pytest.mark.parametrize("half_life_us", [10, 1000])
@settings(deadline=None)  # the first call compiles
@given(steps=streams)
def test_fading_counts_match_the_reference(half_life_us, steps):
    config = HotPixel(least=2.5, factor=1.5, half_life_us=half_life_us)
    events = events_of(steps)
    scores = reference.fading_excess(*columns(events), config, RESOLUTION)
    check(config, events, scores, rtol=1e-11)
