"""The compiled warps and their Jacobians against the models that they are compiled from."""

import numpy as np
import pytest

from evcrisp.core.camera import Camera
from evcrisp.core.errors import ConfigError, EventDataError
from evcrisp.motion import MOTION_MODELS, Rotation, motion_model, prepare
from evcrisp.motion.rotation import _undistortion_table
from evcrisp.simulation import DEFAULT_THETA

RESOLUTION = (346, 260)
CAMERA = Camera(250.0, 245.0, 170.0, 133.0)
BENT = Camera(250.0, 245.0, 170.0, 133.0, (-0.2, 0.05, 1e-3, -1e-3, 0.0))

MODELS = {name: motion_model(name, RESOLUTION, CAMERA) for name in MOTION_MODELS}
MODELS["bent rotation"] = Rotation(BENT)

#: Motions from none to far more than a window ever shows.
FACTORS = [0.0, 1e-9, 1.0, -3.0]


@pytest.fixture(params=list(MODELS))
def model(request):
    return MODELS[request.param]


@pytest.fixture
def points():
    rng = np.random.default_rng(5)
    n = 150
    x, y = rng.integers(0, 346, n).astype(float), rng.integers(0, 260, n).astype(float)
    dt = rng.uniform(-0.05, 0.05, n)
    dt[:3] = 0.0
    return x, y, dt


def jacobian(prepared, theta, step):
    """Return d x' / d theta and d y' / d theta by central differences, shape (m, 2, n)."""
    rows = []
    for direction in np.eye(theta.size):
        ahead = np.stack(prepared.warp(theta + step * direction))
        behind = np.stack(prepared.warp(theta - step * direction))
        rows.append((ahead - behind) / (2.0 * step))
    return np.stack(rows)


@pytest.mark.parametrize("factor", FACTORS)
def test_warping_is_that_of_the_model(model, points, factor):
    theta = factor * np.array(DEFAULT_THETA[model.name])
    prepared = prepare(model, *points)
    assert len(prepared) == 150
    np.testing.assert_allclose(prepared.warp(theta), model.warp(theta, *points), atol=1e-9)


@pytest.mark.parametrize("factor", FACTORS)
def test_pulling_is_the_transposed_jacobian(model, points, factor):
    theta = factor * np.array(DEFAULT_THETA[model.name])
    prepared = prepare(model, *points)
    rng = np.random.default_rng(6)
    slope_x, slope_y = rng.normal(size=150), rng.normal(size=150)
    found = prepared.pull_back(theta, slope_x, slope_y)
    assert found.shape == theta.shape
    step = 1e-4 * (1.0 + np.abs(theta).max()) if model.name == "translation" else 1e-4
    rows = jacobian(prepared, theta, step)
    expected = rows[:, 0] @ slope_x + rows[:, 1] @ slope_y
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(rows).max())


def test_the_jacobian_of_every_event_is_right(model, points):
    theta = np.array(DEFAULT_THETA[model.name])
    prepared = prepare(model, *points)
    rows = jacobian(prepared, theta, 1e-4)
    zero, one = np.zeros(1), np.ones(1)
    for k in range(0, 150, 15):
        alone = prepared.subset(slice(k, k + 1))
        found = np.stack(
            (alone.pull_back(theta, one, zero), alone.pull_back(theta, zero, one)), axis=1
        )
        np.testing.assert_allclose(found, rows[:, :, k], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("angle", [1e-7, 0.5e-4, 0.99e-4, 1.01e-4, 1e-3, 0.1, 0.8, 1.3])
@pytest.mark.parametrize(
    "axis", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.4, -0.6, 0.7)]
)
def test_a_rotation_by_any_angle_has_its_exact_jacobian(angle, axis):
    # Rays near the middle, which stay in front of the camera at these angles.
    rng = np.random.default_rng(7)
    x, y = 170.0 + rng.uniform(-20, 20, 40), 133.0 + rng.uniform(-20, 20, 40)
    dt = np.where(rng.uniform(size=40) < 0.5, -1.0, 1.0) * rng.uniform(0.5, 1.0, 40)
    prepared = prepare(Rotation(CAMERA), x, y, dt)
    theta = angle * np.array(axis) / np.linalg.norm(axis)
    slope_x, slope_y = rng.normal(size=40), rng.normal(size=40)
    np.testing.assert_allclose(
        prepared.warp(theta), Rotation(CAMERA).warp(theta, x, y, dt), rtol=1e-10, atol=1e-9
    )
    rows = jacobian(prepared, theta, 1e-6)
    expected = rows[:, 0] @ slope_x + rows[:, 1] @ slope_y
    found = prepared.pull_back(theta, slope_x, slope_y)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7 * np.abs(rows).max())


@pytest.mark.parametrize("turn", [0.9, 1.1, -1.4, 3.0])
@pytest.mark.parametrize("growth", [0.0, 0.95, -1.2])
def test_a_similarity_by_any_angle_and_growth_has_its_exact_jacobian(turn, growth):
    rng = np.random.default_rng(8)
    x, y = rng.uniform(0.0, 345.0, 40), rng.uniform(0.0, 259.0, 40)
    dt = np.where(rng.uniform(size=40) < 0.5, -1.0, 1.0) * rng.uniform(0.5, 1.0, 40)
    model = MODELS["similarity"]
    prepared, theta = prepare(model, x, y, dt), np.array([30.0, -20.0, turn, growth])
    np.testing.assert_allclose(prepared.warp(theta), model.warp(theta, x, y, dt), rtol=1e-10)
    slope_x, slope_y = rng.normal(size=40), rng.normal(size=40)
    rows = jacobian(prepared, theta, 1e-6)
    expected = rows[:, 0] @ slope_x + rows[:, 1] @ slope_y
    found = prepared.pull_back(theta, slope_x, slope_y)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7 * np.abs(rows).max())


