"""Every method that aligns recovers the motion of simulated scenes."""

import numpy as np
import pytest

from evcrisp import Camera, Events, Window, simulate
from evcrisp.contrast import POLARITIES, ContrastMap
from evcrisp.core.status import Status
from evcrisp.estimators import ESTIMATORS
from evcrisp.estimators.auto.auto import AutoRegret
from evcrisp.estimators.baselines.cmax import Cmax
from evcrisp.estimators.baselines.eja import INNER, SCORES_FROM, Eja
from evcrisp.estimators.baselines.entropy import Entropy
from evcrisp.estimators.baselines.sequential import Sequential
from evcrisp.estimators.joint.exact import ExactRegret
from evcrisp.estimators.joint.paper import PaperRegret
from evcrisp.motion import MOTION_MODELS
from evcrisp.objectives import OBJECTIVES
from evcrisp.optimize import SOLVERS
from evcrisp.search.collapse_penalty import MAX_LOG_AREA, log_area_change
from evcrisp.search.search import SearchConfig

pytestmark = pytest.mark.slow

DURATION_US = 30_000


def scene(**settings):
    return simulate(**{"duration_us": DURATION_US, "seed": 1, **settings})


def window_of(simulation, duration_us=DURATION_US):
    return Window(simulation.events, 0, duration_us)


def error_px(simulation, theta, duration_us=DURATION_US):
    return simulation.warp_error_px(theta, 0, duration_us)


@pytest.mark.parametrize("texture", ["shapes", "rocks", "dots"])
@pytest.mark.parametrize("motion", list(MOTION_MODELS))
def test_every_motion_model_is_recovered_without_noise(motion, texture):
    simulation = scene(motion=motion, texture=texture)
    result = Cmax().run(window_of(simulation), simulation.motion)
    assert result.status is Status.CONVERGED
    # Measured: 0.01 to 0.08 px for 1 to 4 parameters, up to 0.13 px for a homography.
    assert error_px(simulation, result.theta) < 0.3


@pytest.mark.parametrize("noise_hz", [2.0, 10.0])
@pytest.mark.parametrize("motion", ["zoom", "translation", "rotation", "similarity"])
def test_models_with_few_parameters_are_recovered_in_noise(motion, noise_hz):
    simulation = scene(motion=motion, noise_hz=noise_hz, seed=2)
    result = Cmax().run(window_of(simulation), simulation.motion)
    assert error_px(simulation, result.theta) < 0.2


@pytest.mark.parametrize("displacement_px", [3.0, 12.0, 30.0, 55.0])
@pytest.mark.parametrize("angle_deg", [10.0, 100.0, 215.0, 325.0])
def test_large_displacements_are_found_without_a_start(displacement_px, angle_deg):
    speed = displacement_px / (DURATION_US / 1e6)
    angle = np.radians(angle_deg)
    theta = (speed * np.cos(angle), speed * np.sin(angle))
    simulation = scene(theta=theta, noise_hz=2.0)
    result = Cmax().run(window_of(simulation), simulation.motion)
    assert error_px(simulation, result.theta) < 0.2


def test_search_does_not_stop_at_whole_pixels():
    # On a bilinear map with little blur, a solver stops at a displacement of whole pixels nearby.
    simulation = scene(theta=(443.0, -77.0), texture="rocks", duration_us=10_000)
    result = Cmax().run(window_of(simulation, 10_000), simulation.motion)
    assert error_px(simulation, result.theta, 10_000) < 0.1


def with_stuck_pixel(events):
    """Return events of 30 ms mixed with those of a pixel that fires at 100 kHz."""
    t = np.arange(0, DURATION_US, 10)
    stuck = Events(
        x=np.full(t.size, 100), y=np.full(t.size, 80), t=t, p=t >= 0, resolution=events.resolution
    )
    order = np.argsort(np.concatenate((events.t, stuck.t)), kind="stable")
    columns = {
        name: np.concatenate((getattr(events, name), getattr(stuck, name)))[order]
        for name in ("x", "y", "t", "p")
    }
    return Events(**columns, resolution=events.resolution)


