"""The Pareto front of alignment and denoising."""

import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import evcrisp
from evcrisp import Camera, ConfigError, Events, Window
from evcrisp.core.status import Status
from evcrisp.estimators.joint.exact import ExactRegret
from evcrisp.estimators.joint.pareto import non_dominated, pareto_front
from evcrisp.motion import Translation
from evcrisp.search.local_refinement import window_scaling
from evcrisp.search.search import find_motion

DURATION_US = 20_000


@pytest.fixture(scope="module")
def scene():
    return evcrisp.simulate(
        resolution=(96, 72),
        duration_us=DURATION_US,
        window_us=DURATION_US,
        theta=(250.0, -150.0),
        noise_hz=5.0,
        feature_px=16.0,
        seed=5,
    )


@pytest.fixture(scope="module")
def window(scene):
    return Window(scene.events, 0, DURATION_US)


@pytest.fixture(scope="module")
def front(scene, window):
    return pareto_front(window, scene.motion, ExactRegret(b_hat=1.2), n_points=15)


def test_points_are_sorted_and_not_dominated(front):
    assert len(front) >= 8
    assert (np.diff(front.column("cost_ea")) > 0).all()
    assert (np.diff(front.column("cost_ed")) < 0).all()


def test_progress_rises_to_one(scene, window):
    shares = []
    pareto_front(window, scene.motion, n_points=4, on_share=shares.append)
    assert len(shares) > 8
    assert shares[-1] == 1.0
    assert (np.diff(shares) > 0.0).all()


def test_ends_of_the_front_are_alignment_and_denoising(front, scene):
    first, last = front.points[0], front.points[-1]
    assert scene.warp_error_px(first.theta, 0, DURATION_US) < 0.2
    assert first.lam == 0.0
    assert last.lam > 0.5
    assert first.f_ea == pytest.approx(front.column("f_ea").max(), rel=1e-5)
    assert front.ideal == (first.cost_ea, last.cost_ed)
    assert front.nadir == (last.cost_ea, first.cost_ed)


def test_selected_point_is_the_solution_of_the_estimator(front, scene, window):
    terms = front.problem.terms
    regrets = np.maximum(
        terms.baseline_ea + front.column("cost_ea"), front.column("cost_ed") - terms.baseline_ed
    )
    assert front.regret_index == int(np.argmin(regrets))
    exact = ExactRegret(b_hat=1.2).run(window, scene.motion)
    assert regrets.min() <= exact.regret.value + 1e-6 * terms.baseline_ed
    assert 0.0 < front.regret.lam < 1.0


#: Windows that differ in texture, noise, speed and sensor.
WINDOWS = {
    "little noise": {"noise_hz": 2.0},
    "much noise": {"noise_hz": 30.0},
    "dots": {"texture": "dots", "noise_hz": 5.0},
    "rocks": {"texture": "rocks", "noise_hz": 5.0},
    "slow": {"theta": (40.0, 20.0), "noise_hz": 5.0},
    "fast": {"theta": (-900.0, 400.0), "noise_hz": 5.0},
    "at rest": {"theta": (0.0, 0.0), "noise_hz": 20.0},
    "small": {"resolution": (48, 36), "noise_hz": 5.0},
}


def check_compromise(front):
    """Check that both regrets decide, and that the point lies between the ends."""
    regrets = front.regrets
    assert front.is_compromise
    assert (regrets[front.regret_index] > 0.0).all()
    assert regrets[front.regret_index].max() == regrets.max(axis=1).min()
    assert regrets[front.regret_index].max() < min(regrets[0].max(), regrets[-1].max())
    assert regrets[0, 0] == regrets[-1, 1] == 0.0


@pytest.mark.parametrize("name", WINDOWS)
def test_default_selects_a_compromise(name):
    settings = {"resolution": (160, 120), **WINDOWS[name]}
    scene = evcrisp.simulate(duration_us=30_000, seed=len(name), **settings)
    check_compromise(pareto_front(scene.events, n_points=15))


@pytest.mark.parametrize(
    ("name", "first_us", "last_us"),
    [
        ("emlb/demo-01.aedat4", 100_000, 130_000),
        ("ecd/stppp_boxes_translation", 0, 30_000),
        ("ecd/stppp_dynamic_translation", 0, 30_000),
        ("ecd/slider_depth_chunk", 0, 30_000),
        ("aedat4/dvxplorer_320x240_tonic_sample.aedat4", 100_000, 130_000),
        ("dvs128-mat/stripes.mat", 100_000, 130_000),
        ("eventstream/dvs.es", 100_000, 130_000),
    ],
)
def test_default_selects_a_compromise_in_real_windows(data_dir, name, first_us, last_us):
    events = evcrisp.read(data_dir / name)
    start = int(events.t[0])
    front = pareto_front(events.between(start + first_us, start + last_us), n_points=15)
    check_compromise(front)
    assert front.regret.signal.any()


