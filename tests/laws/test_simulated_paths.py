"""Laws of the true motion of simulated layers: paths, velocities, and the events on them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evcrisp.simulation import FIELDS, Forward, ObjectConfig, Parallax, Shear, Vortex
from evcrisp.simulation.generate import build_paths
from evcrisp.simulation.settings import build_config

RESOLUTION = (120, 90)
DURATION_US = 60_000
WINDOW_US = 20_000

#: Largest absolute value of each parameter.
LIMITS = {
    "zoom": (6.0,),
    "translation": (800.0, 800.0),
    "rotation": (3.0, 3.0, 3.0),
    "similarity": (500.0, 500.0, 8.0, 6.0),
    "affine": (500.0, 500.0, 3.0, 3.0, 3.0, 3.0),
    "homography": (2.0, 2.0, 5.0, 2.0, 2.0, 5.0, 0.5, 0.5),
}

shares = st.floats(-1.0, 1.0, allow_subnormal=False)
places = st.tuples(st.floats(0.0, 119.0), st.floats(0.0, 89.0))
#: At least one step of differences away from the ends of segments.
times = st.integers(0, 2).flatmap(
    lambda k: st.floats(k * WINDOW_US + 100.0, (k + 1) * WINDOW_US - 100.0)
)


@st.composite
def model_paths(draw, trajectories=("constant",)):
    """Draw the path of an object with its own motion model and pivot."""
    name = draw(st.sampled_from([name for name in LIMITS if name != "rotation"]))
    theta = tuple(limit * draw(shares) for limit in LIMITS[name])
    pivot = draw(st.none() | st.tuples(st.floats(0.0, 1.0), st.floats(0.0, 1.0)))
    item = ObjectConfig(motion=name, theta=theta, pivot=pivot)
    trajectory = draw(st.sampled_from(trajectories))
    return _path_of({"theta": (0.0, 0.0), "objects": (item,), "trajectory": trajectory}, 1)


@st.composite
def background_paths(draw):
    """Draw the path of a background, constant or not."""
    name = draw(st.sampled_from(list(LIMITS)))
    theta = tuple(limit * draw(shares) for limit in LIMITS[name])
    trajectory = draw(st.sampled_from(["constant", "sine"]))
    return _path_of({"motion": name, "theta": theta, "trajectory": trajectory}, 0)


@st.composite
def field_paths(draw):
    """Draw the path of a background with a velocity field."""
    fields = {
        "forward": Forward(speed_m_s=8.0 * draw(shares)),
        "parallax": Parallax(velocity_px_s=(400.0 * draw(shares), 400.0 * draw(shares))),
        "shear": Shear(rate_per_s=6.0 * draw(shares), angle_rad=3.0 * draw(shares)),
        "vortex": Vortex(peak_px_s=300.0 * draw(shares)),
    }
    assert set(fields) == set(FIELDS)
    return _path_of({"field": fields[draw(st.sampled_from(list(fields)))]}, 0)


def _path_of(changes, layer):
    base = {"resolution": RESOLUTION, "duration_us": DURATION_US, "window_us": WINDOW_US}
    return build_paths(build_config(None, {**base, **changes}))[1][layer]


paths = model_paths(("constant", "sine")) | background_paths() | field_paths()


def moved(path, place, t_from, t_to):
    x, y = (np.array([value]) for value in place)
    return np.ravel(path.move(x, y, np.array([t_from]), np.array([t_to])))


@settings(max_examples=60, deadline=None)
@given(paths, places, times)
def test_velocity_is_the_derivative_of_the_path(path, place, t):
    step = 20.0
    later, earlier = moved(path, place, t, t + step), moved(path, place, t, t - step)
    expected = (later - earlier) / (2e-6 * step)
    x, y = (np.array([value]) for value in place)
    found = np.ravel(path.velocity(x, y, np.array([t])))
    # Segments of a varying theta are 1 ms long: a difference may span two of them.
    is_varying = len(getattr(path, "thetas", ())) > DURATION_US // WINDOW_US
    tolerance = 8.0 if is_varying else 1e-2
    np.testing.assert_allclose(found, expected, atol=tolerance, rtol=1e-4)


@settings(max_examples=60, deadline=None)
@given(paths, places, times, times)
def test_motion_back_and_forth_is_none(path, place, t_from, t_to):
    there = moved(path, place, t_from, t_to)
    np.testing.assert_allclose(moved(path, there, t_to, t_from), place, atol=1e-4)


@settings(max_examples=60, deadline=None)
@given(paths, places, times, times, times)
def test_two_motions_in_turn_are_one(path, place, first, second, third):
    in_turn = moved(path, moved(path, place, first, second), second, third)
    np.testing.assert_allclose(in_turn, moved(path, place, first, third), atol=1e-4)


@settings(max_examples=40, deadline=None)
@given(field_paths(), places, st.floats(0.0, 20_000.0))
def test_motion_in_a_field_depends_on_the_duration_only(path, place, duration):
    early = moved(path, place, 0.0, duration)
    late = moved(path, place, 30_000.0, 30_000.0 + duration)
    np.testing.assert_allclose(early, late, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(model_paths(), st.integers(0, 2))
def test_model_of_a_window_has_the_true_motion(path, k):
    t_us = np.linspace(k * WINDOW_US, (k + 1) * WINDOW_US, 7)
    middle = (k + 0.5) * WINDOW_US
    x, y = np.linspace(0.0, 119.0, 7), np.linspace(80.0, 3.0, 7)
    model = path.model_at(middle)
    theta = path.mean_theta(k * WINDOW_US, (k + 1) * WINDOW_US)
    # The end of a window belongs to the next segment; the path is continuous there.
    warped = model.warp(theta, x, y, (t_us - middle) * 1e-6)
    np.testing.assert_allclose(warped, path.move(x, y, t_us, np.full(7, middle)), atol=1e-6)


@pytest.mark.parametrize("name", FIELDS)
def test_points_outside_of_the_view_have_finite_velocities(name):
    path = _path_of({"field": name}, 0)
    x, y = np.meshgrid(np.linspace(-60.0, 180.0, 9), np.linspace(-45.0, 135.0, 9))
    assert np.isfinite(path.velocity(x, y, np.zeros_like(x))).all()