@pytest.mark.parametrize(
    "method",
    [Cmax(), Sequential(filter="raw"), Eja(tau=0.9), Eja(tau=0.9, inner="bfgs"), Entropy()],
    ids=repr,
)
def test_stuck_pixel_does_not_hold_the_motion_at_zero(method):
    simulation = scene(theta=(200.0, 90.0), resolution=(240, 180))
    both = with_stuck_pixel(simulation.events)
    result = method.run(Window(both, 0, DURATION_US), simulation.motion)
    assert error_px(simulation, result.theta) < 0.1
    assert np.isfinite(result.score).all()


@pytest.mark.parametrize("motion", ["translation", "rotation", "affine"])
def test_warm_and_cold_search_find_the_same_motion(motion):
    simulation = scene(motion=motion, noise_hz=2.0)
    window = window_of(simulation)
    cold = Cmax().run(window, simulation.motion)
    warm = Cmax().run(window, simulation.motion, 1.1 * simulation.theta(0, DURATION_US))
    assert error_px(simulation, warm.theta) < error_px(simulation, cold.theta) + 0.05
    assert warm.n_eval < cold.n_eval


@pytest.mark.parametrize("start", [(-900.0, 700.0), (0.0, 0.0), (30_000.0, 0.0), (np.nan, 0.0)])
def test_wrong_start_does_not_affect_the_result(start):
    simulation = scene(theta=(500.0, -300.0), noise_hz=2.0)
    result = Cmax().run(window_of(simulation), simulation.motion, np.array(start))
    assert error_px(simulation, result.theta) < 0.1


@pytest.mark.parametrize(
    "method",
    [
        Sequential(filter="baf", filter_options={"tau_us": 3000}),
        Eja(tau=0.8),
        Eja(tau=0.8, inner="bfgs"),
        Eja(tau=0.8, score_from="signal", leave_one_out=True),
        Eja(tau=0.8, random_start=True, seed=5),
        Entropy(),
        Entropy(dispersion="renyi", polarity=False),
    ],
    ids=repr,
)
def test_every_method_recovers_the_motion(method):
    simulation = scene(noise_share=0.25, seed=4)
    result = method.run(window_of(simulation), simulation.motion)
    assert error_px(simulation, result.theta) < 0.15


@pytest.mark.parametrize("objective", list(OBJECTIVES))
def test_every_objective_recovers_the_motion(objective):
    simulation = scene(noise_hz=1.0, seed=6)
    result = Cmax(objective=objective).run(window_of(simulation), simulation.motion)
    assert error_px(simulation, result.theta) < 0.3


@pytest.mark.parametrize("solver", list(SOLVERS))
def test_every_solver_finds_a_small_motion_without_a_search(solver):
    simulation = scene(theta=(150.0, -100.0), resolution=(120, 90), seed=3)
    method = Cmax(solver=solver, start="zero", blurs_px=(4.0,))
    result = method.run(window_of(simulation), simulation.motion)
    assert error_px(simulation, result.theta) < 0.2


@pytest.mark.parametrize("inner", INNER)
def test_status_of_eja_depends_on_number_of_rounds(inner):
    simulation = scene(noise_share=0.25, seed=4, resolution=(120, 90))
    window = window_of(simulation)
    default = Eja(tau=0.8, inner=inner).run(window, simulation.motion)
    assert default.status is Status.CONVERGED
    more = Eja(tau=0.8, inner=inner, max_rounds=500).run(window, simulation.motion)
    np.testing.assert_array_equal(more.theta, default.theta)
    short = Eja(tau=0.8, inner=inner, max_rounds=1, tol_px=0.0).run(window, simulation.motion)
    assert short.status is Status.MAX_ITER


