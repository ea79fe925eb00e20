"""Contrast loss at the sensor border."""

import numpy as np
import pytest
from tests.unit.search.windows import RESOLUTION

from evcrisp.contrast import ContrastMap
from evcrisp.motion import motion_model
from evcrisp.search.border_bias import BorderBias
from evcrisp.search.scaling import Scaling, displacement_fields, inverse_rates


def test_loss_matches_a_moved_rectangle():
    # Events are uniform in space and time, so a motion loses contrast at the border only.
    rng = np.random.default_rng(4)
    n, resolution = 400_000, (60, 40)
    x, y = rng.uniform(-0.5, 59.5, n), rng.uniform(-0.5, 39.5, n)
    share = np.linspace(-0.5, 0.5, n)
    bias = BorderBias.of(motion_model("translation", resolution), resolution)
    fine = ContrastMap(footprint="spline", sigma_px=0.0, padding_px=12)

    def energy(dx, dy):
        iwe = fine.build(x - dx * share, y - dy * share, np.ones(n), resolution)
        return np.log((iwe**2).sum() - 0.3 * n)

    for move in ((8.0, 0.0), (0.0, 8.0), (6.0, -6.0)):
        lost = energy(0.0, 0.0) - energy(*move)
        assert bias.loss(np.array(move), 0.5)[0] == pytest.approx(lost, rel=0.15)


def test_loss_gradient_matches_differences():
    density = np.array([0.2, 1.0, 0.5, 0.0])
    view = (3.5, -0.5, 40.5, 20.5)
    bias = BorderBias.of(motion_model("similarity", RESOLUTION), RESOLUTION, view, density)
    scaled = np.array([3.0, -5.0, 2.0, 1.0])
    _, gradient = bias.loss(scaled, 1.0)
    numeric = [
        (bias.loss(scaled + s, 1.0)[0] - bias.loss(scaled - s, 1.0)[0]) / 2e-6
        for s in 1e-6 * np.eye(4)
    ]
    np.testing.assert_allclose(gradient, numeric, rtol=1e-5)


@pytest.mark.parametrize("name", ["translation", "similarity"])
def test_loss_does_not_depend_on_the_sensor_around_the_view(name):
    model = motion_model(name, (60, 40))
    view, theta = (
        (9.5, 4.5, 49.5, 34.5),
        np.array([90.0, -40.0, 0.3, 0.2][: len(model.param_names)]),
    )
    losses = [
        BorderBias.of(model, size, view).loss(Scaling.of(model, size, 0.05).scaled(theta), 1.0)[0]
        for size in ((60, 40), (140, 101))
    ]
    assert losses[0] == pytest.approx(losses[1], rel=1e-9)
    assert losses[0] > 0.0


def test_a_side_without_events_loses_nothing():
    model, moved = motion_model("translation", (60, 40)), np.array([8.0, 0.0])
    both, left = (
        BorderBias.of(model, (60, 40), None, np.array(density)).loss(moved, 0.5)[0]
        for density in ((0.0, 0.0, 1.0, 1.0), (1.0, 1.0, 1.0, 0.0))
    )
    assert left == pytest.approx(0.5 * both)


def test_view_of_a_distorted_camera_is_not_undistorted_again():
    """Sides of a view are ideal pixels: they move as with an ideal lens."""
    from evcrisp import Camera
    from evcrisp.motion import Rotation

    model = Rotation(Camera(150.0, 150.0, 79.5, 59.5, (-0.3, 0.1, 0.0, 0.0, 0.0)))
    sides = (-30.0, -20.0, 190.0, 140.0)
    found = BorderBias.of(model, (160, 120), sides)
    steps = (np.arange(8) + 0.5) / 8
    down = -20.0 + steps * 160.0
    along_x, _ = displacement_fields(model.without_distortion(), np.full(8, -30.0), down)
    expected = along_x @ inverse_rates(model, (160, 120))
    np.testing.assert_allclose(found.rows[16:24], expected, atol=1e-9)
