"""Metrics of motion: known values and conventions."""

import math

import numpy as np
import pytest

import evcrisp
from evcrisp import EventDataError
from evcrisp.metrics import flow_warp_loss, interpolate_truth, motion_error


def test_fwl_of_two_pixels_merged_into_one():
    # Counts 1, 1 of 16 pixels against 2 of 16.
    before, after = 2 / 16 - (2 / 16) ** 2, 4 / 16 - (2 / 16) ** 2
    found = flow_warp_loss([1, 2], [1, 1], [1, 1], [1, 1], (4, 4))
    assert found == pytest.approx(after / before)


def test_fwl_counts_border_events_but_not_outside_events():
    assert flow_warp_loss([3], [3], [0], [0], (4, 4)) == pytest.approx(1.0)
    assert flow_warp_loss([3], [3], [4], [0], (4, 4)) == 0.0
    assert flow_warp_loss([3], [3], [np.nan], [0], (4, 4)) == 0.0
    # An event half a pixel outside contributes half of its votes.
    half = np.zeros(16)
    half[0] = 0.5
    one = 2.0 * half
    assert flow_warp_loss([0], [0], [-0.5], [0], (4, 4)) == pytest.approx(half.var() / one.var())


def test_fwl_of_true_motion_is_above_one():
    scene = evcrisp.simulate(
        resolution=(120, 90), theta=(400.0, 0.0), duration_us=40_000, noise_hz=0.0, seed=1
    )
    events = scene.events
    dt = (events.t - 20_000) / 1e6
    aligned = flow_warp_loss(events.x, events.y, events.x - 400.0 * dt, events.y, (120, 90))
    wrong = flow_warp_loss(events.x, events.y, events.x + 400.0 * dt, events.y, (120, 90))
    assert aligned > 1.3
    assert wrong < 1.0


def test_fwl_of_flat_image_is_nan_and_wrong_lengths_raise():
    assert math.isnan(flow_warp_loss([], [], [], [], (4, 4)))
    with pytest.raises(EventDataError, match="one length"):
        flow_warp_loss([1], [1], [1, 2], [1], (4, 4))


def test_motion_error_known_values():
    error = motion_error([[3.0, 0.0, 1.0], [0.0, 4.0, 1.0]], [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    axes = [math.sqrt(4.5), math.sqrt(8.0), 0.0]
    np.testing.assert_allclose(error.axis_rms, axes)
    np.testing.assert_allclose(error.axis_mean_abs, [1.5, 2.0, 0.0])
    np.testing.assert_allclose(error.axis_std, [1.5, 2.0, 0.0])
    assert error.mean_axis_rms == pytest.approx(sum(axes) / 3)
    assert error.pooled_rms == pytest.approx(math.sqrt(25 / 6))
    assert error.vector_rms == pytest.approx(math.sqrt(25 / 2))
    assert error.percent_of_peak == pytest.approx(100 * sum(axes) / 3)
    assert error.percent_of_range == pytest.approx(100 * math.sqrt(25 / 6))


def test_motion_error_of_empty_is_nan_and_invalid_raises():
    assert math.isnan(motion_error(np.zeros((0, 3)), np.zeros((0, 3))).vector_rms)
    assert math.isnan(motion_error([[1.0]], [[0.0]]).percent_of_peak)
    with pytest.raises(EventDataError, match="one shape"):
        motion_error([1.0, 2.0], [1.0, 2.0])
    with pytest.raises(EventDataError, match="must be finite"):
        motion_error([[np.nan]], [[1.0]])


def test_interpolated_truth_is_linear_inside_and_nan_outside():
    start = 1_643_243_628_737_093  # float64 has no halves here
    truth = [[0.0, 1.0], [10.0, 1.0]]
    t = start + np.array([-1, 0, 1, 5, 10, 11])
    found = interpolate_truth(t, [start, start + 10], truth)
    np.testing.assert_array_equal(found[:, 0], [np.nan, 0.0, 1.0, 5.0, 10.0, np.nan])
    np.testing.assert_array_equal(found[:, 1], [np.nan, 1.0, 1.0, 1.0, 1.0, np.nan])
    late = interpolate_truth(t, [start, start + 10], truth, offset_us=1)
    np.testing.assert_array_equal(late[:, 0], [np.nan, np.nan, 0.0, 4.0, 9.0, 10.0])
    assert np.isnan(interpolate_truth([5], [], np.zeros((0, 3)))).all()
    with pytest.raises(EventDataError, match="one row per time"):
        interpolate_truth([5], [0, 1], [[1.0]])
    with pytest.raises(EventDataError, match="whole microseconds"):
        interpolate_truth([0.5], [0, 1], [[1.0], [2.0]])


@pytest.mark.parametrize(
    ("truth_t", "message"),
    [
        (
            [0, 20, 10],
            r"^`truth_t` must not decrease; truth_t\[2\]=10 follows 20. Sort both.*argsort",
        ),
        (
            [0.0, 0.1, 0.2],
            r"^`truth_t` must be whole microseconds; got float64. For seconds.*truth_t",
        ),
        ([[0, 1, 2]], r"^`truth_t` must have one axis; got shape \(1, 3\)"),
        (
            np.array([0, 1, 2**63], np.uint64),
            r"^`truth_t` must be below 2\*\*62 us; got 9223372036854775808",
        ),
    ],
)
def test_invalid_truth_times_raise_with_their_name(truth_t, message):
    with pytest.raises(EventDataError, match=message) as error:
        interpolate_truth([5], truth_t, np.zeros((3, 1)))
    assert "Events" not in str(error.value)
