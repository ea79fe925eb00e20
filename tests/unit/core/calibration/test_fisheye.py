"""The equidistant lens: known projections, and its inverse."""

import numpy as np
import pytest

import evcrisp
from evcrisp import Camera
from evcrisp.core.errors import ConfigError
from evcrisp.motion import Rotation

#: Coefficients of a wide lens; the first ones are of the size that Kalibr finds for event cameras.
LENSES = [(0.0, 0.0, 0.0, 0.0), (-0.048, 0.011, -0.055, 0.022), (0.1, -0.02, 0.0, 0.0)]


def camera(k):
    return Camera(180.0, 180.0, 172.5, 129.5, k, "equidistant")


def test_image_radius_is_the_angle_without_coefficients():
    """A ray at 45 degrees lies pi / 4 focal lengths from the principal point."""
    x, y = camera(LENSES[0]).distort(172.5 + 180.0, 129.5)
    np.testing.assert_allclose((x, y), (172.5 + 180.0 * np.pi / 4, 129.5))


def test_coefficients_are_those_of_kannala_and_brandt():
    k = (0.1, 0.01, -0.02, 0.003)
    slope, angle = 0.7, np.arctan(0.7)
    radius = angle + 0.1 * angle**3 + 0.01 * angle**5 - 0.02 * angle**7 + 0.003 * angle**9
    x, y = camera(k).distort(172.5 + 180.0 * slope * 0.6, 129.5 - 180.0 * slope * 0.8)
    np.testing.assert_allclose((x, y), (172.5 + 180.0 * radius * 0.6, 129.5 - 180.0 * radius * 0.8))


@pytest.mark.parametrize("k", LENSES)
def test_distort_inverts_undistort(k):
    ideal = camera(k).ideal_pixels((346, 260))
    y, x = np.mgrid[0:260, 0:346]
    back = camera(k).distort(ideal[..., 0], ideal[..., 1])
    np.testing.assert_allclose(back, (x, y), atol=1e-6)


def test_principal_point_is_fixed():
    lens = Camera(180.0, 180.0, 172.0, 129.0, LENSES[1], "equidistant")
    for change in (lens.distort, lens.undistort):
        np.testing.assert_array_equal(change(172.0, 129.0), (172.0, 129.0))


def test_view_beyond_180_degrees_has_no_inverse():
    with pytest.raises(ConfigError, match="has no inverse at pixel"):
        Camera(60.0, 60.0, 172.5, 129.5, (0.0,) * 4, "equidistant").rays((346, 260))


def test_folded_image_has_no_inverse_beyond_the_fold():
    folded = camera((-0.4, 0.0, 0.0, 0.0))
    edge = np.sqrt(1.0 / 1.2)  # where 1 - 3 * 0.4 a^2 is 0
    slopes = np.tan(edge * np.array([0.99, 1.01]))
    x, _ = folded.distort(172.5 + 180.0 * slopes, np.full(2, 129.5))
    assert np.isfinite(x[0])
    assert np.isnan(x[1])
    with pytest.raises(ConfigError, match="has no inverse"):
        folded.undistort(172.5 + 180.0 * 0.7, 129.5)


def test_lens_without_distortion_is_a_pinhole():
    assert camera(LENSES[0]).is_distorted
    plain = Rotation(camera(LENSES[1])).without_distortion().camera
    assert not plain.is_distorted
    assert (plain.fx, plain.cx) == (180.0, 172.5)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (((0.0,) * 5, "equidistant"), "must be four numbers"),
        (((0.0,) * 4, "plumb_bob"), "must be five numbers"),
        (((0.0,) * 5, "omni"), "`lens` must be one of 'plumb_bob', 'equidistant'"),
        (((0.0,) * 5, "plumb_bob", (0, 3)), "`resolution` must be"),
    ],
)
def test_invalid_lens_raises(values, message):
    from evcrisp.core.errors import EvError

    with pytest.raises(EvError, match=message):
        Camera(180.0, 180.0, 172.5, 129.5, *values)


@pytest.mark.parametrize("method", ["cmax", "auto"])
def test_rotation_is_recovered_through_a_fisheye_lens(method):
    lens = Camera(90.0, 90.0, 79.5, 59.5, (-0.05, 0.01, 0.0, 0.0), "equidistant")
    truth = (0.6, -1.1, 1.5)
    scene = evcrisp.simulate(
        motion="rotation",
        theta=truth,
        camera=lens,
        resolution=(160, 120),
        duration_us=40_000,
        seed=2,
    )
    result = evcrisp.estimate(scene.events, method, "rotation", camera=lens)
    assert np.abs(result.theta - truth).max() < 0.06
    assert (result.std < 0.2).all()
    pinhole = evcrisp.estimate(
        scene.events, method, "rotation", camera=lens.without_distortion()
    ).theta
    assert np.abs(pinhole - truth).max() > 2 * np.abs(result.theta - truth).max()
    true_flow = Rotation(lens)
    x, y = np.array([20.0, 130.0]), np.array([30.0, 100.0])
    still = true_flow.warp(truth, x, y, 0.0)
    ahead = true_flow.inverse(truth, *still, 1e-4)
    expected = (np.stack(ahead, axis=1) - np.stack((x, y), axis=1)) / 1e-4
    velocity = result.flow(everywhere=True).velocity[y.astype(int), x.astype(int)]
    np.testing.assert_allclose(velocity, expected, atol=8.0)
