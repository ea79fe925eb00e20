"""Velocity fields and the paths of points in them, against closed forms."""

import numpy as np
import pytest

from evcrisp.core.errors import ConfigError, UnknownNameError
from evcrisp.simulation import FIELDS, Forward, Parallax, Shear, Vortex, simulate
from evcrisp.simulation.field_path import FieldPath
from evcrisp.simulation.fields import VelocityField, as_field

SIZE = (346, 260)
MIDDLE = (172.5, 129.5)


def at(field, x, y, size=SIZE):
    vx, vy = field.velocity(np.array([float(x)]), np.array([float(y)]), size)
    return float(vx[0]), float(vy[0])


def path_of(field, duration_us=100_000):
    return FieldPath.build(field, SIZE, duration_us)


def test_forward_field_is_that_of_a_pinhole_camera():
    field = Forward(speed_m_s=10.0, wall_m=2.0, floor_m=1.5, ceiling_m=4.0, end_m=50.0)
    focal = 0.5 * 346 / np.tan(np.deg2rad(30))
    # 100 px right of the middle: the wall at 2 m is at depth 2 f / 100.
    depth = 2.0 * focal / 100
    assert at(field, 272.5, 129.5) == pytest.approx((100 * 10 / depth, 0.0))
    # 60 px below: the floor; 60 px above: the ceiling, farther away.
    assert at(field, 172.5, 189.5) == pytest.approx((0.0, 60 * 10 / (1.5 * focal / 60)))
    assert at(field, 172.5, 69.5) == pytest.approx((0.0, -60 * 10 / (4.0 * focal / 60)))
    # Next to the focus of expansion: the end.
    assert at(field, 173.5, 129.5) == pytest.approx((10 / 50, 0.0))


def test_forward_field_without_walls_is_a_ground_plane():
    field = Forward(speed_m_s=5.0, wall_m=None, ceiling_m=None, end_m=1000.0, foe=(0.5, 0.3))
    focal = 0.5 * 346 / np.tan(np.deg2rad(30))
    y = 0.3 * 260 - 0.5
    depth = 1.5 * focal / 100
    assert at(field, 10.0, y + 100) == pytest.approx(((10 - 172.5) * 5 / depth, 100 * 5 / depth))
    assert np.hypot(*at(field, 10.0, y - 50)) < 1.0


def test_parallax_is_fastest_in_the_middle_and_slowest_at_both_sides():
    field = Parallax(velocity_px_s=(300.0, 400.0), depth_ratio=4.0)
    assert at(field, *MIDDLE) == pytest.approx((300.0, 400.0))
    # The side lies across the motion: half of the projected size of the view away.
    half = 0.5 * (346 * 0.8 + 260 * 0.6)
    side = (MIDDLE[0] - 0.8 * half, MIDDLE[1] + 0.6 * half)
    assert at(field, *side) == pytest.approx((75.0, 100.0))


def test_vortex_turns_from_x_towards_y_with_its_peak_at_the_radius():
    field = Vortex(peak_px_s=400.0, radius=0.25)
    assert at(field, MIDDLE[0] + 65.0, MIDDLE[1]) == pytest.approx((0.0, 400.0))
    assert at(field, MIDDLE[0], MIDDLE[1] + 65.0) == pytest.approx((-400.0, 0.0))
    assert at(field, *MIDDLE) == (0.0, 0.0)
    speeds = [np.hypot(*at(field, MIDDLE[0] + r, MIDDLE[1])) for r in (55.0, 65.0, 75.0)]
    assert speeds[1] == max(speeds)


def test_shear_is_linear_across_its_direction():
    field = Shear(rate_per_s=3.0, angle_rad=np.pi / 2, drift_px_s=10.0)
    # Motion along y; "across" is then -x.
    assert at(field, MIDDLE[0] - 20.0, 77.0) == pytest.approx((0.0, 10.0 + 60.0), abs=1e-12)


def test_path_of_a_shear_is_exact():
    path = path_of(Shear(rate_per_s=3.0))
    x, y = path.move(np.array([100.0]), np.array([200.0]), 10_000.0, 70_000.0)
    assert x[0] == pytest.approx(100.0 + 3.0 * (200.0 - 129.5) * 0.06)
    assert y[0] == 200.0


def test_path_in_a_vortex_is_a_circle():
    path = path_of(Vortex(peak_px_s=400.0, radius=0.25))
    radius = np.array([10.0, 65.0, 120.0])
    x, y = path.move(MIDDLE[0] + radius, np.full(3, MIDDLE[1]), 0.0, 90_000.0)
    angle = 400.0 / 65.0 * np.exp(0.5 * (1 - (radius / 65.0) ** 2)) * 0.09
    np.testing.assert_allclose(x - MIDDLE[0], radius * np.cos(angle), atol=1e-6)
    np.testing.assert_allclose(y - MIDDLE[1], radius * np.sin(angle), atol=1e-6)


