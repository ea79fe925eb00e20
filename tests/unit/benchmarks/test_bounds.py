"""Bounds of the scenes: plain support at true velocities, and true layers fitted alone."""

import numpy as np
import pytest
from benchmarks.quality.motion_alone import motion_alone
from benchmarks.quality.plain_support import ceiling, plain_support, velocity_of_nearest_signal

import evcrisp
from evcrisp.core.windows import Window


def window_of(x, y, t, p, resolution=(40, 30), t_end=30_000):
    events = evcrisp.Events(x=x, y=y, t=t, p=p, resolution=resolution)
    return Window(events, 0, t_end)


@pytest.fixture(scope="module")
def scene():
    simulation = evcrisp.simulate(
        theta=(300.0, -120.0), object_theta=(-250.0, 100.0), resolution=(160, 120),
        duration_us=30_000, noise_hz=5.0, seed=2,
    )  # fmt: skip
    truth = {
        "signal": np.asarray(simulation.events.signal),
        "object": simulation.object,
        "velocity": simulation.velocity,
    }
    return Window(simulation.events, 0, 30_000), truth


def test_plain_support_is_the_sum_over_all_pairs_of_other_pixels(rng):
    n = 300
    window = window_of(
        rng.integers(0, 12, n), rng.integers(0, 9, n), np.sort(rng.integers(0, 30_000, n)),
        rng.integers(0, 2, n).astype(bool),
    )  # fmt: skip
    velocity = rng.normal(0.0, 100.0, (n, 2))
    events, expected = window.events, np.zeros(n)
    dt = (events.t - 15_000) / 1e6
    x, y = events.x - velocity[:, 0] * dt, events.y - velocity[:, 1] * dt
    for i in range(n):
        for j in range(n):
            other = (events.x[i], events.y[i]) != (events.x[j], events.y[j])
            distance = np.hypot(x[i] - x[j], y[i] - y[j])
            if other and events.p[i] == events.p[j] and distance <= 3.0:
                expected[i] += np.exp(-0.5 * distance**2)
    np.testing.assert_allclose(plain_support(window, velocity), expected, rtol=1e-12)


def test_noise_moves_as_the_nearest_signal():
    window = window_of([5, 30, 6, 29], [5, 20, 5, 20], [0, 100, 200, 300], [True] * 4)
    velocity = np.array([[10.0, 0.0], [-20.0, 5.0], [np.nan] * 2, [np.nan] * 2])
    signal = np.array([True, True, False, False])
    filled = velocity_of_nearest_signal(window, signal, velocity)
    np.testing.assert_array_equal(filled, velocity[[0, 1, 0, 1]])


def test_true_velocities_label_better_than_wrong_ones(scene):
    window, truth = scene
    still = truth | {"velocity": np.where(np.isnan(truth["velocity"]), np.nan, 0.0)}
    best, worse = ceiling(window, truth), ceiling(window, still)
    assert 0.95 < best["ceiling_auc"] < 1.0
    assert best["ceiling_auc"] > worse["ceiling_auc"] + 0.02
    assert best["ceiling_object_kept"] > worse["ceiling_object_kept"]


def test_true_layers_alone_have_their_motion(scene):
    assert motion_alone(*scene)["alone_error_px"] < 0.5
