"""Filters on tensors label every event as the compiled filters do, score by score."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evcrisp import Events, denoise
from evcrisp.filters import Activity, Baf, Ebf, Padala, Stcf, YNoise, build_filter
from evcrisp.filters.protocol import Labels, presets
from evcrisp.tensors.lazy import torch

RESOLUTION = (5, 4)

#: Small sensors and short times, to include neighbors, borders, repetitions and ties.
streams = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 40), st.booleans()),
    min_size=1,
    max_size=60,
)

FILTERS = [
    Activity(tau_us=50),
    Baf(tau_us=50),
    Baf(tau_us=50, same_polarity=True),
    Baf(tau_us=50, include_self=True, radius=2),
    Baf(tau_us=50, cross=True, drop_first=True),
    Baf(tau_us=50, zero_start=True),
    Stcf(tau_us=80, k=1),
    Stcf(tau_us=80, k=2),
    Stcf(tau_us=80, k=6, radius=2, same_polarity=False),
    Stcf(tau_us=80, pair_us=30, drop_first=True),
    YNoise(tau_us=80, k=2),
    YNoise(tau_us=80, k=4, same_polarity=False, zero_start=True),
    Padala(tau_us=80, refractory_us=40),
    Ebf(tau_us=60, threshold=0.7),
    Ebf(tau_us=60, radius=1, threshold=0.4),
    Ebf(tau_us=60, radius=3, threshold=2.0),
]

#: Filters with presets that follow other programs.
PRESETS = [
    (kind, name) for kind in (Activity, Baf, Stcf, YNoise, Padala, Ebf) for name in presets(kind)
]


def events_of(steps, t_first=1_000_000):
    x, y, dt, p = np.array(steps, np.int64).reshape(-1, 4).T
    return Events(x=x, y=y, t=t_first + np.cumsum(dt), p=p, resolution=RESOLUTION)


def assert_equal(found, expected):
    np.testing.assert_array_equal(found.score, expected.score)
    np.testing.assert_array_equal(found.signal, expected.signal)


@pytest.mark.parametrize("config", FILTERS, ids=str)
@settings(deadline=None)  # the first call compiles
@given(steps=streams)
def test_labels_equal_the_compiled_ones(config, steps):
    events = events_of(steps)
    assert_equal(denoise(events, config, device="torch-cpu"), denoise(events, config))


@pytest.mark.parametrize(("kind", "preset"), PRESETS, ids=str)
@settings(deadline=None, max_examples=20)
@given(steps=streams, t_first=st.sampled_from((0, 5_000, 10**15)))
def test_presets_equal_the_compiled_ones(kind, preset, steps, t_first):
    # Times of a preset are thousands of us.
    steps = [(x, y, 400 * dt, p) for x, y, dt, p in steps]
    events = events_of(steps, t_first)
    found = denoise(events, kind.name, preset, device="torch-cpu")
    assert_equal(found, denoise(events, kind.name, preset))


@pytest.mark.parametrize("config", FILTERS[::3], ids=str)
@settings(deadline=None, max_examples=30)
@given(steps=streams, cuts=st.lists(st.integers(0, 60), max_size=4))
def test_labels_do_not_depend_on_the_chunks(config, steps, cuts):
    events = events_of(steps)
    stream = build_filter(config, device="torch-cpu").start(RESOLUTION)
    ends = sorted({min(cut, len(events)) for cut in cuts} | {0, len(events)})
    parts = [stream.label(events[a:b]) for a, b in pairwise(ends)]
    assert_equal(Labels.concatenate(parts), denoise(events, config))


@pytest.mark.parametrize("config", [Stcf(tau_us=80, pair_us=30), Ebf(tau_us=60)], ids=str)
def test_all_tensors_are_on_the_device_of_the_events(config, make_events):
    events = make_events(200, RESOLUTION, duration_us=2000)
    with torch.device("meta"):  # tensors without a device would be there, and mix with no others
        found = denoise(events, config, device="torch-cpu")
    assert_equal(found, denoise(events, config))
