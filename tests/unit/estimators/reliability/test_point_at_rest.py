"""Turns about a point at rest, and bars of which only the motion across them shows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evcrisp
from evcrisp import Events, Windowing
from evcrisp.estimators.reliability.point_at_rest import about_point_at_rest, point_at_rest
from evcrisp.motion import Rigid, Similarity
from evcrisp.motion.open_motion import OpenMotion
from evcrisp.motion.velocity import velocity_of

rates = st.floats(-300.0, 300.0)
turns = st.floats(0.1, 10.0)

RESOLUTION = 240, 180


@given(rates, rates, turns, st.floats(-3.0, 3.0), st.booleans())
def test_the_field_at_the_reference_time_is_the_same(vx, vy, w, s, grows):
    model = Similarity((30.0, 20.0)) if grows else Rigid((30.0, 20.0))
    theta = np.array([vx, vy, w, s])[: len(model.param_names)]
    moved, other = point_at_rest(model, theta)
    x, y = np.array([0.0, 100.0, 50.0]), np.array([0.0, 10.0, 90.0])
    before = velocity_of(model, theta, x, y, np.zeros(3))
    np.testing.assert_allclose(velocity_of(moved, other, x, y, np.zeros(3)), before, atol=1e-3)
    assert not other[:2].any()


@given(rates, rates, turns, st.floats(-3.0, 3.0))
def test_the_field_does_not_change_with_time(vx, vy, w, s):
    moved, theta = point_at_rest(Similarity((30.0, 20.0)), np.array([vx, vy, w, s]))
    x, y = np.array([0.0, 100.0]), np.array([0.0, 10.0])
    first = velocity_of(moved, theta, x, y, np.full(2, -0.05))
    np.testing.assert_allclose(velocity_of(moved, theta, x, y, np.full(2, 0.05)), first, atol=1e-2)


def bar_on_a_pivot(pivot, rate, seed, seconds=4, length=50.0):
    """Return events of both edges of a bar that turns about one end, and their velocities."""
    rng = np.random.default_rng(seed)
    n = 600 * seconds
    t, along = np.sort(rng.uniform(0, seconds, n)), length * np.sqrt(rng.uniform(0.0, 1.0, n))
    angle, across = 0.3 + rate * t, np.where(rng.random(n) < 0.5, 1.5, -1.5)
    x = pivot[0] + along * np.cos(angle) - across * np.sin(angle)
    y = pivot[1] + along * np.sin(angle) + across * np.cos(angle)
    events = Events(
        x=np.round(x).astype(np.uint16), y=np.round(y).astype(np.uint16),
        t=np.round(1e6 * t).astype(np.int64), p=(across > 0) == (rate > 0), resolution=RESOLUTION,
    )  # fmt: skip
    return events, rate * np.column_stack((pivot[1] - y, x - pivot[0]))


@pytest.mark.parametrize(
    ("pivot", "rate", "seed"), [((120, 90), 0.21, 0), ((80, 60), -0.3, 1), ((150, 100), 0.25, 2)]
)
def test_a_bar_on_a_pivot_moves_across_itself(pivot, rate, seed):
    events, truth = bar_on_a_pivot(pivot, rate, seed)
    windowing = Windowing(window_us=1_000_000)
    errors, speeds, start = [], [], 0
    for result in evcrisp.track(events, windowing=windowing):
        true = truth[start : start + len(result)][result.signal]
        start += len(result)
        errors.append(np.hypot(*(result.velocity[result.signal] - true).T))
        speeds.append(np.hypot(*true.T))
        assert "aperture" in [doubt.code for doubt in result.doubts]
    error, speed = np.concatenate(errors), np.concatenate(speeds)
    assert error.mean() < 0.1 * speed.mean()


def test_a_motion_without_a_turn_is_left():
    events = evcrisp.simulate(theta=(300.0, -120.0), duration_us=30_000, seed=1).events
    result = evcrisp.estimate(events, motion="translation")
    assert about_point_at_rest(result) is result


def test_a_turn_about_another_point_states_that_point():
    scene = evcrisp.simulate(
        motion="similarity", theta=(150.0, -80.0, 2.0, 0.0), duration_us=30_000, seed=12
    )
    result = evcrisp.estimate(scene.events)
    x, y = result.moved_center
    assert result["vx"] == result["vy"] == 0.0
    # The velocity is zero where it turns by 2 rad/s: 75 px below and 40 px to the right of the middle.
    assert (x, y) == pytest.approx((212.5, 204.5), abs=6.0)
    assert f"about ({x:.0f}, {y:.0f}) px" in repr(result)
    assert f"({x:.0f}, {y:.0f}) px" in result._repr_html_()
    at_middle = result.parameters(OpenMotion())
    assert at_middle[:2] == pytest.approx((150.0, -80.0), abs=10.0)
    assert evcrisp.estimate(scene.events, motion="similarity").moved_center is None
