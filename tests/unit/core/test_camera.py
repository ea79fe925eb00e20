import numpy as np
import pytest

from evcrisp import estimate, simulate
from evcrisp.core.camera import Camera, warn_of_mismatch
from evcrisp.core.errors import ConfigError, EventDataError

#: calib.txt of the Event Camera Dataset, 240 x 180.
ECD = (
    "199.092366542 198.82882047 132.192071378 110.712660011 "
    "-0.368436311798 0.150947243557 -0.000296130534385 -0.000759431726241 0.0"
)


@pytest.fixture
def ecd(tmp_path):
    path = tmp_path / "calib.txt"
    path.write_text(ECD)
    return Camera.from_file(path)


def test_from_file_reads_the_event_camera_dataset_layout(ecd):
    assert ecd.fx == 199.092366542
    assert ecd.cy == 110.712660011
    assert ecd.distortion == (
        -0.368436311798,
        0.150947243557,
        -0.000296130534385,
        -0.000759431726241,
        0.0,
    )


def test_distort_inverts_undistort(ecd):
    ideal = ecd.ideal_pixels((240, 180))
    y, x = np.mgrid[0:180, 0:240]
    back_x, back_y = ecd.distort(ideal[..., 0], ideal[..., 1])
    np.testing.assert_allclose(back_x, x, atol=1e-6)
    np.testing.assert_allclose(back_y, y, atol=1e-6)


def test_known_share_of_undistorted_pixels_leaves_the_frame(ecd):
    ideal = ecd.ideal_pixels((240, 180))
    inside = (
        (ideal[..., 0] >= 0)
        & (ideal[..., 0] <= 239)
        & (ideal[..., 1] >= 0)
        & (ideal[..., 1] <= 179)
    )
    assert 1 - inside.mean() == pytest.approx(0.235, abs=0.005)


def test_rays_are_slopes_of_the_ideal_pixels():
    camera = Camera(100.0, 50.0, 4.0, 3.0)
    rays = camera.rays((10, 8))
    assert rays.shape == (8, 10, 2)
    np.testing.assert_allclose(rays[3, 9], (0.05, 0.0))
    np.testing.assert_allclose(rays[7, 4], (0.0, 0.08))


def test_ideal_camera_has_the_field_of_view():
    camera = Camera.ideal((346, 260), fov_deg=90.0)
    left, right = camera.rays((346, 260))[0, [0, -1], 0]
    pixel = 1 / camera.fx
    np.testing.assert_allclose(
        np.arctan(right + pixel / 2) - np.arctan(left - pixel / 2), np.pi / 2
    )


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((0.0, 1.0, 0.0, 0.0), "`fx` must be a positive number"),
        ((1.0, -1.0, 0.0, 0.0), "`fy` must be a positive number"),
        ((1.0, 1.0, float("nan"), 0.0), "`cx` must be finite"),
        ((1.0, 1.0, 0.0, 0.0, (0.1, 0.2)), "must be five numbers"),
        ((1.0, 1.0, 0.0, 0.0, 0.1), "must be five numbers"),
    ],
)
def test_invalid_camera_raises(values, message):
    with pytest.raises(ConfigError, match=message):
        Camera(*values)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2 3", "must be 4 or 9 numbers.*got 3"),
        ("1 2 3 4 5 6", "got 6"),
        ("1 2 3 4 5 6 7 8 9 10 11 12", "got 12"),
        ("fx fy", "numbers, fx fy cx cy.*could not convert string to float: 'fx'"),
        ("\x00\xff", "got a file that is not text"),
        ("-1 2 3 4", "`fx` must be a positive number"),
    ],
)
def test_invalid_calibration_file_raises(tmp_path, text, message):
    path = tmp_path / "calib.txt"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(ConfigError, match=message):
        Camera.from_file(path)


def test_from_file_accepts_a_file_without_distortion(tmp_path):
    path = tmp_path / "calib.txt"
    path.write_text("10 11 12 13\n")
    assert Camera.from_file(path) == Camera(10, 11, 12, 13)


def test_from_file_ignores_comments_and_further_lines(tmp_path):
    path = tmp_path / "calib.txt"
    path.write_text("# fx fy cx cy k1 k2 p1 p2 k3\n10 11 12 13 # px\n0 0 0 0 0\n346 260\n")
    assert Camera.from_file(path) == Camera(10, 11, 12, 13)


def test_distortion_without_inverse_raises():
    camera = Camera(100.0, 100.0, 50.0, 50.0, (-2.0, 0.0, 0.0, 0.0, 0.0))
    with pytest.raises(ConfigError, match="has no inverse at pixel"):
        camera.rays((100, 100))


def test_undistort_inverts_a_lens_with_growing_radial_factor():
    """Fixed-point iteration by the radial factor does not converge for this lens."""
    camera = Camera(150.0, 150.0, 160.0, 120.0, (-0.3, 0.4, 0.0, 0.0, 0.0))
    np.testing.assert_allclose(
        camera.distort(*camera.undistort(0.0, 0.0)), 0.0, rtol=0.0, atol=1e-6
    )


@pytest.mark.parametrize("position", [(np.nan, 0.0), (np.inf, 0.0), (1e300, 1e300)])
def test_undistort_of_an_unreachable_position_raises(position):
    camera = Camera(100.0, 100.0, 50.0, 50.0, (-0.1, 0.0, 0.0, 0.0, 0.0))
    with pytest.raises(ConfigError, match="has no inverse at pixel"):
        camera.undistort(*position)


