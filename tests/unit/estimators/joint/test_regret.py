"""The estimators "exact" and "paper": results, warnings, and degenerate windows."""

import dataclasses

import numpy as np
import pytest
from tests.oracles.joint.confidence_map import joint_value

import evcrisp
from evcrisp import ConfigError, Events, UnknownNameError, Window
from evcrisp.contrast import ContrastMap
from evcrisp.core.status import Status
from evcrisp.estimators.hot_pixels import hot_events
from evcrisp.estimators.joint.exact import ExactRegret
from evcrisp.estimators.joint.paper import PaperRegret
from evcrisp.estimators.joint.problem import JointProblem, JointWindow, RegretConfig
from evcrisp.motion import Translation
from evcrisp.search.local_refinement import window_scaling
from evcrisp.search.search import find_motion
from evcrisp.search.window_data import WindowData

DURATION_US = 20_000
ESTIMATORS = [ExactRegret(), PaperRegret(n_steps=30)]


def name_of(estimator):
    return estimator.name


@pytest.fixture(scope="module")
def scene():
    return evcrisp.simulate(
        resolution=(120, 90),
        duration_us=DURATION_US,
        window_us=DURATION_US,
        theta=(250.0, -150.0),
        noise_hz=3.0,
        feature_px=16.0,
        seed=5,
    )


@pytest.fixture(scope="module")
def window(scene):
    return Window(scene.events, 0, DURATION_US)


def test_exact_finds_motion_and_labels(scene, window):
    result = ExactRegret().run(window, scene.motion)
    assert scene.warp_error_px(result.theta, 0, DURATION_US) < 0.2
    assert result.status is Status.CONVERGED
    assert (result.signal == scene.events.signal).mean() > 0.9
    assert result.score[scene.events.signal].mean() > 2 * result.score[~scene.events.signal].mean()
    assert result.regret.lam == 0.0
    assert result.warnings == ()


def test_default_baseline_suffices_for_large_displacement():
    scene = evcrisp.simulate(
        theta=(1000.0, 0.0), duration_us=60_000, resolution=(240, 180), noise_hz=2.0, seed=1
    )
    result = evcrisp.estimate(Window(scene.events, 0, 60_000), "exact")
    assert result.regret.lam == 0.0
    assert scene.warp_error_px(result.theta, 0, 60_000) < 0.5
    assert (result.signal == scene.events.signal).mean() > 0.9


def test_result_fields_are_consistent(scene, window):
    result = ExactRegret(b_hat=1.2).run(window, scene.motion)
    problem = JointProblem.from_data(WindowData.of(window, scene.motion), ExactRegret(b_hat=1.2))
    iwe, terms = problem.iwe(result.theta), dataclasses.astuple(problem.terms)
    assert result.regret.value == pytest.approx(joint_value(iwe, result.w_map, *terms), rel=1e-12)
    assert result.regret.f_ea == pytest.approx(np.var(iwe))
    assert result.regret.f_ed == pytest.approx(np.var(result.w_map * iwe))
    assert result.regret.baseline_ea == pytest.approx(1.2 * result.regret.baseline_ed)
    np.testing.assert_array_equal(result.signal, result.confidence > 0.5)
    x, y = scene.motion.warp(
        result.theta, window.events.x, window.events.y, (window.events.t - window.t_ref) / 1e6
    )
    np.testing.assert_allclose(result.aligned_x, x)
    np.testing.assert_allclose(result.aligned_y, y)
    assert result.config == ExactRegret(b_hat=1.2)


def test_exact_value_is_not_above_paper_and_confidence_agrees(scene, window):
    problem = JointProblem.from_data(WindowData.of(window, scene.motion), ExactRegret())
    exact = ExactRegret().run(window, scene.motion)
    paper = PaperRegret(n_steps=400).run(window, scene.motion, exact.theta)
    unit = problem.terms.baseline_ed
    assert exact.regret.value <= paper.regret.value + 1e-6 * unit
    assert paper.regret.value <= exact.regret.value + 1e-4 * unit
    assert np.abs(exact.w_map - paper.w_map).max() < 1e-3
    assert (exact.signal == paper.signal).mean() > 0.999


#: Motion models and parameters whose solution has equal regrets, near alignment or far from it.
EQUAL_REGRETS = [
    ("translation", {"b_hat": 1.2}),
    ("translation", {"b_hat": 1.0}),
    ("translation", {"b_hat": 0.0, "beta_hat": 2.0}),
    ("rotation", {"b_hat": 0.5}),
    ("similarity", {"b_hat": 0.0, "beta_hat": 2.0}),
]


