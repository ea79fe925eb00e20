"""The joint problem: forms of the parameters, objective and gradient."""

import numpy as np
import pytest

import evcrisp
from evcrisp import ConfigError, Window
from evcrisp.contrast import ContrastMap
from evcrisp.estimators.joint.problem import (
    DEFAULT_CONTRAST,
    JointProblem,
    RegretConfig,
    event_peak,
)
from evcrisp.motion import MOTION_MODELS, Rotation
from evcrisp.search.window_data import WindowData

DURATION_US = 20_000


def small_scene(motion="translation", **settings):
    settings = {"resolution": (80, 60), "noise_hz": 5.0, "seed": 2, "feature_px": 12.0, **settings}
    return evcrisp.simulate(
        motion=motion, duration_us=DURATION_US, window_us=DURATION_US, **settings
    )


def problem_of(scene, **params):
    data = WindowData.of(Window(scene.events, 0, DURATION_US), scene.motion)
    return JointProblem.from_data(data, RegretConfig(**params))


def test_raw_and_unit_free_parameters_give_equal_terms():
    scene = small_scene()
    unit_free = problem_of(scene, alpha_hat=0.3, beta_hat=0.7, b_hat=2.0).terms
    raw = problem_of(
        scene, alpha=unit_free.alpha, beta=unit_free.beta, b_ea=unit_free.baseline_ea
    ).terms
    assert raw == unit_free
    n_pixels = (80 + 48) * (60 + 48)
    assert unit_free.beta == 0.7 / n_pixels
    assert unit_free.alpha == pytest.approx(0.3 * unit_free.baseline_ed / n_pixels)
    assert unit_free.baseline_ea == 2.0 * unit_free.baseline_ed


def test_denoising_baseline_is_variance_of_unaligned_map():
    scene = small_scene()
    events = scene.events
    x, y = events.x.astype(float), events.y.astype(float)
    iwe = DEFAULT_CONTRAST.build(x, y, np.ones(len(events)), events.resolution)
    assert problem_of(scene).terms.baseline_ed == np.var(iwe)


def test_confidence_is_one_half_at_min_support():
    problem = problem_of(small_scene(), min_support=4.0)
    best = problem.solve(np.zeros(2))
    assert best.lam == 0.0
    peak = event_peak(DEFAULT_CONTRAST)
    assert best.at(4.0 * peak) == pytest.approx(0.5)


@pytest.mark.parametrize("footprint", ["bilinear", "spline"])
@pytest.mark.parametrize("scale", [1, 2, 4])
def test_event_peak_is_close_to_the_maximum_of_a_single_event(footprint, scale):
    contrast = ContrastMap(footprint=footprint, scale=scale)
    places = np.linspace(10.0, 14.0, 65)
    highest = max(
        contrast.build(np.full(1, x), np.full(1, x), np.ones(1), (32, 32)).max() for x in places
    )
    assert event_peak(contrast) <= highest + 1e-12
    assert event_peak(contrast) > 0.5 * highest


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"alpha": 1.0, "alpha_hat": 1.0}, "`alpha` and `alpha_hat` are two forms of one"),
        ({"alpha_hat": 1.0, "min_support": 1.0}, "`alpha_hat` and `min_support` are two forms"),
        ({"beta": 1.0, "beta_hat": 1.0}, "`beta` and `beta_hat` are two forms"),
        ({"b_ea": 1.0, "b_hat": 1.0}, "`b_ea` and `b_hat` are two forms"),
        ({"beta": 0.0}, "`beta` must be a positive number; got 0.0."),
        ({"beta_hat": -1.0}, "`beta_hat` must be a positive number; got -1.0."),
        ({"alpha": -0.5}, "`alpha` must be a number, 0 or more; got -0.5."),
        ({"b_hat": float("nan")}, "`b_hat` must be a number, 0 or more; got nan."),
        (
            {"contrast": ContrastMap(footprint="nearest")},
            "`contrast` must have a footprint with a gradient; got 'nearest'",
        ),
    ],
)
def test_invalid_parameters_raise(params, message):
    with pytest.raises(ConfigError, match=message):
        RegretConfig(**params)


@pytest.mark.parametrize("motion", MOTION_MODELS)
@pytest.mark.parametrize("b_hat", [10.0, 1.0, 0.0])
def test_gradient_equals_numerical_derivative(motion, b_hat):
    scene = small_scene(motion)
    problem = problem_of(scene, b_hat=b_hat, contrast=ContrastMap(footprint="spline"))
    theta = 1.1 * scene.theta(0, DURATION_US)
    value, gradient = problem.value_and_gradient(theta)
    assert value == problem.solve(theta).value
    for i, step in enumerate(1e-4 * np.diag(np.maximum(1.0, np.abs(theta)))):
        rise = problem.solve(theta + step).value - problem.solve(theta - step).value
        assert gradient[i] == pytest.approx(
            rise / (2 * step[i]), rel=2e-4, abs=1e-6 * np.abs(gradient).max()
        )


def test_gradient_of_mixture_equals_numerical_derivative():
    scene = small_scene()
    problem = problem_of(scene, contrast=ContrastMap(footprint="spline"))
    theta = scene.theta(0, DURATION_US) + 20.0
    _, gradient = problem.value_and_gradient(theta, lam=0.6)
    step = np.array([0.01, 0.0])
    ahead, behind = problem.solve(theta + step, 0.6), problem.solve(theta - step, 0.6)
    rise = ahead.mixture(0.6) - behind.mixture(0.6)
    assert gradient[0] == pytest.approx(rise / 0.02, rel=1e-5)


def test_padding_contains_undistorted_pixels():
    camera = evcrisp.Camera(
        fx=60.0, fy=60.0, cx=40.0, cy=30.0, distortion=(-0.35, 0.1, 0.0, 0.0, 0.0)
    )
    events = small_scene().events
    data = WindowData.of(Window(events, 0, DURATION_US), Rotation(camera))
    problem = JointProblem.from_data(data, RegretConfig(contrast=ContrastMap(padding_px=8)))
    x, y = data.warp.warp(np.zeros(3))
    assert x.min() < -1.0
    inside = problem.contrast.sample(np.ones(problem.iwe(np.zeros(3)).shape), x, y)
    assert (inside > 0.5).all()
    assert problem.contrast.padding_px >= 8 - np.floor(min(x.min(), y.min()))
