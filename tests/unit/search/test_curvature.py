"""Curvature of the contrast from the structure tensor."""

import numpy as np
import pytest
from tests.unit.search.windows import RESOLUTION, data_of, models

from evcrisp import Camera
from evcrisp.kernels.contrast import splat
from evcrisp.kernels.search.structure_tensor import structure_tensor
from evcrisp.motion import motion_model
from evcrisp.search import curvature
from evcrisp.search.curvature import ISOLATED_ENERGY, TYPICAL_CURVATURE, inverse_curvature
from evcrisp.search.multiscale_objective import LevelObjective
from evcrisp.search.search import SearchConfig, find_motion, search_problem


@models
@pytest.mark.parametrize("noise_hz", [0.0, 10.0])
def test_curvature_of_map_matches_differences_of_gradient(monkeypatch, motion, noise_hz):
    monkeypatch.setattr(curvature, "MIN_RELATIVE", 0.0)
    _, data = data_of(motion, resolution=(240, 180), noise_hz=noise_hz)
    problem = search_problem(data, SearchConfig())
    scaled = problem.scaling.scaled(find_motion(data).theta)
    level = LevelObjective.around(problem, scaled, scale=2, n_events=10**9, margin_px=8.0)
    steps = 0.15 * np.eye(scaled.size)
    second = -np.array([level(scaled + s)[1] - level(scaled - s)[1] for s in steps]) / 0.3
    level(scaled)
    # Share of the distance to the maximum that one Newton step covers.
    shares = np.linalg.eigvals(level.inverse_curvature() @ (0.5 * (second + second.T))).real
    assert 0.4 < shares.min() <= shares.max() < 1.4
    assert shares.mean() == pytest.approx(1.0, abs=0.25)


def test_curvature_along_stripes_is_bounded():
    _, data = data_of(texture="stripes")
    problem = search_problem(data, SearchConfig())
    level = LevelObjective.around(problem, np.zeros(2), scale=2, n_events=10**9, margin_px=8.0)
    level(problem.scaling.scaled(find_motion(data).theta))
    largest, smallest = 1.0 / np.linalg.eigvalsh(level.inverse_curvature())
    assert smallest == pytest.approx(0.2 * largest)
    # On intermediate levels, steps have at most the typical length.
    assert np.linalg.eigvalsh(level.inverse_curvature(1.0)).max() <= 4.0 / TYPICAL_CURVATURE * (
        1.0 + 1e-9
    )


def test_isolated_events_have_the_subtracted_energy():
    rng = np.random.default_rng(8)
    x, y = np.meshgrid(np.arange(0.0, 400.0, 10.0), np.arange(0.0, 300.0, 10.0))
    x, y = (side.ravel() + rng.uniform(-2.0, 2.0, side.size) for side in (x, y))
    image = np.zeros((170, 220))
    splat.accumulate_spline(0.5 * x + 8.0, 0.5 * y + 8.0, np.ones(x.size), image)
    energy, _ = structure_tensor(
        image, 500, np.zeros(2, int), *np.zeros((2, 1, 1, 1)), np.empty((1, 1))
    )
    assert energy == pytest.approx(2.0 * ISOLATED_ENERGY * x.size, rel=0.03)


@models
def test_curvature_far_outside_the_sensor_is_finite(motion):
    """A distorted lens has no rays far outside."""
    camera = Camera(100.0, 100.0, 59.5, 44.5, distortion=(-0.2, 0.0, 0.0, 0.0, 0.0))
    model = motion_model(motion, RESOLUTION, camera if motion == "rotation" else None)
    image = np.random.default_rng(9).random((400, 500))
    matrix = inverse_curvature(image, (-450.0, -350.0), (0, 0), 2, 1000, model, RESOLUTION)
    assert np.linalg.eigvalsh(matrix).min() > 0.0


def test_curvature_of_empty_map_is_the_lower_bound():
    _, data = data_of()
    level = LevelObjective.around(
        search_problem(data, SearchConfig()), np.zeros(2), scale=2, n_events=100, margin_px=8.0
    )
    level(np.zeros(2))
    level.engine.image[:] = 0.0
    np.testing.assert_allclose(
        level.inverse_curvature(), 4.0 / (0.05 * TYPICAL_CURVATURE) * np.eye(2)
    )
