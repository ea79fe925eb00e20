import numpy as np
import pytest

from evcrisp.core.camera import Camera
from evcrisp.core.errors import ConfigError, UnknownNameError
from evcrisp.motion import MOTION_MODELS, Homography, Rotation, Similarity, motion_model
from evcrisp.motion.matrix import apply
from evcrisp.simulation import DEFAULT_THETA

RESOLUTION = (346, 260)
CAMERA = Camera(250.0, 245.0, 170.0, 133.0)
#: Mild distortion, invertible over the whole sensor.
BENT = Camera(250.0, 245.0, 170.0, 133.0, (-0.2, 0.05, 1e-3, -1e-3, 0.0))


@pytest.fixture(params=list(MOTION_MODELS))
def model(request):
    return motion_model(request.param, RESOLUTION, CAMERA)


@pytest.fixture
def points():
    rng = np.random.default_rng(5)
    n = 200
    return rng.uniform(0, 345, n), rng.uniform(0, 259, n), rng.uniform(-0.05, 0.05, n)


def test_no_motion_moves_nothing(model, points):
    x, y, dt = points
    warped = model.warp(np.zeros(len(model.param_names)), x, y, dt)
    np.testing.assert_allclose(warped, (x, y), atol=1e-11)


def test_no_time_moves_nothing(model, points):
    x, y, _ = points
    np.testing.assert_allclose(model.warp(DEFAULT_THETA[model.name], x, y, 0.0), (x, y), atol=1e-11)


def test_the_inverse_undoes_the_warp_both_ways(model, points):
    x, y, dt = points
    theta = DEFAULT_THETA[model.name]
    np.testing.assert_allclose(
        model.inverse(theta, *model.warp(theta, x, y, dt), dt), (x, y), atol=1e-9
    )
    np.testing.assert_allclose(
        model.warp(theta, *model.inverse(theta, x, y, dt), dt), (x, y), atol=1e-9
    )


def test_the_matrix_is_the_warp(model, points):
    x, y, dt = points
    theta = DEFAULT_THETA[model.name]
    matrix = model.matrix(theta, dt)
    assert matrix.shape == (*dt.shape, 3, 3)
    np.testing.assert_allclose(apply(matrix, x, y), model.warp(theta, x, y, dt), atol=1e-9)
    assert model.matrix(theta, 0.01).shape == (3, 3)


def test_a_theta_for_each_event_is_the_same_as_one_by_one(model, points):
    x, y, dt = points
    rng = np.random.default_rng(6)
    theta = np.array(DEFAULT_THETA[model.name])[:, None] * rng.uniform(0.5, 1.5, (1, dt.size))
    together = model.warp(theta, x, y, dt)
    single = [model.warp(theta[:, k], x[k], y[k], dt[k]) for k in range(dt.size)]
    np.testing.assert_allclose(np.transpose(together), single, atol=1e-10)
    np.testing.assert_allclose(apply(model.matrix(theta, dt), x, y), together, atol=1e-9)


def test_names_and_units_belong_together(model):
    assert MOTION_MODELS[model.name] is type(model)
    assert len(model.param_units) == len(model.param_names) == len(DEFAULT_THETA[model.name])


def test_integer_pixels_are_as_good_as_floats(model, points):
    x, y, dt = points
    x, y = x.astype(np.uint16), y.astype(np.uint16)
    theta = DEFAULT_THETA[model.name]
    np.testing.assert_array_equal(
        model.warp(theta, x, y, dt), model.warp(theta, x.astype(float), y.astype(float), dt)
    )


@pytest.mark.parametrize(
    ("name", "theta"),
    [
        ("translation", (120.0, -70.0)),
        ("similarity", (120.0, -70.0, 0.0, 0.0)),
        ("affine", (120.0, -70.0, 0.0, 0.0, 0.0, 0.0)),
        ("homography", (0.0, 0.0, 120.0 / 173, 0.0, 0.0, -70.0 / 173, 0.0, 0.0)),
    ],
)
def test_every_larger_model_contains_translation(name, theta, points):
    x, y, dt = points
    warped = motion_model(name, RESOLUTION).warp(theta, x, y, dt)
    np.testing.assert_allclose(warped, (x - 120.0 * dt, y + 70.0 * dt), atol=1e-9)


