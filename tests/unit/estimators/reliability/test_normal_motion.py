"""The part of a motion that edges do not show is zero, or that of another motion."""

import numpy as np
import pytest
from benchmarks.quality import scenes

import evcrisp
from evcrisp.core.windows import Window
from evcrisp.estimators.layer import LayerMotion
from evcrisp.estimators.reliability.covariance import MotionCovariance
from evcrisp.estimators.reliability.normal_motion import with_normal_layer
from evcrisp.motion import Affine


def covariance_of(theta, unknown):
    """Return a covariance in which u is theta, and an axis is not seen."""
    m = theta.size
    axes = np.linalg.qr(np.column_stack((unknown, np.eye(m)[:, : m - 1])))[0]
    is_seen = np.arange(m) > 0
    return MotionCovariance(
        np.eye(m), theta, np.eye(m), np.eye(m), axes, is_seen, is_seen, 1.0, 1.0, 0.0
    )  # fmt: skip


@pytest.mark.parametrize("m", [2, 6])
def test_a_layer_does_not_move_along_its_edges(m):
    theta = np.zeros(6)
    theta[:m] = np.random.default_rng(m).normal(0.0, 10.0, m)
    unknown = np.random.default_rng(9).normal(size=m)
    unknown /= np.linalg.norm(unknown)
    part = LayerMotion(motion=Affine((50.0, 40.0)), theta=theta)
    found = covariance_of(theta[:m], unknown)
    moved = with_normal_layer(part, found, None).theta
    assert moved[:m] @ unknown == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(moved[:m], theta[:m] - (theta[:m] @ unknown) * unknown, atol=1e-9)
    np.testing.assert_array_equal(moved[m:], theta[m:])


def test_along_its_edges_a_layer_moves_as_the_largest_layer_does():
    theta, unknown = np.array([3.0, 8.0, 0, 0, 0, 0]), np.array([0.0, 1.0])
    part = LayerMotion(motion=Affine((50.0, 40.0)), theta=theta)
    # At (50, 40) this motion is (5, 7) + (0, 2).
    largest = LayerMotion(motion=Affine((30.0, 40.0)), theta=np.array([5.0, 7.0, 0, 0, 0.1, 0]))
    moved = with_normal_layer(part, covariance_of(theta[:2], unknown), largest)
    np.testing.assert_allclose(moved.theta[:2], (3.0, 9.0), atol=1e-6)


# Stripes seen by a camera that turns and moves, or zooms: several layers, all along edges.
@pytest.mark.parametrize("number", [5, 10])
def test_layers_of_stripes_do_not_slide(number):
    settings = {**scenes.scene_settings(number), "seed": 500 + number}
    scene = evcrisp.simulate(**settings, noise_hz=5.0)
    window = Window(scene.events.with_signal(None), 0, scenes.DURATION_US)
    result = evcrisp.estimate(window)
    chosen = np.asarray(scene.events.signal) & result.signal
    error = np.hypot(*(result.velocity - scene.velocity)[chosen].T)
    assert "aperture" in [doubt.code for doubt in result.doubts]
    # With motions along the stripes it was 0.68 and 1.47.
    assert error.mean() < 0.55 * np.hypot(*scene.velocity[chosen].T).mean()
    x, y = result.align(window.events, window.t_ref)
    np.testing.assert_allclose(result.aligned_x, x, atol=1e-3)
    np.testing.assert_allclose(result.aligned_y, y, atol=1e-3)
