"""Objective of the search at one level."""

import numpy as np
import pytest
from tests.unit.search.windows import RESOLUTION, data_of, models

from evcrisp.contrast import ContrastMap
from evcrisp.objectives import MeanSquare
from evcrisp.search.alignment import Alignment
from evcrisp.search.multiscale_objective import LevelObjective
from evcrisp.search.search import SearchConfig, search_problem


@models
def test_level_gradient_matches_differences(motion):
    scene, data = data_of(motion)
    problem = search_problem(data, SearchConfig())
    scaled = problem.scaling.scaled(0.7 * scene.theta(0, 20_000))
    for scale in (8, 2):
        level = LevelObjective.around(problem, scaled, scale=scale, n_events=10**9, margin_px=20.0)
        value, gradient = level(scaled)
        assert value == level.value(scaled)
        steps = 1e-5 * np.eye(scaled.size)
        numeric = [(level.value(scaled + s) - level.value(scaled - s)) / 2e-5 for s in steps]
        np.testing.assert_allclose(gradient, numeric, atol=1e-7 + 1e-5 * np.abs(gradient).max())


@pytest.mark.parametrize("far_s", [1e4, 1e12, -1e6])
def test_map_size_is_bounded_for_extreme_motions(far_s):
    scene, data = data_of()
    problem = search_problem(data.at(far_s), SearchConfig())
    scaled = problem.scaling.scaled(scene.theta(0, 20_000))
    level = LevelObjective.around(problem, scaled, scale=2, n_events=1000, margin_px=6.0)
    assert np.prod(level.engine.image.shape) < 4 * RESOLUTION[0] * RESOLUTION[1]


def test_level_value_matches_contrast_map():
    scene, data = data_of()
    problem = search_problem(data, SearchConfig())
    theta = scene.theta(0, 20_000)
    coarse = ContrastMap(footprint="spline", sigma_px=0.0, scale=4, padding_px=40)
    alignment = Alignment(data, coarse, MeanSquare())
    level = LevelObjective.around(
        problem, problem.scaling.scaled(theta), scale=4, n_events=10**9, margin_px=20.0
    )
    for factor in (0.5, 1.0, 1.5):
        pixels = np.prod(coarse.shape(RESOLUTION))
        expected = np.log(alignment.value(factor * theta) * pixels / len(data))
        # The pixel grids of the two maps differ.
        assert level.value(problem.scaling.scaled(factor * theta)) == pytest.approx(
            expected, rel=0.02
        )