def test_rigid_is_a_similarity_without_growth(points):
    x, y, dt = points
    rigid, similarity = (motion_model(name, RESOLUTION) for name in ("rigid", "similarity"))
    theta, whole = (40.0, -25.0, 1.7), (40.0, -25.0, 1.7, 0.0)
    for name in ("warp", "inverse"):
        found, wanted = (
            getattr(model, name)(values, x, y, dt)
            for model, values in ((rigid, theta), (similarity, whole))
        )
        np.testing.assert_allclose(found, wanted, atol=1e-12)
    np.testing.assert_allclose(rigid.angular_velocity(theta), (0.0, 0.0, -1.7))


def test_zoom_is_the_growth_of_similarity(points):
    x, y, dt = points
    zoom = motion_model("zoom", RESOLUTION).warp((1.3,), x, y, dt)
    similarity = motion_model("similarity", RESOLUTION).warp((0, 0, 0, 1.3), x, y, dt)
    np.testing.assert_allclose(zoom, similarity, atol=1e-12)


def test_rolling_the_camera_rotates_the_image_the_other_way(points):
    x, y, dt = points
    camera = Camera(200.0, 200.0, 172.5, 129.5)
    roll = Rotation(camera).warp((0.0, 0.0, 2.0), x, y, dt)
    turn = Similarity((172.5, 129.5)).warp((0.0, 0.0, -2.0, 0.0), x, y, dt)
    np.testing.assert_allclose(roll, turn, atol=1e-9)


def test_rotation_moves_the_image_by_the_known_flow():
    # The flow of a turning camera, written out for u = x - cx, v = y - cy.
    rng = np.random.default_rng(8)
    u, v = rng.uniform(-150, 150, 50), rng.uniform(-120, 120, 50)
    wx, wy, wz = 0.7, -1.1, 0.4
    fx, fy = CAMERA.fx, CAMERA.fy
    flow_x = u * v / fy * wx - (fx + u * u / fx) * wy + fx / fy * v * wz
    flow_y = (fy + v * v / fy) * wx - u * v / fx * wy - fy / fx * u * wz
    dt = 1e-6
    x, y = u + CAMERA.cx, v + CAMERA.cy
    x_new, y_new = Rotation(CAMERA).warp((wx, wy, wz), x, y, dt)
    np.testing.assert_allclose((x_new - x) / dt, -flow_x, rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose((y_new - y) / dt, -flow_y, rtol=1e-4, atol=1e-3)


def test_a_large_rotation_is_a_rotation_and_not_its_first_order():
    camera = Camera(100.0, 100.0, 0.0, 0.0)
    x, y = Rotation(camera).warp((0.0, np.pi / 3, 0.0), 0.0, 0.0, 1.0)
    np.testing.assert_allclose((x, y), (100.0 * np.tan(np.pi / 3), 0.0), atol=1e-9)


def test_rotation_undistorts_where_the_lens_is_distorted(points):
    x, y, dt = points
    model = Rotation(BENT)
    np.testing.assert_allclose(model.warp((0, 0, 0), x, y, dt), BENT.undistort(x, y), atol=1e-9)
    theta = DEFAULT_THETA["rotation"]
    ideal = model.warp(theta, x, y, dt)
    np.testing.assert_allclose(model.inverse(theta, *ideal, dt), (x, y), atol=1e-6)
    np.testing.assert_allclose(
        apply(model.matrix(theta, dt), *BENT.undistort(x, y)), ideal, atol=1e-9
    )


def test_an_unknown_model_is_named_with_the_known_ones():
    with pytest.raises(UnknownNameError, match="Did you mean 'translation'"):
        motion_model("translations", RESOLUTION)


def test_a_homography_needs_a_scale():
    with pytest.raises(ConfigError, match="`scale` must be a positive number"):
        Homography((0.0, 0.0), 0.0)