def test_path_along_a_wall_solves_its_equation():
    # dr/dt = k r^2 at a wall, hence 1/r decreases linearly.
    path = path_of(Forward(speed_m_s=10.0, wall_m=2.0, end_m=1e6))
    k = 10.0 / (2.0 * 0.5 * 346 / np.tan(np.deg2rad(30)))
    x, y = path.move(np.array([MIDDLE[0] + 120.0]), np.array([MIDDLE[1]]), 80_000.0, 0.0)
    assert x[0] - MIDDLE[0] == pytest.approx(1 / (1 / 120.0 + k * 0.08), abs=1e-6)
    assert y[0] == pytest.approx(MIDDLE[1])


def test_texels_step_by_step_are_those_of_one_move():
    path = path_of(Vortex())
    base = np.random.default_rng(1).uniform(0, 260, (50, 2))
    times = np.linspace(20_000.0, 50_000.0, 40)
    steps = np.empty((50, 40, 2))
    path.fill_texels(path.texels_at(base, times[0]), times, steps)
    np.testing.assert_allclose(steps[:, -1], path.texels_at(base, times[-1]), atol=1e-5)


@pytest.mark.parametrize("name", FIELDS)
def test_default_fields_have_moderate_speeds(name):
    assert as_field(name).name == name
    path = path_of(as_field(name))
    path.check_view(SIZE)
    assert 200 < path.peak_px_s < 1200


def test_own_field_is_accepted_and_moves_the_scene():
    class Uniform:
        name = "uniform"

        def velocity(self, x, y, resolution):
            return np.full_like(x, 250.0), np.full_like(y, -90.0)

    assert isinstance(Uniform(), VelocityField)
    settings = {"resolution": (64, 48), "duration_us": 40_000, "seed": 4, "texture": "rocks"}
    own = simulate(**settings, field=Uniform())
    plain = simulate(**settings, theta=(250.0, -90.0))
    assert len(plain.events) > 1000
    # Steps in time differ a little, hence so do a few interpolated crossings.
    assert abs(len(own.events) - len(plain.events)) < 0.01 * len(plain.events)
    np.testing.assert_allclose(own.velocity, np.tile((250.0, -90.0), (len(own.events), 1)))
    assert own.as_dict()["settings"]["field"] == {"name": "uniform"}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Forward(wall_m=0.0), "`wall_m` must be a number in 0.01"),
        (lambda: Forward(foe=(0.5,)), "`foe` must be two shares of the view"),
        (lambda: Forward(foe=(0.5, 9.0)), "`foe` must be two shares of the view, -1 to 2"),
        (lambda: Parallax(velocity_px_s=3.0), "`velocity_px_s` must be two numbers"),
        (lambda: Parallax(depth_ratio=0.5), "`depth_ratio` must be a number in 1"),
        (lambda: Vortex(radius=0.0), "`radius` must be a number in 0.01"),
        (lambda: Shear(rate_per_s=float("nan")), "`rate_per_s` must be a number in"),
        (lambda: as_field(3.0), "`field` must be forward, parallax, shear, vortex, or an object"),
        (lambda: as_field(Vortex), "`field` must be forward"),
    ],
)
def test_invalid_fields_raise(make, message):
    with pytest.raises(ConfigError, match=message):
        make()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"field": "vortex", "theta": (1.0, 2.0)}, "`theta` and `field` are two motions"),
        ({"field": "vortex", "trajectory": "sine"}, "`trajectory` must be 'constant'"),
        ({"field": "vortex", "motion": "rotation"}, "Leave `motion` 'rotation' out"),
        ({"field": "forward", "duration_us": 9_000_000}, "stretched by more than 16. Shorten"),
        ({"field": Shear(rate_per_s=1e4)}, "'shear' moves the image by .* the maximum is 20000"),
    ],
)
def test_field_that_does_not_fit_raises(settings, message):
    with pytest.raises(ConfigError, match=message):
        simulate(resolution=(346, 260), **settings)


def test_field_with_invalid_velocities_raises():
    class Broken:
        name = "broken"

        def velocity(self, x, y, resolution):
            return np.full_like(x, np.nan), y

    with pytest.raises(ConfigError, match="'broken' must have finite velocities"):
        simulate(field=Broken())


def test_unknown_field_raises():
    with pytest.raises(UnknownNameError, match="Unknown velocity field 'vortx'. Did you mean 'vor"):
        simulate(field="vortx")


def test_field_has_no_theta():
    simulation = simulate(resolution=(32, 24), duration_us=5000, field="shear")
    assert simulation.config.theta is None
    assert np.isnan(simulation.motion_truth.theta).all()
    assert "motion='shear'" in repr(simulation)
    with pytest.raises(ConfigError, match="'shear' has no theta. Use `flow`"):
        simulation.theta(0, 5000)
    with pytest.raises(ConfigError, match="which is no motion model"):
        simulation.layer_motion(0, 5000)
    with pytest.raises(ConfigError, match="has no homography"):
        simulation.paths[0].matrices(np.zeros(1))