@pytest.mark.parametrize(("motion", "params"), EQUAL_REGRETS)
def test_exact_value_is_not_above_paper_at_equal_regrets(motion, params):
    small = evcrisp.simulate(
        motion=motion,
        resolution=(80, 60),
        duration_us=DURATION_US,
        window_us=DURATION_US,
        noise_hz=5.0,
        feature_px=12.0,
        seed=3,
    )
    joint = JointWindow.from_window(
        Window(small.events, 0, DURATION_US), small.motion, ExactRegret(**params)
    )
    problem, unit = joint.problem, joint.problem.terms.baseline_ed
    start = find_motion(problem.data).theta
    end = ExactRegret(**params).descend(problem, start)
    best = problem.solve(end.theta)
    assert end.value == pytest.approx(best.value, rel=1e-12)
    assert 0.0 < best.lam < 1.0
    assert best.f_ed - unit == pytest.approx(problem.terms.baseline_ea - best.f_ea, abs=1e-9 * unit)
    paper = PaperRegret(**params, n_steps=1000).descend(problem, start).regret.value
    assert best.value <= paper + 1e-6 * max(abs(paper), unit)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
def test_hot_pixels_are_noise_and_do_not_enter_the_map(estimator, scene, window):
    events, n = scene.events, 400
    # Two pixels that fire all the time.
    x, y = np.repeat([30, 81], n), np.repeat([20, 64], n)
    t = np.tile(np.linspace(0, DURATION_US - 1, n).astype(np.int64), 2)
    order = np.argsort(np.concatenate((events.t, t)), kind="stable")
    columns = [
        np.concatenate(pair)[order]
        for pair in ((events.x, x), (events.y, y), (events.t, t), (events.p, np.ones(2 * n, bool)))
    ]
    noisy = Events(
        x=columns[0], y=columns[1], t=columns[2], p=columns[3], resolution=events.resolution
    )
    hot = hot_events(noisy)
    assert hot[order >= len(events)].all()
    result = estimator.run(Window(noisy, 0, DURATION_US), scene.motion)
    assert not result.signal[hot].any()
    assert not result.score[hot].any()
    assert not result.confidence[hot].any()
    clean = estimator.run(Window(noisy[~hot], 0, DURATION_US), scene.motion)
    np.testing.assert_array_equal(result.theta, clean.theta)
    np.testing.assert_array_equal(result.w_map, clean.w_map)
    np.testing.assert_array_equal(result.signal[~hot], clean.signal)
    np.testing.assert_array_equal(result.score[~hot], clean.score)


@pytest.mark.parametrize("b_hat", [10.0, 0.0])
def test_adam_on_confidence_alone_converges_to_closed_form(scene, window, b_hat):
    config = PaperRegret(b_hat=b_hat, beta_hat=2.0, rate_px=0.0, n_steps=600)
    problem = JointProblem.from_data(WindowData.of(window, scene.motion), config)
    theta = scene.theta(0, DURATION_US)
    best = problem.solve(theta)
    assert best.lam == (0.0 if b_hat else 1.0)
    end = config.descend(problem, theta)
    np.testing.assert_allclose(end.theta, theta, rtol=1e-12)
    assert np.abs(end.w_map - best.w_map()).max() < 1e-3
    assert best.value <= end.regret.value + 1e-12
    assert end.values[0] > end.values[-1]


@pytest.mark.parametrize("rate_px", [0.02, 0.3])
def test_first_adam_step_has_the_length_of_its_rates(scene, window, rate_px):
    """Adam normalizes the gradient by its size, from the first step on."""
    config = PaperRegret(n_steps=1, rate_px=rate_px, rate_w=0.04)
    problem = JointProblem.from_data(WindowData.of(window, scene.motion), config)
    theta, scaling = scene.theta(0, DURATION_US) + 20.0, window_scaling(problem.data)
    end = config.descend(problem, theta)
    np.testing.assert_allclose(np.abs(scaling.scaled(end.theta - theta)), rate_px, rtol=1e-6)
    # At W = 1 the penalty makes every pixel decrease.
    np.testing.assert_allclose(end.w_map, 1.0 - 0.04, rtol=1e-6)


def test_adam_finds_motion_five_pixels_away(scene, window):
    config = PaperRegret(n_steps=200)
    problem = JointProblem.from_data(WindowData.of(window, scene.motion), config)
    scaling, theta = window_scaling(problem.data), scene.theta(0, DURATION_US)
    end = config.descend(problem, theta + scaling.theta(np.array([4.0, -3.0])))
    assert scene.warp_error_px(end.theta, 0, DURATION_US) < 0.2


def test_default_parameters_equal_documented_values():
    default, documented = (
        RegretConfig(**params).terms(5000, 0.7)
        for params in ({}, {"beta_hat": 0.5, "min_support": 6.0, "b_hat": 1000.0})
    )
    assert default == documented
    assert default.beta == 0.5 / 5000
    assert default.baseline_ea == 1000.0 * 0.7