def test_a_full_turn_about_the_axis_of_sight_returns():
    x, y = np.array([10.0, 200.0]), np.array([20.0, 30.0])
    prepared = prepare(Rotation(CAMERA), x, y, np.ones(2))
    np.testing.assert_allclose(prepared.warp((0.0, 0.0, 2.0 * np.pi)), (x, y), atol=1e-9)


def test_a_subset_is_the_same_for_some_events(model, points):
    theta = np.array(DEFAULT_THETA[model.name])
    prepared = prepare(model, *points)
    x, y = prepared.warp(theta)
    mask = points[2] > 0.01
    for key in (slice(10, 40, 3), mask, np.flatnonzero(mask)[::-1], np.empty(0, int)):
        part = prepared.subset(key)
        assert len(part) == x[key].size
        np.testing.assert_array_equal(part.warp(theta), (x[key], y[key]))


def test_a_mask_of_another_length_is_an_error(model, points):
    prepared = prepare(model, *points)
    with pytest.raises(IndexError):
        prepared.subset(np.ones(149, bool))


def test_the_positions_can_go_into_given_arrays(model, points):
    theta = np.array(DEFAULT_THETA[model.name])
    prepared = prepare(model, *points)
    for dtype in (np.float64, np.float32):
        out = np.full((2, 150), np.nan, dtype)
        prepared.fill(theta, *out)
        np.testing.assert_array_equal(out, np.array(prepared.warp(theta), dtype))


def test_no_events_have_no_gradient(model):
    none = np.empty(0)
    prepared = prepare(model, none, none, none)
    m = len(model.param_names)
    assert [part.shape for part in prepared.warp(np.zeros(m))] == [(0,), (0,)]
    np.testing.assert_array_equal(prepared.pull_back(np.zeros(m), none, none), np.zeros(m))


def test_events_of_any_layout_are_taken(points):
    x, y, dt = points
    model = MODELS["affine"]
    theta = np.array(DEFAULT_THETA["affine"])
    wide = np.stack((x, y, dt), axis=1)
    prepared = prepare(model, *wide.T)
    np.testing.assert_array_equal(prepared.warp(theta), prepare(model, x, y, dt).warp(theta))


def test_a_wrong_number_of_parameters_is_named(model, points):
    prepared = prepare(model, *points)
    m = len(model.param_names)
    with pytest.raises(ConfigError, match=rf"must be {m} numbers .*got shape \({m + 1},\)"):
        prepared.warp(np.zeros(m + 1))
    with pytest.raises(ConfigError, match=r"got shape \(\)"):
        prepared.pull_back(1.0, np.zeros(150), np.zeros(150))


@pytest.mark.parametrize(
    ("model", "theta"),
    [("homography", (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0)), ("rotation", (0.0, np.pi / 2, 0.0))],
)
def test_a_point_that_goes_to_infinity_is_no_exception(model, theta):
    # Homography: depth exactly 0 at the right edge after 1 s.
    prepared = prepare(MODELS[model], np.array([345.5]), np.array([129.5]), np.ones(1))
    with np.errstate(all="ignore"):
        x, y = prepared.warp(theta)
        prepared.pull_back(theta, np.ones(1), np.ones(1))
    assert x.shape == y.shape == (1,)


@pytest.mark.parametrize(
    ("name", "theta"),
    [("rotation", (0.0, 100.0, 0.0)), ("homography", (0, 0, 0, 0, 0, 0, 60.0, 0))],
)
def test_what_comes_to_lie_behind_the_camera_has_no_place(name, theta):
    model = motion_model(name, (240, 180))
    x, y, dt = np.array([119.5, 230.0, 119.5]), np.full(3, 89.5), np.array([0.0, 0.03, 0.001])
    places = np.array(prepare(model, x, y, dt).warp(theta))
    assert np.isfinite(places[:, [0, 2]]).all()
    assert not np.isfinite(places[:, 1]).any()
    np.testing.assert_allclose(places, model.warp(theta, x, y, dt))
    slopes = np.array([1.0, 0.0, 1.0])  # off the map there is no slope
    assert np.isfinite(prepare(model, x, y, dt).pull_back(theta, slopes, slopes)).all()


def test_columns_of_different_lengths_are_refused(model, points):
    x, y, dt = points
    with pytest.raises(EventDataError, match="one axis and one length"):
        prepare(model, x, y[:3], dt)
    prepared = prepare(model, x, y, dt)
    theta = np.zeros(len(model.param_names))
    with pytest.raises(EventDataError, match="one axis and one length"):
        prepared.pull_back(theta, x, y[:3])
    with pytest.raises(EventDataError, match="one axis and one length"):
        prepared.fill(theta, np.empty(3), np.empty(3))


def test_a_lens_is_looked_up_once_per_sensor():
    _undistortion_table.cache_clear()
    rng = np.random.default_rng(0)
    for _ in range(5):
        x, y = rng.integers(0, 300, 40).astype(float), rng.integers(0, 200, 40).astype(float)
        prepared = prepare(Rotation(BENT), x, y, np.zeros(40), RESOLUTION)
        np.testing.assert_allclose(prepared.warp(np.zeros(3)), BENT.undistort(x, y), atol=1e-6)
    assert _undistortion_table.cache_info().misses == 1
