"""Every lens that does not fold the image has an inverse."""

import itertools
import math

import numpy as np
import pytest

from evcrisp import Camera, ConfigError

RESOLUTION = (320, 240)
X, Y = np.meshgrid(np.linspace(0.0, 319.0, 41), np.linspace(0.0, 239.0, 31))
K1 = np.linspace(-0.4, 0.4, 9)
K2 = np.linspace(-0.1, 0.4, 11)


def distorted_camera(fov_deg, distortion):
    ideal = Camera.ideal(RESOLUTION, fov_deg=fov_deg)
    return Camera(ideal.fx, ideal.fy, ideal.cx, ideal.cy, distortion)


def corner_radius(camera):
    return math.hypot(camera.cx / camera.fx, camera.cy / camera.fy)


def largest_radius(distortion, reach):
    """Return the largest distorted radius up to ``reach``, before the radial part falls."""
    k1, k2, _, _, k3 = distortion
    r = np.linspace(0.0, reach, 20_000)
    distorted = r * (1.0 + k1 * r**2 + k2 * r**4 + k3 * r**6)
    falls = np.flatnonzero(np.diff(distorted) <= 0.0)
    return distorted[falls[0] if falls.size else -1]


@pytest.mark.parametrize("fov_deg", [60.0, 80.0, 100.0])
def test_undistort_inverts_a_lens_where_its_radial_part_grows(fov_deg):
    n_inverted, n_raised = 0, 0
    for k1, k2 in itertools.product(K1, K2):
        camera = distorted_camera(fov_deg, (k1, k2, 0.0, 0.0, 0.0))
        corner, top = corner_radius(camera), largest_radius(camera.distortion, 10.0)
        if top >= corner:
            ideal = camera.undistort(X, Y)
            np.testing.assert_allclose(camera.distort(*ideal), (X, Y), rtol=0.0, atol=1e-6)
            radius = np.hypot(
                (ideal[0] - camera.cx) / camera.fx, (ideal[1] - camera.cy) / camera.fy
            )
            assert top >= largest_radius(camera.distortion, radius.max()) >= corner * (1.0 - 1e-4)
            n_inverted += 1
        elif top < 0.999 * corner:
            with pytest.raises(ConfigError, match="has no inverse at pixel"):
                camera.undistort(X, Y)
            n_raised += 1
    assert n_inverted >= 50
    assert n_inverted + n_raised >= 98


@pytest.mark.parametrize("tangential", [(0.01, -0.02), (-0.03, 0.03)])
@pytest.mark.parametrize("radial", [(-0.3, 0.4), (-0.37, 0.15), (0.4, -0.05), (0.0, 0.0)])
def test_undistort_inverts_tangential_distortion(radial, tangential):
    camera = distorted_camera(80.0, (*radial, *tangential, 0.01))
    np.testing.assert_allclose(camera.distort(*camera.undistort(X, Y)), (X, Y), rtol=0.0, atol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_undistort_finds_the_ray_within_the_fold_radius(seed):
    """The lens may do anything beyond the fold."""
    rng = np.random.default_rng(seed)
    k1, k2, k3 = rng.uniform(-1.0, 1.0, 3)
    camera = Camera(100.0, 100.0, 0.0, 0.0, (k1, k2, 0.0, 0.0, k3))
    r = np.linspace(0.0, 2.0, 20_001)
    growth = 1.0 + 3.0 * k1 * r**2 + 5.0 * k2 * r**4 + 7.0 * k3 * r**6
    falls = np.flatnonzero(growth <= 0.01)
    r = r[: falls[0] if falls.size else -1]
    angle = rng.uniform(0.0, 2.0 * np.pi, r.size)
    x, y = 100.0 * r * np.cos(angle), 100.0 * r * np.sin(angle)
    found = camera.undistort(*camera.distort(x, y))
    np.testing.assert_allclose(found, (x, y), rtol=0.0, atol=1e-5)