def test_low_baseline_leads_away_from_alignment_and_warns(scene, window):
    low = ExactRegret(b_ea=0.0, beta_hat=5.0)
    result = low.run(window, scene.motion)
    good = ExactRegret().run(window, scene.motion)
    scaling = window_scaling(WindowData.of(window, scene.motion))
    assert np.linalg.norm(scaling.scaled(result.theta - good.theta)) > 1.0
    assert result.regret.lam > 0.0
    problem = JointProblem.from_data(WindowData.of(window, scene.motion), low)
    at_alignment = PaperRegret(b_ea=0.0, beta_hat=5.0, rate_px=0.0, n_steps=50).run(
        window, scene.motion, good.theta
    )
    assert problem.solve(good.theta).lam == 1.0
    assert at_alignment.regret.lam == 1.0
    assert len(at_alignment.warnings) == 1
    assert "lam = 1" in at_alignment.warnings[0]
    assert "Raise `b_ea`" in at_alignment.warnings[0]


def test_events_off_the_map_are_labeled_at_their_raw_position():
    rng = np.random.default_rng(0)
    n = 400
    # A dense cluster and isolated events; the motion moves all of them off the map.
    x = np.concatenate((rng.integers(10, 13, n), rng.integers(20, 40, 20)))
    y = np.concatenate((rng.integers(10, 13, n), 2 * np.arange(20)))
    t = np.sort(
        np.concatenate(
            (rng.integers(0, 100, x.size // 2), rng.integers(900, 1000, x.size - x.size // 2))
        )
    )
    order = rng.permutation(x.size)
    events = Events(x=x[order], y=y[order], t=t, p=np.ones(x.size, bool), resolution=(48, 48))
    window = Window(events, 0, 1000)
    config = ExactRegret(contrast=ContrastMap(padding_px=4))
    joint = JointWindow.from_window(window, Translation(), config)
    theta = np.array([1e6, 0.0])
    best = joint.problem.solve(theta)
    assert not best.iwe.any()
    score, confidence = joint.read_maps(theta, best.w_map(), best)
    cluster = (events.x < 13) & (events.y < 13)
    assert (confidence[cluster] > 0.5).all()
    assert (score[cluster] > 5.0).all()
    assert (confidence[~cluster] < 0.5).all()


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
@pytest.mark.parametrize(
    ("x", "t", "statuses"),
    [
        ([], [], {Status.TOO_FEW_EVENTS}),
        ([3], [10], {Status.TOO_FEW_EVENTS}),
        ([5] * 50, list(range(50)), {Status.TOO_FEW_EVENTS, Status.FLAT, Status.CONVERGED}),
        (list(range(40)), [7] * 40, {Status.FLAT}),
        (list(range(40)), [0] * 20 + [10**9] * 20, set(Status)),
    ],
    ids=["no event", "one event", "one pixel", "one time", "two times far apart"],
)
def test_degenerate_windows_give_a_status_and_finite_scores(estimator, x, t, statuses):
    events = Events(x=x, y=[4] * len(x), t=t, p=[True] * len(x), resolution=(48, 32))
    window = Window(events, 0, max(t, default=0) + 1)
    result = estimator.run(window, Translation())
    assert result.status in statuses
    assert len(result) == len(x)
    assert np.isfinite(result.score).all()
    assert np.isfinite(result.theta).all()
    assert ((result.confidence >= 0.0) & (result.confidence <= 1.0)).all()
    assert np.isfinite(result.regret.value)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
@pytest.mark.parametrize("resolution", [(1, 1), (2, 3)])
def test_sensors_of_a_few_pixels_give_finite_scores(estimator, resolution, make_events):
    events = make_events(60, resolution=resolution, t_start=0, duration_us=1000)
    result = estimator.run(Window(events, 0, 1000), Translation())
    assert np.isfinite(result.score).all()


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
def test_results_are_reproducible(estimator, scene, window):
    first, second = (estimator.run(window, scene.motion) for _ in range(2))
    assert first.theta.tobytes() == second.theta.tobytes()
    assert first.w_map.tobytes() == second.w_map.tobytes()
    assert first.score.tobytes() == second.score.tobytes()


def test_invalid_parameters_raise():
    with pytest.raises(ConfigError, match="`tol` must be above 0 and below 1; got 0.0."):
        ExactRegret(tol=0.0)
    with pytest.raises(ConfigError, match="`max_iter` must be a positive whole number; got 0."):
        ExactRegret(max_iter=0)
    with pytest.raises(ConfigError, match="`n_steps` must be a positive whole number; got 0."):
        PaperRegret(n_steps=0)
    with pytest.raises(ConfigError, match="`rate_w` must be a number, 0 or more; got -1."):
        PaperRegret(rate_w=-1)
    with pytest.raises(UnknownNameError, match="Unknown decay 'cosin'. Did you mean 'cosine'?"):
        PaperRegret(decay="cosin")
    with pytest.raises(ConfigError, match="`alpha` and `min_support` are two forms"):
        ExactRegret(alpha=1.0, min_support=2.0)


@pytest.mark.parametrize(("n_steps", "status"), [(10, Status.MAX_ITER), (300, Status.CONVERGED)])
def test_status_of_adam_depends_on_number_of_steps(scene, window, n_steps, status):
    assert PaperRegret(n_steps=n_steps).run(window, scene.motion).status is status
