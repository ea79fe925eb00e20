"""Collapse penalty and change of area."""

import numpy as np
import pytest
from tests.unit.search.windows import RESOLUTION

from evcrisp.motion import motion_model
from evcrisp.search.collapse_penalty import CollapsePenalty, log_area_change


def test_penalty_is_zero_within_bound_and_gradient_matches_differences():
    penalty = CollapsePenalty.of(motion_model("affine", RESOLUTION), RESOLUTION, 0.2)
    assert penalty.value_and_gradient(np.zeros(6))[0] == 0.0
    scaled = np.array([1.0, 2.0, 9.0, -3.0, 4.0, 5.0])
    value, gradient = penalty.value_and_gradient(scaled)
    assert value > 0.0
    numeric = [
        (penalty.value_and_gradient(scaled + s)[0] - penalty.value_and_gradient(scaled - s)[0])
        / 2e-6
        for s in 1e-6 * np.eye(6)
    ]
    np.testing.assert_allclose(gradient, numeric, rtol=1e-5)


def test_translation_has_no_penalty():
    penalty = CollapsePenalty.of(motion_model("translation", RESOLUTION), RESOLUTION)
    assert penalty.value_and_gradient(np.array([500.0, -900.0]))[0] == 0.0


@pytest.mark.parametrize("rate", [-3.0, 0.5, 4.0])
def test_area_change_of_zoom_is_twice_its_rate(rate):
    model = motion_model("zoom", RESOLUTION)
    change = log_area_change(model, np.array([rate]), RESOLUTION, 0.05)
    assert change == pytest.approx(2.0 * abs(rate) * 0.05)


def test_area_change_of_folding_homography_is_infinite():
    model = motion_model("homography", RESOLUTION)
    theta = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 100.0, 0.0])
    assert log_area_change(model, theta, RESOLUTION, 0.05) == np.inf
