"""Filters that look ahead or far against slow and obvious versions."""

import numpy as np
import pytest
from tests.oracles.filters import red as reference_research

from evcrisp.filters import denoise
from evcrisp.filters.density.red_factors import blur_factors, periods_remembered, time_factors
from evcrisp.kernels.filters import red


@pytest.fixture
def events(make_events):
    return make_events(700, resolution=(14, 9), seed=4, duration_us=60_000)


@pytest.mark.parametrize("followed", [True, False])
def test_inceptive_events_are_those_of_the_definition(events, followed):
    found = denoise(events, "iets", followed=followed)
    surface, before, after = reference_research.burst_gaps(events, 30_000.0, 1)
    wanted = (before > 5_000) & ((after <= 5_000) == followed) & (surface >= 0.5)
    assert 0 < wanted.sum() < len(events)
    np.testing.assert_array_equal(found.signal, wanted)
    np.testing.assert_allclose(found.score[wanted], surface[wanted], rtol=1e-12)


@pytest.mark.parametrize("same_polarity", [True, False])
@pytest.mark.parametrize(("sweeps", "bin_us"), [(1, 2000), (3, 5000), (5, 900)])
def test_sweeps_over_slices_are_sweeps_over_all_cells(events, sweeps, bin_us, same_polarity):
    settings = {"sweeps": sweeps, "data": 16.0, "same_polarity": same_polarity}
    found = denoise(events, "pugm", bin_us=bin_us, **settings)
    wanted = reference_research.icm_gain(events, bin_us, coupling=1.0, **settings)
    assert 0 < found.signal.sum() < len(events)
    np.testing.assert_allclose(found.score, wanted, atol=1e-9)


@pytest.mark.parametrize("same_pixel", [True, False])
@pytest.mark.parametrize("same_polarity", [True, False])
@pytest.mark.parametrize(("radius", "tau_us"), [(2, 5000), (3, 777), (4, 100)])
def test_crowds_are_those_of_all_pairs(events, radius, tau_us, same_pixel, same_polarity):
    settings = {"radius": radius, "tau_us": tau_us}
    settings |= {"same_pixel": same_pixel, "same_polarity": same_polarity}
    found = denoise(events, "dbscan", min_events=2, **settings)
    count, highest = reference_research.crowd(events, **settings)
    assert 0 < found.signal.sum() < len(events)
    np.testing.assert_array_equal(found.signal, highest >= 2)
    np.testing.assert_array_equal(found.score, highest + count / (count + 1.0))


def blurred(image, *factors):
    n, m = image.shape
    result = image.copy()
    red.blur(result, *factors, np.full((3, (n + 8) * (m + 8)), 7, np.float32))
    return result


@pytest.mark.parametrize("emlb", [True, False])
def test_the_blur_is_one_recursion_after_the_other(emlb):
    image = np.random.default_rng(0).random((9, 17)).astype(np.float32)
    factors = blur_factors(0.9, emlb=emlb)
    wanted = reference_research.blur(image, *factors)
    np.testing.assert_allclose(blurred(image, *factors), wanted, atol=2e-6)


def test_the_blur_is_a_gaussian():
    image = np.zeros((31, 31), np.float32)
    image[15, 15] = 1.0
    x = np.arange(-15, 16)
    bell = np.exp(-(x**2) / (2 * 1.5**2))
    bell /= bell.sum()
    spread = blurred(image, *blur_factors(1.5, emlb=False))
    np.testing.assert_allclose(spread, np.outer(bell, bell), atol=3e-4)


def test_the_density_is_the_sum_of_the_bumps_of_all_events(events):
    events = events[:250]
    sigma_t, sigma_px = 0.1, 1.0
    found = denoise(events, "red", period_us=1000, sigma_t=sigma_t, sigma_px=sigma_px)
    factors = blur_factors(sigma_px, emlb=False)
    wanted = reference_research.density(
        events, 1000, *time_factors(sigma_t, emlb=False),
        lambda image: reference_research.blur(image, *factors),
    )  # fmt: skip
    np.testing.assert_allclose(found.score, wanted, atol=2e-5)


@pytest.mark.parametrize("sigma_t", [0.1, 1.0])
def test_states_are_forgotten_only_when_nothing_is_left(sigma_t):
    transition, entry, output = time_factors(sigma_t, emlb=False)
    n = periods_remembered(sigma_t)
    bumps = [
        abs(output @ np.linalg.matrix_power(transition.astype(float), k) @ entry)
        for k in range(n + 1)
    ]
    assert bumps[-1] < 1e-4 * max(bumps)
