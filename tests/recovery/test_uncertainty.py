"""Intervals of motions contain the truth as often as they say; good motions are reliable."""

import numpy as np
import pytest

import evcrisp
from evcrisp.core.windows import Window

QUANTILE = 1.96


def window_of(theta, length, seed, motion="translation", **settings):
    """Return a window with a history of the same length."""
    scene = evcrisp.simulate(
        theta=theta, motion=motion, duration_us=2 * length, window_us=length, seed=seed, **settings
    )
    return Window(scene.events.between(length, 2 * length), length, 2 * length)


def test_intervals_of_translations_contain_the_truth():
    rng = np.random.default_rng(11)
    sigmas, n_reliable, n_windows = [], 0, 60
    for i in range(n_windows):
        length = (10_000, 30_000, 60_000)[i % 3]
        angle, moved = rng.uniform(0.0, 2.0 * np.pi), np.exp(rng.uniform(np.log(2), np.log(20)))
        theta = moved / length * 1e6 * np.array([np.cos(angle), np.sin(angle)])
        texture = ("shapes", "rocks", "dots", "star")[i % 4]
        noise_hz = (0.5, 5.0, 20.0)[(i // 3) % 3]
        window = window_of(tuple(theta), length, i, texture=texture, noise_hz=noise_hz)
        result = evcrisp.estimate(window, motion="translation")
        n_reliable += result.reliable
        sigmas.append(np.abs(result.theta - theta) / result.std)
    sigmas = np.concatenate(sigmas)
    # 120 intervals: 90 % would have a standard deviation of 2.7 %.
    assert 0.88 < np.mean(sigmas < QUANTILE) <= 1.0
    # Intervals are not wide for safety: half of the errors exceed a quarter of a standard deviation.
    assert np.median(sigmas) > 0.25
    assert n_reliable >= 0.95 * n_windows


@pytest.mark.parametrize("method", ["cmax", "exact", "eja", "paper", "entropy", "cmax-stcf"])
def test_every_method_has_a_covariance(method):
    if method not in evcrisp.estimators.ESTIMATORS:
        pytest.skip("not a method of this version")
    window = window_of((300.0, -120.0), 30_000, 1, noise_hz=2.0)
    result = evcrisp.estimate(window, method, "translation")
    assert result.covariance.shape == (2, 2)
    np.testing.assert_allclose(result.covariance, result.covariance.T)
    assert (np.linalg.eigvalsh(result.covariance) > 0.0).all()
    assert np.all(np.abs(result.theta - (300.0, -120.0)) < 4.0 * result.std)


@pytest.mark.parametrize(
    ("motion", "theta"),
    [
        ("rotation", (0.2, -0.5, 1.5)),
        ("similarity", (120.0, -60.0, 1.0, 0.5)),
        ("zoom", (1.5,)),
    ],
)
def test_other_models_have_intervals_too(motion, theta):
    sigmas = []
    for seed in range(4):
        window = window_of(theta, 30_000, seed, motion, noise_hz=3.0)
        result = evcrisp.estimate(window, motion=motion)
        assert result.reliable
        sigmas.append(np.abs(result.theta - theta) / result.std)
    sigmas = np.concatenate(sigmas)
    assert np.mean(sigmas < QUANTILE) > 0.7
    assert sigmas.max() < 5.0


def test_more_events_are_more_certain():
    few = window_of((200.0, 100.0), 10_000, 3, noise_hz=5.0)
    many = window_of((200.0, 100.0), 60_000, 3, noise_hz=5.0)
    assert np.all(
        evcrisp.estimate(many, motion="translation").std
        < 0.5 * evcrisp.estimate(few, motion="translation").std
    )


def test_layers_have_covariances_and_true_velocities():
    from evcrisp.simulation import ObjectConfig

    sigmas = []
    for seed in range(4):
        thing = ObjectConfig(motion="translation", theta=(-260.0, 90.0), size=(0.4, 0.5))
        window = window_of((90.0, 40.0), 30_000, seed, objects=(thing,), noise_hz=3.0)
        result = evcrisp.estimate(window)
        assert result.reliable
        for layer in result.layers[:2]:
            near = min(
                ((90.0, 40.0), (-260.0, 90.0)), key=lambda v: np.hypot(*(layer.velocity - v))
            )
            assert layer.covariance.shape == (6, 6)
            sigmas.append(np.abs(layer.velocity - near) / layer.velocity_std)
    assert np.mean(np.concatenate(sigmas) < QUANTILE) > 0.8
