"""Minimization of the joint objective from one start and from several."""

import numpy as np
import pytest
from scipy import optimize

import evcrisp
from evcrisp import Window
from evcrisp.core.status import Status
from evcrisp.estimators.joint import minimize
from evcrisp.estimators.joint.exact import ExactRegret
from evcrisp.estimators.joint.minimize import NegatedObjective, minimize_joint
from evcrisp.estimators.joint.problem import JointWindow
from evcrisp.motion import Rotation
from evcrisp.objectives import OBJECTIVES
from evcrisp.search.alignment import Alignment
from evcrisp.search.local_refinement import window_scaling
from evcrisp.search.search import find_motion

DURATION_US = 20_000
#: Parameters whose minimum is far from the aligned motion.
FAR = {"b_hat": 0.0, "beta_hat": 2.0}


def problem_of(motion="translation", seed=3, resolution=(80, 60), **params):
    scene = evcrisp.simulate(
        motion=motion,
        resolution=resolution,
        duration_us=DURATION_US,
        window_us=DURATION_US,
        noise_hz=5.0,
        feature_px=12.0,
        seed=seed,
    )
    window = Window(scene.events, 0, DURATION_US)
    return JointWindow.from_window(window, scene.motion, ExactRegret(**params)).problem


@pytest.mark.parametrize("params", [{}, {"b_hat": 1.0}, FAR])
def test_result_is_a_local_minimum(params):
    problem = problem_of(**params)
    end = minimize_joint(problem, find_motion(problem.data).theta)
    assert end.status is Status.CONVERGED
    assert end.value == pytest.approx(problem.solve(end.theta).value, rel=1e-12)
    scaling, unit = window_scaling(problem.data), problem.terms.baseline_ed
    _, gradient = problem.value_and_gradient(end.theta)
    # The final step lowers the gradient from 1e-7..1e-6.
    assert np.abs(scaling.gradient(gradient)).max() < 5e-8 * unit
    for step in 0.05 * np.vstack((np.eye(2), -np.eye(2))):
        assert problem.solve(end.theta + scaling.theta(step)).value > end.value


def test_minimum_near_alignment_needs_few_evaluations():
    problem = problem_of()
    assert minimize_joint(problem, find_motion(problem.data).theta).n_eval <= 10


def test_multi_start_does_not_depend_on_the_start_but_one_descent_does(monkeypatch):
    problem = problem_of(**FAR)
    unit, theta = problem.terms.baseline_ed, find_motion(problem.data).theta
    starts = [theta * factor for factor in (0.997, 0.999, 1.0, 1.001, 1.01)]
    ends = [minimize_joint(problem, start) for start in starts]
    offset = window_scaling(problem.data).scaled(ends[0].theta - theta)
    assert np.linalg.norm(offset) > minimize.NEAR_PX
    assert np.ptp([end.value for end in ends]) < 1e-6 * unit
    monkeypatch.setattr(minimize, "_valley_starts", lambda *_: [])
    single = [minimize_joint(problem, start).value for start in starts]
    assert max(single) > ends[0].value + 1e-3 * unit


@pytest.mark.parametrize("seed", range(3, 9))
def test_no_descent_from_nearby_or_from_zero_motion_ends_lower(seed):
    """Single descents from some sides of the aligned motion end 1e-4 to 1e-3 higher here."""
    problem = problem_of(seed=seed, b_hat=0.5)
    unit, scaling = problem.terms.baseline_ed, window_scaling(problem.data)
    theta = find_motion(problem.data).theta
    assert problem.solve(theta).lam > 0.0

    def fun(scaled):
        value, gradient = problem.value_and_gradient(scaling.theta(scaled))
        return value / unit, scaling.gradient(gradient) / unit

    center = scaling.scaled(theta)
    starts = [
        np.zeros(2),
        *(center + 3.0 * np.array(c) for c in ((1, 0), (0, 1), (-1, 0), (0, -1))),
    ]
    ends = [optimize.minimize(fun, start, jac=True, method="BFGS").fun for start in starts]
    assert minimize_joint(problem, theta).value / unit <= min(ends) + 1e-6


def test_value_and_gradient_of_negated_objective_agree():
    problem = problem_of("similarity", b_hat=1.0)
    objective = NegatedObjective(problem, window_scaling(problem.data))
    scaled = np.array([1.0, -2.0, 3.0, 30.0])  # beyond the collapse bound
    value, gradient = objective(scaled)
    assert objective.value(scaled) == value
    assert objective.n_eval == 2
    assert objective.collapse.value_and_gradient(scaled)[0] > 0.0
    for k, step in enumerate(1e-4 * np.eye(4)):
        rise = objective.value(scaled + step) - objective.value(scaled - step)
        assert gradient[k] == pytest.approx(rise / 2e-4, rel=1e-3, abs=1e-5)


def test_rotation_has_no_collapse_penalty():
    problem = problem_of("rotation")
    assert isinstance(problem.data.warp.model, Rotation)
    objective = NegatedObjective(problem, window_scaling(problem.data))
    assert objective.collapse.value_and_gradient(np.full(3, 500.0))[0] == 0.0


def test_contrast_gradient_equals_gradient_of_variance():
    problem = problem_of("affine")
    theta = 1.1 * find_motion(problem.data).theta
    alignment = Alignment(problem.data, problem.contrast, OBJECTIVES["variance"]())
    expected = alignment.value_and_gradient(theta)[1]
    np.testing.assert_allclose(problem.contrast_gradient(theta), expected, rtol=1e-9)


def test_max_iter_limits_the_steps():
    problem = problem_of(**FAR)
    end = minimize_joint(problem, find_motion(problem.data).theta, max_iter=1)
    assert end.status is Status.MAX_ITER
    assert np.isfinite(end.value)


def test_curvature_of_the_search_saves_evaluations_and_keeps_the_result():
    n_without = n_with = 0
    for motion in ("translation", "similarity", "affine"):
        problem = problem_of(motion, resolution=(240, 180))
        found = find_motion(problem.data)
        without = minimize_joint(problem, found.theta)
        given = minimize_joint(problem, found.theta, found.inverse_hessian)
        assert given.value == pytest.approx(without.value, abs=1e-8 * problem.terms.baseline_ed)
        n_without, n_with = n_without + without.n_eval, n_with + given.n_eval
    assert n_with < 0.8 * n_without
