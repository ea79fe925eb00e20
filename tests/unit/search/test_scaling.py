"""Scaled motion parameters."""

import numpy as np
import pytest
from tests.unit.search.windows import RESOLUTION, models

from evcrisp.motion import motion_model
from evcrisp.search.scaling import Scaling, displacement_fields, main_directions, sensor_points
from evcrisp.simulation import DEFAULT_THETA


@models
def test_norm_of_scaled_parameters_is_rms_displacement(motion):
    model = motion_model(motion, RESOLUTION)
    scaling = Scaling.of(model, RESOLUTION, 0.02)
    x, y = sensor_points(RESOLUTION)
    rng = np.random.default_rng(0)
    for _ in range(5):
        scaled = rng.normal(size=len(model.param_names))
        scaled *= 0.1 / np.linalg.norm(scaled)
        moved = model.warp(scaling.theta(scaled), x, y, 0.02)
        still = model.warp(0.0 * scaled, x, y, 0.02)
        rms = np.sqrt(np.mean((moved[0] - still[0]) ** 2 + (moved[1] - still[1]) ** 2))
        assert rms == pytest.approx(0.1, rel=1e-2)


@models
def test_scaling_is_invertible(motion):
    scaling = Scaling.of(motion_model(motion, RESOLUTION), RESOLUTION, 0.05)
    theta = np.array(DEFAULT_THETA[motion])
    np.testing.assert_allclose(scaling.theta(scaling.scaled(theta)), theta, rtol=1e-10)


@models
def test_gradient_transforms_with_the_parameters(motion):
    scaling = Scaling.of(motion_model(motion, RESOLUTION), RESOLUTION, 0.05)
    n = len(scaling.forward)
    slope, step = np.random.default_rng(2).normal(size=(2, n))
    assert slope @ scaling.theta(step) == pytest.approx(scaling.gradient(slope) @ step)


def test_main_directions_match_each_model():
    shift = main_directions(motion_model("translation", RESOLUTION), RESOLUTION)
    np.testing.assert_allclose(shift, np.eye(2), atol=1e-6)
    counts = {
        "zoom": 1,
        "translation": 2,
        "rotation": 3,
        "similarity": 4,
        "affine": 4,
        "homography": 4,
    }
    for motion, n in counts.items():
        rows = main_directions(motion_model(motion, RESOLUTION), RESOLUTION)
        assert len(rows) == n
        np.testing.assert_allclose(rows @ rows.T, np.eye(n), atol=1e-9)


@models
def test_displacement_fields_are_those_of_small_warps(motion):
    model, step = motion_model(motion, RESOLUTION), 1e-6
    x, y = np.random.default_rng(1).uniform(0.0, 100.0, (2, 20))
    along = displacement_fields(model, x, y)
    for i in range(len(model.param_names)):
        theta = step * np.eye(len(model.param_names))[i]
        ahead, behind = (model.warp(sign * theta, x, y, 1.0) for sign in (-1, 1))
        for field, last, first in zip(along, ahead, behind, strict=True):
            np.testing.assert_allclose(field[:, i], (last - first) / (2 * step), atol=1e-3)
