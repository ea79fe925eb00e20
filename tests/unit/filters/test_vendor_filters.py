"""Filters of cameras and their software: what they keep by their definition, and their oracle."""

import numpy as np
import pytest

from evcrisp import ConfigError, Events
from evcrisp.filters import denoise, denoiser


def pixel(times, polarities):
    """Return events of one pixel."""
    n = len(times)
    return Events(x=[2] * n, y=[1] * n, t=times, p=polarities, resolution=(5, 4))


def kept(events, name, preset=None, **params):
    return denoise(events, name, preset, **params).signal.astype(int).tolist()


TIMES = [0, 1000, 2000, 3000, 30_000, 31_000, 32_000]
BURSTS = [1, 1, 1, 0, 0, 0, 0]


def test_stc_keeps_the_second_event_of_a_burst():
    assert kept(pixel(TIMES, BURSTS), "stc") == [0, 1, 0, 0, 0, 1, 0]


def test_stc_keeps_the_trail_if_asked_to():
    assert kept(pixel(TIMES, BURSTS), "stc", cut_trail=False) == [0, 1, 1, 0, 0, 1, 1]


def test_stc_as_metavision_starts_it_loses_a_first_burst_of_off_events():
    off = pixel([0, 1000, 2000], [0, 0, 0])
    assert kept(off, "stc") == [0, 1, 0]
    assert kept(off, "stc", "metavision") == [0, 0, 0]
    assert kept(off, "stc", "metavision", cut_trail=False) == [0, 1, 1]


def test_trail_keeps_the_first_event_of_a_burst():
    assert kept(pixel(TIMES, BURSTS), "trail") == [1, 0, 0, 1, 1, 0, 0]


def test_trail_keeps_an_event_exactly_at_its_limit_and_activity_and_stc_do_too():
    assert kept(pixel([0, 9_999, 19_999], [1, 1, 1]), "trail") == [1, 0, 1]
    assert kept(pixel([0, 10_000], [1, 1]), "stc") == [0, 1]
    assert kept(pixel([0, 10_001], [1, 1]), "stc") == [0, 0]
    beside = Events(x=[2, 3], y=[1, 1], t=[0, 10_000], p=[1, 0], resolution=(5, 4))
    assert kept(beside, "activity") == [0, 1]
    assert kept(beside, "activity", tau_us=9_999) == [0, 0]


def test_activity_is_the_background_activity_filter_of_its_preset(make_events):
    events = make_events(3000, resolution=(60, 40))
    ours, baf = denoise(events, "activity"), denoise(events, "baf", "metavision")
    np.testing.assert_array_equal(ours.signal, baf.signal)
    np.testing.assert_array_equal(ours.score, baf.score)


@pytest.mark.parametrize("t_start", [0, 1_000_000, 1_643_243_628_737_093])
@pytest.mark.parametrize("seed", range(3))
def test_fastdecay_keeps_what_dv_processing_keeps(make_events, t_start, seed):
    dv = pytest.importorskip("dv_processing", reason="dv-processing is the oracle")
    events = make_events(5000, resolution=(50, 31), seed=seed, t_start=t_start, duration_us=100_000)
    other = dv.noise.FastDecayNoiseFilter(events.resolution)
    other.accept(events.to_dv())
    theirs = Events.from_dv(other.generateEvents(), events.resolution)
    assert 0 < len(theirs) < len(events)
    assert events[denoise(events, "fastdecay", "dv").signal].equals(theirs)


def test_fastdecay_counts_up_to_the_level_at_which_decay_and_events_balance():
    events = pixel(range(0, 10_000_000, 10_000), [1] * 1000)
    score = denoise(events, "fastdecay").score
    np.testing.assert_allclose(score[:4], [1, 1.5, 1.75, 1.875])
    np.testing.assert_allclose(score[-1], 2.0, rtol=1e-6)


def test_hashheat_keeps_a_dense_spot_among_noise(make_events):
    noise = make_events(6000, resolution=(300, 200), duration_us=300_000)
    rng = np.random.default_rng(1)
    n = 2000
    events = Events.sorted_from(
        x=np.concatenate([noise.x, rng.integers(150, 154, n)]),
        y=np.concatenate([noise.y, rng.integers(90, 94, n)]),
        t=np.concatenate([noise.t, rng.integers(noise.t[0], noise.t[-1], n)]),
        p=[0] * (6000 + n),
        resolution=(300, 200),
        signal=np.arange(6000 + n) >= 6000,
    )
    signal = denoise(events, "hashheat").signal
    assert signal[events.signal].mean() > 0.9
    assert signal[~events.signal].mean() < 0.1


def test_hashheat_has_the_directions_of_its_seed():
    one, same, other = (denoiser("hashheat", params={"seed": seed}) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.planes(), same.planes())
    assert not np.array_equal(one.planes(), other.planes())


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("activity", {"tau_us": 0}, "`tau_us` must be positive; got 0"),
        ("stc", {"tau_us": -1}, "`tau_us` must be positive; got -1"),
        ("trail", {"tau_us": 0}, "`tau_us` must be positive; got 0"),
        ("fastdecay", {"cell_px": 0}, "`cell_px` must be positive; got 0"),
        ("fastdecay", {"half_life_us": 0}, "`half_life_us` must be positive; got 0"),
        ("fastdecay", {"threshold": -1.0}, "`threshold` must be 0 or more; got -1"),
        (
            "hashheat",
            {"counters": 1000},
            "`counters` must be a power of two up to 131072; got 1000",
        ),
        ("hashheat", {"hashes": 1}, "`hashes` must be 2 or more; got 1"),
        ("hashheat", {"width_px": 0.0}, "`width_px` must be a positive number; got 0.0"),
    ],
)
def test_impossible_parameters_are_explained(name, params, message):
    with pytest.raises(ConfigError, match=message):
        denoiser(name, params=params)