@pytest.mark.parametrize("distortion", [(0.0,) * 5, (-0.1, 0.01, 0.001, 0.002, 0.0)])
def test_distort_and_undistort_return_new_arrays_of_one_shape(distortion):
    camera = Camera(100.0, 100.0, 3.0, 2.0, distortion)
    x, y = np.arange(4.0), np.arange(3.0)[:, None]
    for found in (camera.distort(x, y), camera.undistort(x, y), camera.undistort(x, 5.0)):
        assert found[0].shape == found[1].shape
        for values in found:
            assert not np.shares_memory(values, x)
            assert not np.shares_memory(values, y)
            values += 1.0
    np.testing.assert_array_equal(x, np.arange(4.0))
    assert camera.undistort([], [])[0].shape == (0,)
    for change in (camera.distort, camera.undistort):
        with pytest.raises(EventDataError, match=r"that broadcast; got \(4,\) and \(3,\)"):
            change(x, y[:, 0])


def test_invalid_field_of_view_raises():
    with pytest.raises(ConfigError, match=r"`fov_deg` must be a number in 1..170"):
        Camera.ideal((10, 10), fov_deg=180)


@pytest.mark.parametrize("resolution", [5, (0, 5), (3.5, 2), "84", None, (1, 2, 3)])
def test_invalid_resolution_raises(resolution):
    for function in (Camera.ideal, Camera(1, 1, 0, 0).rays, Camera(1, 1, 0, 0).mismatch_warning):
        with pytest.raises(EventDataError, match=r"`resolution` must be \(width, height\)"):
            function(resolution)


def test_distortion_is_in_the_order_of_opencv():
    """Plumb-bob model: x' = x r + 2 p1 x y + p2 (r2 + 2 x2), similarly for y."""
    camera = Camera(fx=1.0, fy=1.0, cx=0.0, cy=0.0, distortion=(0.1, 0.01, 0.02, 0.03, 0.001))
    x, y = 0.3, -0.2
    r2 = x * x + y * y
    radial = 1 + 0.1 * r2 + 0.01 * r2**2 + 0.001 * r2**3
    expected_x = x * radial + 2 * 0.02 * x * y + 0.03 * (r2 + 2 * x * x)
    expected_y = y * radial + 0.02 * (r2 + 2 * y * y) + 2 * 0.03 * x * y
    np.testing.assert_allclose(camera.distort(x, y), (expected_x, expected_y), rtol=1e-14)


@pytest.mark.parametrize(
    ("cx", "cy", "warns"),
    [
        (132.2, 110.7, False),  # the Event Camera Dataset's
        (119.5 + 47.9, 89.5, False),
        (119.5 + 48.1, 89.5, True),
        (119.5, 89.5 - 36.1, True),
        (60.0, 45.0, True),  # calibrated at half the resolution
        (-5.0, 89.5, True),
    ],
)
def test_principal_point_far_from_the_middle_warns(cx, cy, warns):
    warning = Camera(200.0, 200.0, cx, cy).mismatch_warning((240, 180))
    assert (warning is not None) == warns
    if warning is not None:
        assert f"({cx:.1f}, {cy:.1f}) px is far from (119.5, 89.5)" in warning


def test_mismatch_warning_is_logged_once(caplog):
    warn_of_mismatch.cache_clear()
    camera = Camera(200.0, 200.0, 60.0, 45.0)
    scene = simulate(theta=(300.0, -120.0), duration_us=9_000, resolution=(240, 180), seed=1)
    for _ in range(3):
        estimate(scene.events, "cmax", "rotation", camera=camera)
    assert caplog.text.count("(60.0, 45.0) px is far from (119.5, 89.5)") == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"200 200 nan 90", "`cx` must be finite; got nan"),
        (b"0 200 120 90", "`fx` must be a positive number"),
        (b"\x8c\xff\x00", "got a file that is not text"),
        (b"", "got 0"),
    ],
)
def test_calibration_error_names_the_file(tmp_path, content, message):
    path = tmp_path / "calib.txt"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=f"^{path}: .*{message}"):
        Camera.from_file(path)


def test_distort_is_nan_beyond_the_fold_radius():
    camera = Camera(100.0, 100.0, 50.0, 40.0, (-0.3, 0.0, 0.0, 0.0, 0.0))
    edge = 1.0 / np.sqrt(0.9)  # where 1 - 3 * 0.3 r^2 is 0
    x, y = camera.distort(50.0 + 100.0 * edge * np.array([0.99, 1.01, 30.0]), np.full(3, 40.0))
    assert np.isfinite(x[0])
    assert np.isnan(x[1:]).all()
    assert np.isnan(y[1:]).all()


def test_camera_of_a_region_has_the_rays_of_its_pixels(ecd):
    left, top, width, height = roi = (150, 20, 60, 40)
    whole = ecd.rays((240, 180))[top : top + height, left : left + width]
    np.testing.assert_allclose(ecd.cropped(roi).rays((width, height)), whole, atol=1e-12)


def test_camera_of_a_region_may_have_its_principal_point_outside(ecd):
    cropped = ecd.cropped((150, 120, 60, 40))
    assert cropped.cx < 0
    assert cropped.mismatch_warning((60, 40)) is None
    events = simulate(resolution=(60, 40), duration_us=20_000, seed=1).events
    assert estimate(events, "cmax", "rotation", cropped).theta.shape == (3,)
    plain = Camera(cropped.fx, cropped.fy, cropped.cx, cropped.cy)
    with pytest.raises(ConfigError, match="outside the sensor"):
        estimate(events, "cmax", "rotation", plain)


@pytest.mark.parametrize("roi", [(1, 2, 3), "roi", (1, 2, 3, np.nan)])
def test_camera_of_an_impossible_region_is_refused(ecd, roi):
    with pytest.raises(ConfigError, match="`roi` must be"):
        ecd.cropped(roi)