def test_baseline_of_the_compromise_gives_it_to_the_estimator(scene, window):
    front = pareto_front(window, scene.motion, n_points=9)
    terms = front.problem.terms
    config = ExactRegret(beta_hat=1.0, b_ea=terms.baseline_ea)
    exact = config.run(window, scene.motion).regret
    best = front.problem.solve(front.regret.theta)
    assert exact.baseline_ed == terms.baseline_ed
    assert best.value <= exact.value + 1e-6 * terms.baseline_ed
    assert best.lam == pytest.approx(front.regret.lam, abs=1e-6)
    assert front.regrets[front.regret_index, 0] == pytest.approx(
        front.regrets[front.regret_index, 1], rel=1e-3
    )


def test_given_baseline_selects_as_the_estimator(scene, window):
    front = pareto_front(window, scene.motion, ExactRegret(b_hat=1000.0), n_points=6)
    assert front.regret_index == 0
    assert not front.is_compromise
    assert front.baseline == (
        -1000.0 * front.problem.terms.baseline_ed,
        front.problem.terms.baseline_ed,
    )


def test_last_point_has_nearly_the_best_denoising_within_the_bound(front):
    """The aligned motion is a stationary point of denoising too, and the worst one."""
    problem, scaling = front.problem, window_scaling(front.problem.data)
    aligned = scaling.scaled(front.points[0].theta)
    costs = []
    for dx, dy in itertools.product(np.arange(-22.0, 23.0, 5.5), repeat=2):
        if np.hypot(dx, dy) < 24.0:
            best = problem.solve(scaling.theta(aligned + np.array([dx, dy])), 1.0)
            costs.append(best.penalty + best.f_ed)
    assert front.ideal[1] < 1.1 * min(costs)  # one of many minima; measured: 1.04


def test_points_have_labels_and_a_confidence_map(front, window):
    for index, point in enumerate(front.points):
        assert point.signal.shape == (len(window.events),)
        w, iwe = front.w_map(index), front.problem.iwe(point.theta)
        assert np.var(w * iwe) == pytest.approx(point.f_ed, rel=1e-9)
        assert np.var(iwe) == pytest.approx(point.f_ea, rel=1e-9)


@pytest.mark.parametrize("b_hat", [1000.0, 1.0, 0.0])
def test_motions_stay_within_max_drift(scene, window, b_hat):
    config = ExactRegret(b_hat=b_hat, beta_hat=2.0)
    near = pareto_front(window, scene.motion, config, n_points=6, max_drift_px=3.0)
    span_s = float(window.events.t[-1] - window.events.t[0]) / 1e6
    aligned = find_motion(near.problem.data, None, near.config.search).theta
    drift = np.array([point.theta - aligned for point in near.points]) * span_s
    assert np.linalg.norm(drift, axis=1).max() < 3.0 + 1e-6


def test_window_without_evidence_gives_one_point():
    events = Events(x=[3], y=[4], t=[5], p=[True], resolution=(16, 12))
    front = pareto_front(Window(events, 0, 10), Translation())
    assert len(front) == 1
    assert front.status is Status.TOO_FEW_EVENTS
    assert front.regret_index == 0
    assert front.ideal == front.nadir
    assert "1 points" in repr(front)


def test_non_dominated_drops_gains_below_tolerance():
    costs = np.array([[0.0, 1.0], [1e-9, 1.0 - 1e-9], [0.5, 0.5]])
    assert non_dominated(costs) == [0, 1, 2]
    assert non_dominated(costs, tol=1e-6) == [0, 2]


def test_invalid_arguments_raise(window):
    with pytest.raises(ConfigError, match="`n_points` must be a whole number, 3 or more; got 2."):
        pareto_front(window, Translation(), n_points=2)
    with pytest.raises(ConfigError, match="3 or more; got 3.5"):
        pareto_front(window, Translation(), n_points=3.5)
    with pytest.raises(ConfigError, match="must be 2 finite numbers"):
        pareto_front(window, Translation(), theta0=[300.0])
    with pytest.raises(ConfigError, match="`events` must be Events or a Window; got str"):
        pareto_front("take.aedat4", "translation")
    with pytest.raises(ConfigError, match="`motion` is a model already"):
        pareto_front(window, Translation(), camera=Camera(100.0, 100.0, 60.0, 40.0))
    with pytest.raises(ConfigError, match="`max_drift_px` must be a positive number; got 0.0."):
        pareto_front(window, Translation(), max_drift_px=0.0)


def test_events_and_motion_name_are_accepted(scene):
    one = pareto_front(scene.events, "translation", n_points=3)
    other = pareto_front(evcrisp.estimate(scene.events).window, Translation(), n_points=3)
    np.testing.assert_array_equal(one.column("cost_ea"), other.column("cost_ea"))


def test_problem_can_be_shared_by_threads_and_pickled(front):
    thetas = [point.theta for point in front.points] * 4
    alone = [front.problem.value_and_gradient(theta)[0] for theta in thetas]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda theta: front.problem.value_and_gradient(theta)[0], thetas))
    assert together == alone
    copied = pickle.loads(pickle.dumps(front.problem))
    assert copied.value_and_gradient(thetas[0])[0] == alone[0]
