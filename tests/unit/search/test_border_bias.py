"""Contrast loss at the sensor border."""

import numpy as np
import pytest
from tests.unit.search.windows import RESOLUTION

from evcrisp.contrast import ContrastMap
from evcrisp.motion import motion_model
from evcrisp.search.border_bias import BorderBias, border_density


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
    bias = BorderBias.of(motion_model("similarity", RESOLUTION), RESOLUTION)
    scaled = np.array([3.0, -5.0, 2.0, 1.0])
    density = np.array([0.2, 1.0, 0.5, 0.0])
    _, gradient = bias.loss(scaled, 1.0, density)
    numeric = [
        (bias.loss(scaled + s, 1.0, density)[0] - bias.loss(scaled - s, 1.0, density)[0]) / 2e-6
        for s in 1e-6 * np.eye(4)
    ]
    np.testing.assert_allclose(gradient, numeric, rtol=1e-5)


def test_border_density_follows_the_events():
    rng = np.random.default_rng(5)
    x, y = rng.uniform(0.0, 100.0, 50_000), rng.uniform(0.0, 50.0, 50_000)
    upper = y < 25.0
    np.testing.assert_allclose(border_density(x, y, (100, 50)), 1.0, atol=0.05)
    assert border_density(x[upper], y[upper], (100, 50))[1] == 0.0