@pytest.mark.parametrize("score_from", SCORES_FROM)
@pytest.mark.parametrize("leave_one_out", [False, True])
def test_score_of_eja_is_the_map_value_at_each_event(score_from, leave_one_out):
    simulation = scene(noise_share=0.5, seed=7, resolution=(120, 90))
    method = Eja(
        tau=0.6, random_start=True, seed=3, max_rounds=1,
        score_from=score_from, leave_one_out=leave_one_out,
    )  # fmt: skip
    result = method.run(window_of(simulation), simulation.motion)
    n, x, y = len(result), result.aligned_x, result.aligned_y
    # In the first round, the signal is that of the random start.
    weight = np.ones(n) if score_from == "all" else method.first_labels(n).astype(float)
    for k in range(0, n, n // 25):
        others = weight.copy()
        if leave_one_out:
            others[k] = 0.0
        iwe = method.contrast.build(x, y, others, (120, 90))
        read = method.contrast.sample(iwe, x[k : k + 1], y[k : k + 1])[0]
        assert result.score[k] == pytest.approx(read, abs=1e-9)


def test_events_off_the_map_keep_their_label_in_eja():
    simulation = scene(theta=(600.0, 0.0), noise_share=0.25, resolution=(120, 90), seed=7)
    unpadded = ContrastMap(padding_px=0)
    results = [
        Eja(tau=0.8, contrast=unpadded, random_start=is_random, max_rounds=3).run(
            window_of(simulation), simulation.motion
        )
        for is_random in (False, True)
    ]
    for result in results:
        n = len(result)
        outside = (result.aligned_x < -1.0) | (result.aligned_x > 120.0)
        assert np.count_nonzero(outside) > 100
        labels = result.config.first_labels(n)
        np.testing.assert_array_equal(result.signal[outside], labels[outside])
        assert result.signal.sum() == np.ceil(0.8 * n)


def test_eja_keeps_the_share_tau_and_ranks_signal_first():
    simulation = scene(noise_share=0.5, seed=7)
    result = Eja(tau=2 / 3).run(window_of(simulation), simulation.motion)
    assert result.signal.sum() == np.ceil(len(result) * 2 / 3)
    truth = simulation.events.signal
    assert result.signal[truth].mean() > 0.9
    assert result.signal[~truth].mean() < 0.2


def lamps(jump_px, spacing_px=40):
    """Return a grid of lamps that flash after 1 ms and, ``jump_px`` further right, after 19 ms."""
    x, y = (
        side.ravel()
        for side in np.meshgrid(np.arange(20, 300, spacing_px), np.arange(20, 240, spacing_px))
    )
    x = np.concatenate((np.tile(x, 6), np.tile(x + jump_px, 6)))
    t = np.repeat([1000, 19_000], x.size // 2)
    events = Events(x=x, y=np.tile(y, 12), t=t, p=t > 0, resolution=(346, 260))
    return Window(events, 0, 20_000), MOTION_MODELS["translation"].for_sensor((346, 260))


def test_blurs_find_a_displacement_beyond_the_sharp_kernel():
    window, model = lamps(10)
    speed = 10.0 / 0.018
    for blurs_px, found in (((), 0.0), ((4.0, 2.0), speed), ((8.0, 4.0, 2.0), speed)):
        result = Cmax(start="zero", blurs_px=blurs_px).run(window, model)
        np.testing.assert_allclose(result.theta, [found, 0.0], atol=5.0)


@pytest.mark.parametrize("steps", [-1, 0, 1])
def test_start_zero_without_search_uses_theta0(steps):
    """The contrast has a maximum at every multiple of the grid spacing."""
    window, model = lamps(0)
    speed = steps * 40.0 / 0.018
    result = Cmax(start="zero").run(window, model, np.array([speed + 100.0, -50.0]))
    np.testing.assert_allclose(result.theta, [speed, 0.0], atol=5.0)


def test_score_of_cmax_is_the_leave_one_out_contrast():
    simulation = scene(noise_share=0.25, seed=7, resolution=(120, 90))
    method = Cmax()
    result = method.run(window_of(simulation), simulation.motion)
    n, x, y = len(result), result.aligned_x, result.aligned_y
    for k in range(0, n, n // 25):
        others = np.ones(n)
        others[k] = 0.0
        iwe = method.contrast.build(x, y, others, (120, 90))
        read = method.contrast.sample(iwe, x[k : k + 1], y[k : k + 1])[0]
        assert result.score[k] == pytest.approx(read, abs=1e-9)


def test_mirrored_scene_has_the_mirrored_motion():
    simulation = scene(noise_hz=2.0, theta=(250.0, 130.0))
    events = simulation.events
    mirrored = Events(
        x=345 - events.x.astype(int), y=events.y, t=events.t, p=events.p, resolution=(346, 260)
    )
    for method in ("cmax", "entropy"):
        plain = ESTIMATORS[method]().run(window_of(simulation), simulation.motion)
        other = ESTIMATORS[method]().run(Window(mirrored, 0, DURATION_US), simulation.motion)
        np.testing.assert_allclose(other.theta, plain.theta * (-1.0, 1.0), atol=1.0)


def test_noise_does_not_collapse():
    # Without a bound, an affine motion would gather noise at the center.
    rng = np.random.default_rng(0)
    n = 3000
    events = Events(
        x=rng.integers(0, 120, n), y=rng.integers(0, 90, n), t=np.sort(rng.integers(0, 30_000, n)),
        p=rng.integers(0, 2, n), resolution=(120, 90),
    )  # fmt: skip
    model = MOTION_MODELS["affine"].for_sensor((120, 90))
    result = Cmax().run(Window(events, 0, 30_000), model)
    span = float(np.ptp(result.aligned_x))
    assert 60.0 < span < 240.0


LENS = Camera(199.1, 198.8, 132.2, 110.7, (-0.368, 0.151, -3e-4, -8e-4, 0.0))


@pytest.mark.parametrize("theta", [(0.0, 8.0, 0.0), (5.0, 6.0, 0.0), (-3.0, -10.0, 3.0)])
@pytest.mark.parametrize("method", ["auto", "cmax", "exact", "eja", "entropy"])
def test_fast_rotation_is_not_bounded(method, theta):
    # Near the border of a wide lens, areas change by more than the collapse bound.
    simulation = scene(
        motion="rotation", theta=theta, resolution=(240, 180), camera=LENS, noise_hz=2.0
    )
    result = ESTIMATORS[method]().run(window_of(simulation), simulation.motion)
    assert result.status is Status.CONVERGED
    assert error_px(simulation, result.theta) < 0.2


#: Methods that detect collapse: in the search, in the solver after it, or at their own end.
COLLAPSING = {
    "auto": AutoRegret(),
    "cmax": Cmax(),
    "cmax with a solver": Cmax(solver="bfgs"),
    "cmax from zero": Cmax(start="zero"),
    "exact": ExactRegret(),
    "paper": PaperRegret(n_steps=200),
    "eja": Eja(),
    "entropy": Entropy(),
}


@pytest.mark.parametrize("growth", [15.0, -20.0])
@pytest.mark.parametrize("name", COLLAPSING)
def test_zoom_beyond_the_bound_has_status_collapsed(name, growth):
    simulation = scene(motion="zoom", theta=(growth,), resolution=(120, 90))
    result = COLLAPSING[name].run(window_of(simulation), simulation.motion)
    assert result.status is Status.COLLAPSED
    assert "max_log_area" in result.status.value
    # The penalty is steep: areas change by the bound and hardly more. "paper" has no penalty.
    change = log_area_change(simulation.motion, result.theta, (120, 90), DURATION_US / 1e6)
    if name != "paper":
        assert change == pytest.approx(MAX_LOG_AREA, rel=0.03)


@pytest.mark.parametrize("method", ["cmax", "exact", "eja", "entropy"])
def test_larger_bound_admits_a_fast_zoom(method):
    simulation = scene(motion="zoom", theta=(15.0,), resolution=(120, 90))
    estimator = ESTIMATORS[method](search=SearchConfig(max_log_area=2.0))
    result = estimator.run(window_of(simulation), simulation.motion)
    assert result.status is Status.CONVERGED
    assert error_px(simulation, result.theta) < 0.3


@pytest.mark.parametrize("polarity", POLARITIES)
@pytest.mark.parametrize("multi_reference", [False, True])
def test_polarities_and_multi_reference_recover_the_motion(polarity, multi_reference):
    simulation = scene(motion="similarity", noise_hz=2.0)
    method = Cmax(polarity=polarity, multi_reference=multi_reference)
    result = method.run(window_of(simulation), simulation.motion)
    default = Cmax().run(window_of(simulation), simulation.motion)
    assert result.status is Status.CONVERGED
    assert error_px(simulation, result.theta) < 0.2
    if (polarity, multi_reference) != ("unsigned", False):
        assert (result.theta != default.theta).any()


@pytest.mark.parametrize("solver", SOLVERS)
def test_start_with_all_events_off_the_map_has_status_outside(solver):
    simulation = scene(resolution=(60, 45))
    method = Cmax(start="zero", solver=solver)
    result = method.run(window_of(simulation), simulation.motion, np.array([1e7, 1e7]))
    assert result.status is Status.OUTSIDE
    assert (result.score == 0.0).mean() > 0.99
