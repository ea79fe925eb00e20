"""`Estimate.flow`: the velocity of every pixel under a motion model."""

import numpy as np
import pytest

from evcrisp import Camera, Estimate, Events, Status, Window
from evcrisp.motion import MOTION_MODELS

SIZE = (40, 30)


def estimate(motion, theta, status=Status.CONVERGED, camera=None):
    model = MOTION_MODELS[motion].for_sensor(SIZE, camera)
    nothing = np.zeros(0)
    return Estimate(
        theta=np.asarray(theta, float), signal=np.zeros(0, bool), score=nothing, confidence=nothing,
        aligned_x=nothing, aligned_y=nothing, status=status, motion=model,
        window=Window(Events.empty(SIZE), 1_000, 31_000), config=None,
    )  # fmt: skip


def test_translation_is_the_same_everywhere():
    flow = estimate("translation", (300.0, -120.0)).flow(everywhere=True)
    assert (flow.t_start, flow.t_end, flow.resolution) == (1_000, 31_000, SIZE)
    assert flow.valid.all()
    np.testing.assert_allclose(flow.velocity, np.full((30, 40, 2), (300.0, -120.0)), rtol=1e-6)


@pytest.mark.parametrize("motion", sorted(MOTION_MODELS))
def test_flow_is_the_derivative_of_the_path(motion):
    model = estimate(motion, np.zeros(len(MOTION_MODELS[motion].param_names))).motion
    scale = {"px/s": 50.0, "rad/s": 0.8, "1/s": 0.5}
    theta = np.array([scale.get(unit, 1e-3) for unit in model.param_units])
    flow = estimate(motion, theta).flow(everywhere=True)
    y, x = np.mgrid[:30, :40].astype(float)
    # The path at +dt minus that at -dt, with a step that has other errors.
    dt = 1e-4
    ahead, behind = (np.stack(model.inverse(theta, x, y, step), axis=2) for step in (dt, -dt))
    np.testing.assert_allclose(flow.velocity, (ahead - behind) / (2 * dt), rtol=1e-4, atol=1e-3)
    assert np.abs(flow.velocity).max() > 1.0


def test_roll_of_the_camera_turns_the_image_around_its_center():
    camera = Camera(fx=60.0, fy=60.0, cx=19.5, cy=14.5)
    flow = estimate("rotation", (0.0, 0.0, 2.0), camera=camera).flow(everywhere=True)
    y, x = np.mgrid[:30, :40].astype(float)
    # The camera turns from x (right) to y (down), the image against it.
    expected = 2.0 * np.stack((y - 14.5, -(x - 19.5)), axis=2)
    np.testing.assert_allclose(flow.velocity, expected, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("status", list(Status))
def test_windows_without_motion_have_no_valid_pixels(status):
    flow = estimate("translation", (5.0, 5.0), status).flow(everywhere=True)
    assert flow.valid.all() == flow.valid.any() == status.has_motion
