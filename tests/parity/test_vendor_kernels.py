"""Filters of cameras and their software against slow and obvious versions."""

import numpy as np
import pytest
from tests.oracles.filters import bursts as reference_vendor

from evcrisp.filters import denoise
from evcrisp.filters.density.hashheat import HashHeat


@pytest.fixture
def events(make_events):
    return make_events(2500, resolution=(13, 9), seed=4, duration_us=400_000)


@pytest.mark.parametrize("cut_trail", [True, False])
def test_the_second_event_of_a_burst_is_found(events, cut_trail):
    found = denoise(events, "stc", cut_trail=cut_trail).signal
    wanted = reference_vendor.second_of_burst(events, 10_000, cut_trail)
    assert 0 < found.sum() < len(events)
    np.testing.assert_array_equal(found, wanted)


def test_the_first_event_of_a_burst_is_found(events):
    found = denoise(events, "trail").signal
    assert 0 < found.sum() < len(events)
    np.testing.assert_array_equal(found, reference_vendor.first_of_burst(events, 10_000))


@pytest.mark.parametrize("cell_px", [1, 4, 50])
def test_the_count_that_decays_is_a_sum_over_all_events_of_the_cell(events, cell_px):
    found = denoise(events, "fastdecay", cell_px=cell_px)
    wanted = reference_vendor.fast_decay(events, cell_px, 10_000)
    np.testing.assert_allclose(found.score, wanted, rtol=1e-5)
    np.testing.assert_array_equal(found.signal, found.score > 6.0)


# Hashes wrap around by design, which numpy reports where nothing is compiled.
@pytest.mark.filterwarnings("ignore:overflow encountered in scalar")
@pytest.mark.parametrize("preset", [None, "jaer"])
@pytest.mark.parametrize("window_events", [1, 300, 1000])
def test_counters_are_found_and_counted(events, preset, window_events):
    config = HashHeat(**{
        **(HashHeat.presets[preset] if preset else {}),
        "window_events": window_events, "threshold": 6, "cold_threshold": 2, "warm_event": 400,
    })  # fmt: skip
    found = config.start(events.resolution).label(events)
    rule = (config.window_events, config.clear, config.warm_event, 2, 6)
    wanted = reference_vendor.hash_heat(events, config.planes(), config.counters, *rule)
    np.testing.assert_array_equal(found.signal, wanted[0])
    np.testing.assert_array_equal(found.score, wanted[1])
