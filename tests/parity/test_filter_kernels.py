"""Compiled filters give the scores of their slow versions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.filters import (
    bursts,
    dbscan,
    density,
    dwf,
    ebf,
    fastdecay,
    hashheat,
    hot_pixel,
    iets,
    knoise,
    pfd,
    pugm,
    recent_neighbors,
    red,
    refractory,
    ts,
)

from evcrisp import Events
from evcrisp.filters import (
    Baf,
    Density,
    Dwf,
    Ebf,
    HashHeat,
    HotPixel,
    KNoise,
    Padala,
    Pfd,
    PfdSlices,
    Refractory,
    Stcf,
    Ts,
    YNoise,
    denoise,
)
from evcrisp.filters.density.red import blur_factors, periods_remembered, time_factors
from evcrisp.kernels.filters.density.red import blur

RESOLUTION = (5, 4)

#: Small sensors and short times, to include neighbors, borders, repetitions and ties.
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


NEIGHBOR_FILTERS = [
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


@pytest.mark.parametrize("config", NEIGHBOR_FILTERS, ids=str)
@settings(deadline=None)  # the first call compiles
@given(steps=streams)
def test_neighbor_filters_match_oracle(config, steps):
    events = events_of(steps)
    check(config, events, recent_neighbors.kth_newest(*columns(events), config.rule()))


CASES = [
    (KNoise(tau_us=60), knoise.row_column_neighbors, 0.0),
    (KNoise(tau_us=60, k=2), knoise.row_column_neighbors, 0.0),
    (KNoise(tau_us=60, k=4, same_polarity=False), knoise.row_column_neighbors, 0.0),
    (KNoise(tau_us=60, k=2, include_self=True), knoise.row_column_neighbors, 0.0),
    (KNoise(tau_us=60, include_self=True, same_polarity=False), knoise.row_column_neighbors, 0.0),
    (Dwf(length=4, radius_px=1), dwf.window_distance, 0.0),
    (Dwf(length=3, radius_px=2, k=2), dwf.window_distance, 0.0),
    (Dwf(length=3, radius_px=1, k=3, warm_up=3), dwf.window_distance, 0.0),
    (Dwf(length=3, radius_px=1, warm_up=7), dwf.window_distance, 0.0),
    (Ts(tau_us=30, threshold=0.37), ts.time_surface_mean, 1e-12),
    (Ts(tau_us=1, threshold=0.37), ts.time_surface_mean, 1e-12),
    (Ts(tau_us=7, radius=2, threshold=0.61), ts.time_surface_mean, 1e-12),
    (Refractory(period_us=50), refractory.time_since_last, 0.0),
    (Refractory(period_us=50, since_kept=True), refractory.time_since_last, 0.0),
    (Density(tau_us=60, k=3, radius=2), density.event_density, 0.0),
    (Density(tau_us=60, k=2, radius=1, include_self=False), density.event_density, 0.0),
    (Density(tau_us=60, k=4, radius=3, fine=False), density.event_density, 0.0),
]


@pytest.mark.parametrize(("config", "scores", "rtol"), CASES, ids=[str(case[0]) for case in CASES])
@settings(deadline=None)  # the first call compiles
@given(steps=streams)
def test_scores_match_oracle(config, scores, rtol, steps):
    events = events_of(steps)
    check(config, events, scores(*columns(events), config), rtol)


def long_recording(steps, t_start):
    """Return events with pauses of hours, from any time on."""
    x, y, dt, p = np.array(steps, np.int64).reshape(-1, 4).T
    t = t_start + np.cumsum(dt + np.where(dt == 40, 10**11, 0))
    return Events(x=x, y=y, t=t, p=p, resolution=RESOLUTION)


#: Times around 0 and beyond the exact range of int32 and float64.
STARTS = st.sampled_from([0, 1_000_000, 2**31 - 50, 2**61, -(10**9)])


@pytest.mark.parametrize(
    "config",
    [Ebf(tau_us=50), Ebf(tau_us=1), Ebf(tau_us=10**10), Ebf(tau_us=50, radius=1),
     Ebf(tau_us=77, radius=3)],
    ids=str,
)  # fmt: skip
@settings(deadline=None)  # the first call compiles
@given(steps=streams, t_start=STARTS)
def test_ebf_matches_oracle(config, steps, t_start):
    events = long_recording(steps, t_start)
    labels = config.start(RESOLUTION).label(events)
    np.testing.assert_array_equal(labels.score, ebf.sum_square(*columns(events), config))
    np.testing.assert_array_equal(labels.signal, labels.score > config.threshold)


PFD_CASES = [
    Pfd(tau_us=60, window_us=60, min_active=2),
    Pfd(tau_us=60, window_us=90, min_active=1, memory=1),
    Pfd(tau_us=60, window_us=90, min_active=3, memory=2, flicker=True),
    Pfd(tau_us=90, window_us=60, min_active=4, k=2, max_changes=0.3),
    Pfd(tau_us=90, window_us=200, min_active=5, k=4, first_polarity=True),
    Pfd(tau_us=200, window_us=200, min_active=8, k=8, max_changes=1.9),
    Pfd(tau_us=60, window_us=60, k=3, zero_start=True, first_polarity=True),
    Pfd(tau_us=60, window_us=60, min_active=1, zero_start=True, flicker=True),
]


@pytest.mark.parametrize("config", PFD_CASES, ids=str)
@settings(deadline=None)  # the first call compiles
@given(steps=streams, t_start=STARTS)
def test_pfd_matches_oracle(config, steps, t_start):
    events = long_recording(steps, t_start)
    check(config, events, pfd.polarity_changes(*columns(events), config, RESOLUTION), rtol=1e-15)


SLICE_CASES = [
    PfdSlices(tau_us=60, window_us=100, min_active=2),
    PfdSlices(tau_us=60, window_us=1, min_active=1),
    PfdSlices(tau_us=90, window_us=400, min_active=3, k=2, flicker=True),
    PfdSlices(tau_us=200, window_us=10**12, min_active=4, k=4, max_changes=0.3),
    PfdSlices(tau_us=60, window_us=300, min_active=2, published=True),
    PfdSlices(tau_us=60, window_us=80, min_active=1, published=True, flicker=True),
]


@pytest.mark.parametrize("config", SLICE_CASES, ids=str)
@settings(deadline=None)  # the first call compiles
@given(steps=streams, t_start=STARTS)
def test_pfd_in_slices_matches_oracle(config, steps, t_start):
    events = long_recording(steps, t_start)
    labels = denoise(events, config)
    wanted = pfd.slice_changes(*columns(events), config, RESOLUTION)
    np.testing.assert_allclose(labels.score, np.array(wanted, float), rtol=1e-15, atol=1e-16)
    np.testing.assert_array_equal(labels.signal, labels.score >= 0.5)


@pytest.mark.parametrize("half_life_us", [10, 1000])
@settings(deadline=None)  # the first call compiles
@given(steps=streams)
def test_hot_pixel_counts_match_oracle(half_life_us, steps):
    config = HotPixel(least=2.5, factor=1.5, half_life_us=half_life_us)
    events = events_of(steps)
    scores = hot_pixel.count_excess(*columns(events), config, RESOLUTION)
    check(config, events, scores, rtol=1e-11)


@pytest.fixture
def burst_events(make_events):
    return make_events(2500, resolution=(13, 9), seed=4, duration_us=400_000)


@pytest.mark.parametrize("cut_trail", [True, False])
def test_stc_matches_oracle(burst_events, cut_trail):
    found = denoise(burst_events, "stc", cut_trail=cut_trail).signal
    wanted = bursts.second_of_burst(burst_events, 10_000, cut_trail)
    assert 0 < found.sum() < len(burst_events)
    np.testing.assert_array_equal(found, wanted)


def test_trail_matches_oracle(burst_events):
    found = denoise(burst_events, "trail").signal
    assert 0 < found.sum() < len(burst_events)
    np.testing.assert_array_equal(found, bursts.first_of_burst(burst_events, 10_000))


@pytest.mark.parametrize("cell_px", [1, 4, 50])
def test_fastdecay_matches_oracle(burst_events, cell_px):
    found = denoise(burst_events, "fastdecay", cell_px=cell_px)
    wanted = fastdecay.fast_decay(burst_events, cell_px, 10_000)
    np.testing.assert_allclose(found.score, wanted, rtol=1e-5)
    np.testing.assert_array_equal(found.signal, found.score > 6.0)


# Hashes overflow by design; numpy warns about it if the kernel is not compiled.
@pytest.mark.filterwarnings("ignore:overflow encountered in scalar")
@pytest.mark.parametrize("preset", [None, "jaer"])
@pytest.mark.parametrize("window_events", [1, 300, 1000])
def test_hashheat_matches_oracle(burst_events, preset, window_events):
    config = HashHeat(**{
        **(HashHeat.presets[preset] if preset else {}),
        "window_events": window_events, "threshold": 6, "cold_threshold": 2, "warm_event": 400,
        # Counters are halved after every window: few of them for windows of one event.
        **({"counters": 64} if window_events == 1 else {}),
    })  # fmt: skip
    found = config.start(burst_events.resolution).label(burst_events)
    rule = (config.window_events, config.clear, config.warm_event, 2, 6)
    wanted = hashheat.hash_heat(burst_events, config.planes(), config.counters, *rule)
    np.testing.assert_array_equal(found.signal, wanted[0])
    np.testing.assert_array_equal(found.score, wanted[1])


@pytest.fixture
def events(make_events):
    return make_events(700, resolution=(14, 9), seed=4, duration_us=60_000)


@pytest.mark.parametrize("followed", [True, False])
def test_iets_matches_oracle(events, followed):
    found = denoise(events, "iets", followed=followed)
    surface, before, after = iets.burst_gaps(events, 30_000.0, 1)
    wanted = (before > 5_000) & ((after <= 5_000) == followed) & (surface >= 0.5)
    assert 0 < wanted.sum() < len(events)
    np.testing.assert_array_equal(found.signal, wanted)
    np.testing.assert_allclose(found.score[wanted], surface[wanted], rtol=1e-12)


@pytest.mark.parametrize("same_polarity", [True, False])
@pytest.mark.parametrize(("sweeps", "bin_us"), [(1, 2000), (3, 5000), (5, 900)])
def test_pugm_matches_oracle(events, sweeps, bin_us, same_polarity):
    settings = {"sweeps": sweeps, "data": 16.0, "same_polarity": same_polarity}
    found = denoise(events, "pugm", bin_us=bin_us, **settings)
    wanted = pugm.icm_sweep(events, bin_us, coupling=1.0, **settings)
    assert 0 < found.signal.sum() < len(events)
    np.testing.assert_allclose(found.score, wanted, atol=1e-9)


@pytest.mark.parametrize("same_pixel", [True, False])
@pytest.mark.parametrize("same_polarity", [True, False])
@pytest.mark.parametrize(("radius", "tau_us"), [(2, 5000), (3, 777), (4, 100)])
def test_dbscan_matches_oracle(events, radius, tau_us, same_pixel, same_polarity):
    settings = {"radius": radius, "tau_us": tau_us}
    settings |= {"same_pixel": same_pixel, "same_polarity": same_polarity}
    found = denoise(events, "dbscan", min_events=2, **settings)
    is_neighbor = dbscan.are_neighbors(events, **settings)
    count = dbscan.count_neighbors(is_neighbor)
    highest = dbscan.max_neighbor_count(is_neighbor, count)
    assert 0 < found.signal.sum() < len(events)
    np.testing.assert_array_equal(found.signal, highest >= 2)
    np.testing.assert_array_equal(found.score, highest + count / (count + 1.0))


def blurred(image, *factors):
    n, m = image.shape
    result = image.copy()
    blur(result, *factors, np.full((3, (n + 8) * (m + 8)), 7, np.float32))
    return result


@pytest.mark.parametrize("emlb", [True, False])
def test_blur_matches_oracle(emlb):
    image = np.random.default_rng(0).random((9, 17)).astype(np.float32)
    factors = blur_factors(0.9, emlb=emlb)
    wanted = red.blur(image, *factors)
    np.testing.assert_allclose(blurred(image, *factors), wanted, atol=2e-6)


def test_blur_is_gaussian():
    image = np.zeros((31, 31), np.float32)
    image[15, 15] = 1.0
    x = np.arange(-15, 16)
    bell = np.exp(-(x**2) / (2 * 1.5**2))
    bell /= bell.sum()
    spread = blurred(image, *blur_factors(1.5, emlb=False))
    np.testing.assert_allclose(spread, np.outer(bell, bell), atol=3e-4)


def test_red_matches_oracle(events):
    events = events[:250]
    sigma_t, sigma_px = 0.1, 1.0
    found = denoise(events, "red", period_us=1000, sigma_t=sigma_t, sigma_px=sigma_px)
    factors = blur_factors(sigma_px, emlb=False)
    wanted = red.red_labels(
        events, 1000, *time_factors(sigma_t, emlb=False),
        lambda image: red.blur(image, *factors),
    )  # fmt: skip
    np.testing.assert_allclose(found.score, wanted, atol=2e-5)


@pytest.mark.parametrize("sigma_t", [0.1, 1.0])
def test_red_state_decays_within_remembered_periods(sigma_t):
    transition, entry, output = time_factors(sigma_t, emlb=False)
    n = periods_remembered(sigma_t)
    bumps = [
        abs(output @ np.linalg.matrix_power(transition.astype(float), k) @ entry)
        for k in range(n + 1)
    ]
    assert bumps[-1] < 1e-4 * max(bumps)
