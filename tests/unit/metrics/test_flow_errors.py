"""Errors of velocities: known values, conventions, laws."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from evcrisp import ConfigError, EventDataError
from evcrisp.metrics import flow_errors

VECTORS = npst.arrays(
    np.float64, st.tuples(st.integers(1, 12), st.just(2)), elements=st.floats(-1e4, 1e4)
)


def test_known_values():
    # Over 0.1 s: errors of 0, 5 and 4 px; the last is below 5 % of 100 px.
    true = np.array([[10.0, 0.0], [30.0, 0.0], [1000.0, 0.0]])
    estimate = true + np.array([[0.0, 0.0], [30.0, 40.0], [0.0, 40.0]])
    errors = flow_errors(estimate, true, None, 0.1)
    assert errors.aee == pytest.approx(3.0)
    assert errors.outliers == pytest.approx(1 / 3)
    assert errors.share_above_px == {limit: pytest.approx(2 / 3) for limit in (1.0, 2.0, 3.0)}
    angles = [0.0, math.degrees(math.atan2(4, 6)), math.degrees(math.atan2(4, 100))]
    assert errors.direction_deg == pytest.approx(sum(angles) / 3)
    assert (errors.n, errors.n_directions) == (3, 3)


def test_angle_of_barron_is_that_of_three_axes():
    true, estimate = np.array([[3.0, 4.0]]), np.array([[0.0, 1.0]])
    cosine = (0 * 3 + 1 * 4 + 1) / math.sqrt((0 + 1 + 1) * (9 + 16 + 1))
    errors = flow_errors(estimate, true, None, 1.0)
    assert errors.barron_deg == pytest.approx(math.degrees(math.acos(cosine)))


def test_direction_leaves_out_short_truth_and_counts_no_motion_as_90_degrees():
    true = np.array([[0.5, 0.0], [2.0, 0.0], [0.0, 2.0], [-2.0, 0.0]])
    estimate = np.array([[0.0, 9.0], [0.0, 0.0], [0.0, 5.0], [3.0, 0.0]])
    errors = flow_errors(estimate, true, None, 1.0)
    assert errors.n_directions == 3
    assert errors.direction_deg == pytest.approx((90.0 + 0.0 + 180.0) / 3)
    every = flow_errors(estimate, true, None, 1.0, least_px=0.0)
    assert (every.n_directions, every.direction_deg) == (4, pytest.approx(90.0))
    still = flow_errors(estimate, np.zeros_like(true), None, 1.0, least_px=0.0)
    assert math.isnan(still.direction_deg)
    assert still.aee == pytest.approx(np.hypot(*estimate.T).mean())  # rest is a known truth


def test_small_angles_keep_their_digits():
    angle = 1e-9
    true, estimate = (
        np.array([[100.0, 0.0]]),
        100.0 * np.array([[math.cos(angle), math.sin(angle)]]),
    )
    errors = flow_errors(estimate, true, None, 1.0)
    assert errors.direction_deg == pytest.approx(math.degrees(angle), rel=1e-6)


def test_fields_compare_valid_pixels_with_known_truth():
    true, estimate = np.zeros((2, 3, 2)), np.ones((2, 3, 2))
    true[0, 0, 1] = np.nan
    true[0, 1] = np.inf
    valid = np.ones((2, 3), bool)
    valid[1, 2] = False
    estimate[1, 2] = np.nan
    errors = flow_errors(estimate, true, valid, 1.0)
    assert (errors.n, errors.aee) == (3, pytest.approx(math.sqrt(2)))


def test_limits_can_be_chosen():
    errors = flow_errors([[2.0, 0.0], [4.0, 0.0]], np.zeros((2, 2)), None, 1.0, limits_px=(2, 3.5))
    assert errors.share_above_px == {2.0: 0.5, 3.5: 0.5}


def test_nothing_to_compare_is_nan():
    errors = flow_errors(np.zeros((4, 2)), np.full((4, 2), np.nan), None, 1.0)
    values = (errors.aee, errors.direction_deg, errors.barron_deg, errors.outliers)
    assert all(map(math.isnan, (*values, *errors.share_above_px.values())))
    assert errors.n == errors.n_directions == 0


@given(true=VECTORS, turn=st.floats(0, 6.28), factor=st.floats(0.1, 10))
def test_errors_do_not_depend_on_axes_or_on_the_unit_of_time(true, turn, factor):
    estimate = true[::-1] + 3.0
    matrix = [[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]]
    plain = flow_errors(estimate, true, None, 0.03)
    turned = flow_errors(estimate @ matrix, true @ matrix, None, 0.03)
    assert turned.aee == pytest.approx(plain.aee, abs=1e-9)
    assert turned.barron_deg == pytest.approx(plain.barron_deg, abs=1e-6)
    # Half the speed over twice the time is the same displacement.
    slower = flow_errors(estimate / factor, true / factor, None, 0.03 * factor)
    assert slower.aee == pytest.approx(plain.aee, abs=1e-9)
    assert slower.barron_deg == pytest.approx(plain.barron_deg, abs=1e-6)


@given(true=VECTORS)
def test_truth_has_no_error(true):
    errors = flow_errors(true, true, None, 0.05)
    assert (errors.aee, errors.outliers, errors.barron_deg) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.ones((2, 3)), np.ones((2, 3)), None), r"one shape \(..., 2\); got \(2, 3\)"),
        ((np.ones(2), np.ones(2), None), r"one shape \(..., 2\)"),
        ((np.ones((3, 2)), np.ones((4, 2)), None), r"got \(3, 2\), \(4, 2\)"),
        ((np.ones((3, 2)), np.ones((3, 2)), np.ones(3)), "`valid` must be bool of shape"),
        ((np.ones((3, 2)), np.ones((3, 2)), np.ones(2, bool)), "`valid` must be bool of shape"),
        (
            (np.full((3, 2), np.nan), np.ones((3, 2)), [True, False, False]),
            "finite where it is compared; 1 of 1 are not. .*leave them out of `valid`",
        ),
    ],
)
def test_wrong_arrays_raise(arguments, message):
    with pytest.raises(EventDataError, match=message):
        flow_errors(*arguments, 1.0)


@pytest.mark.parametrize("duration_s", [0.0, -1.0, np.nan])
def test_duration_must_be_positive(duration_s):
    with pytest.raises(ConfigError, match="`duration_s` must be a positive number"):
        flow_errors(np.ones((3, 2)), np.ones((3, 2)), None, duration_s)
