"""The default method as an estimator: what its result holds, and hard windows."""

import numpy as np
import pytest

import evcrisp
from evcrisp import ConfigError, Events, Window
from evcrisp.core.status import Status
from evcrisp.estimators.auto.auto import AutoRegret
from evcrisp.estimators.auto.event_evidence import compute_evidence
from evcrisp.estimators.baselines.cmax import Cmax
from evcrisp.estimators.estimate import model_for
from evcrisp.estimators.hot_pixels import hot_events
from evcrisp.motion import MOTION_MODELS, motion_model
from evcrisp.search.search import find_motion
from evcrisp.search.window_data import WindowData


@pytest.fixture(scope="module")
def scene():
    return evcrisp.simulate(
        resolution=(120, 90), theta=(300.0, -150.0), duration_us=30_000, noise_hz=10.0, seed=3
    )


@pytest.fixture(scope="module")
def result(scene):
    return AutoRegret().run(Window(scene.events, 0, 30_000), scene.motion)


def test_signal_is_confidence_above_one_half(result):
    np.testing.assert_array_equal(result.signal, result.confidence > 0.5)
    np.testing.assert_array_equal(result.signal, result.score > 1.0)


def test_confidence_grows_with_the_score(result):
    order = np.argsort(result.score)
    assert (np.diff(result.confidence[order]) >= 0.0).all()
    assert result.confidence.min() >= 0.0
    assert result.confidence.max() <= 1.0


def test_aligned_positions_belong_to_the_reported_motion(scene, result):
    dt = (scene.events.t - 15_000) / 1e6
    x, y = scene.motion.warp(result.theta, scene.events.x, scene.events.y, dt)
    np.testing.assert_allclose(result.aligned_x, x)
    np.testing.assert_allclose(result.aligned_y, y)
    assert result.status is Status.CONVERGED
    assert result.n_eval > 0


def test_alignment_decides_the_joint_problem(result):
    regret = result.regret
    assert regret.lam == 0.0
    assert regret.regret_ea >= regret.regret_ed - 1e-12
    assert regret.f_ea > regret.baseline_ed
    assert np.isfinite(regret.value)
    assert type(regret.value) is type(regret.f_ea) is type(regret.baseline_ed) is float


def spline_map(x, y, padding_px, shape, weight=None):
    """Return the map of votes by quadratic B-splines, event by event."""
    out = np.zeros(shape)
    weight = np.ones(x.size) if weight is None else weight
    for u, v, w in zip(x + padding_px, y + padding_px, weight, strict=True):
        i, j = round(float(u)), round(float(v))
        across, down = (
            [0.5 * (0.5 - d) ** 2, 0.75 - d**2, 0.5 * (0.5 + d) ** 2] for d in (u - i, v - j)
        )
        out[j - 1 : j + 2, i - 1 : i + 2] += w * np.outer(down, across)
    return out


@pytest.mark.parametrize("seed", [5, 6])
def test_joint_objectives_follow_their_definition(seed):
    scene = evcrisp.simulate(
        resolution=(80, 60), theta=(300.0, -150.0), duration_us=30_000, noise_hz=5.0,
        hot_pixels=8, hot_hz=1000.0, seed=seed,
    )  # fmt: skip
    window = Window(scene.events, 0, 30_000)
    result = AutoRegret().run(window, scene.motion)
    data, cool = WindowData.of(window, scene.motion), ~hot_events(scene.events)
    assert 100 < np.count_nonzero(~cool) < 1000
    theta = find_motion(data.subset(cool)).theta
    told = compute_evidence(data, scene.events, theta, supporting=cool, false_alarm=0.1)
    t0 = told.threshold

    shape = result.w_map.shape
    padding_px = (shape[0] - 60) // 2
    events = scene.events[cool]
    x, y = scene.motion.warp(theta, events.x, events.y, (events.t - 15_000) / 1e6)
    maps = [spline_map(x[events.p == p], y[events.p == p], padding_px, shape) for p in (0, 1)]
    still = spline_map(events.x.astype(float), events.y.astype(float), padding_px, shape)
    total = maps[0] + maps[1]
    kept = spline_map(x, y, padding_px, shape, told.labels.confidence[cool])
    w_map = np.divide(kept, total, out=np.zeros(shape), where=total > 0.0)

    np.testing.assert_allclose(result.w_map, w_map, atol=1e-4)
    regret = result.regret
    assert regret.f_ea == pytest.approx(np.var(total), rel=1e-4)
    assert regret.f_ed == pytest.approx(np.var(w_map * total), rel=1e-4)
    assert regret.baseline_ed == pytest.approx(np.var(still), rel=1e-4)
    # J = larger regret + alpha |W| + beta |W M - M|^2 with beta = 1 / P, and alpha so that W is
    # 1/2 at the threshold: alpha / (2 beta) = t0^2 / 2.
    worst = max(regret.baseline_ea - np.var(total), np.var(kept) - np.var(still))
    price = t0**2 * np.mean(w_map) + np.mean((kept - total) ** 2)
    assert regret.value == pytest.approx(worst + price, rel=1e-4)
    assert regret.baseline_ea == pytest.approx(np.var(total) + max(regret.regret_ed, 0.0), rel=1e-4)


def test_w_map_lies_between_0_and_1(result):
    assert result.w_map.min() >= 0.0
    assert result.w_map.max() <= 1.0
    assert 0.0 < (result.w_map > 0.5).mean() < 0.5


@pytest.mark.parametrize("motion", ["translation", "auto"])
def test_a_session_without_map_gives_the_same_motions_and_labels(scene, motion):
    method, model = AutoRegret(), model_for(motion, scene.events.resolution)
    sessions = (
        method.start_session(scene.events.resolution),
        method.start_session_without_map(scene.events.resolution),
    )
    for t_start in (0, 15_000):
        window = Window(scene.events.between(t_start, t_start + 15_000), t_start, t_start + 15_000)
        full, lean = (session.run(window, model) for session in sessions)
        assert full.w_map is not None
        assert full.regret is not None
        assert (lean.w_map, lean.regret) == (None, None)
        np.testing.assert_array_equal(lean.theta, full.theta)
        np.testing.assert_array_equal(lean.confidence, full.confidence)
        np.testing.assert_array_equal(lean.aligned_x, full.aligned_x)


def test_motion_is_near_the_truth(scene, result):
    assert scene.warp_error_px(result.theta, 0, 30_000) < 0.1


def test_warm_start_gives_the_same_motion(scene, result):
    window = Window(scene.events, 0, 30_000)
    warm = AutoRegret().run(window, scene.motion, result.theta + 5.0)
    np.testing.assert_allclose(warm.theta, result.theta, atol=3.0)


def test_refined_motion_is_better_than_that_of_all_events(scene):
    """Ten windows with as much noise as signal: on average, not in each of them."""
    errors = []
    for seed in range(10):
        noisy = evcrisp.simulate(
            resolution=(120, 90), duration_us=30_000, noise_share=1.0, seed=100 + seed
        )
        window = Window(noisy.events, 0, 30_000)
        methods = (AutoRegret(), Cmax())
        errors.append(
            [noisy.warp_error_px(m.run(window, noisy.motion).theta, 0, 30_000) for m in methods]
        )
    with_labels, without = np.mean(errors, axis=0)
    assert with_labels < without < 0.2


def test_the_same_events_give_the_same_bytes(scene, result):
    other = evcrisp.simulate(resolution=(80, 60), duration_us=20_000, noise_hz=5.0, seed=4)
    AutoRegret().run(Window(other.events, 0, 20_000), other.motion)
    again = AutoRegret().run(Window(scene.events, 0, 30_000), scene.motion)
    for name in ("theta", "signal", "score", "confidence", "w_map"):
        assert getattr(again, name).tobytes() == getattr(result, name).tobytes()


def test_hot_pixels_are_noise():
    scene = evcrisp.simulate(
        resolution=(120, 90), duration_us=30_000, hot_pixels=20, hot_hz=1000.0, seed=5
    )
    result = AutoRegret().run(Window(scene.events, 0, 30_000), scene.motion)
    signal = np.asarray(scene.events.signal)
    assert result.signal[~signal].mean() < 0.05
    assert result.signal[signal].mean() > 0.9
    assert scene.warp_error_px(result.theta, 0, 30_000) < 0.2


@pytest.mark.parametrize("noise_hz", [1.0, 10.0, 50.0])
def test_pure_noise_is_dropped(make_events, noise_hz):
    n = round(noise_hz * 0.03 * 346 * 260)
    events = make_events(n, t_start=0, duration_us=30_000, seed=round(noise_hz))
    result = AutoRegret().run(Window(events, 0, 30_000), motion_model("translation", (346, 260)))
    assert result.signal.mean() <= 0.12


def test_noiseless_signal_is_kept(scene):
    clean = scene.events[np.asarray(scene.events.signal)]
    result = AutoRegret().run(Window(clean, 0, 30_000), scene.motion)
    assert result.signal.mean() > 0.93


def one_pixel(n):
    return Events(x=[5] * n, y=[7] * n, t=range(n), p=[True] * n, resolution=(64, 48))


def one_time(n):
    rng = np.random.default_rng(0)
    return Events(
        x=rng.integers(0, 64, n),
        y=rng.integers(0, 48, n),
        t=[9] * n,
        p=rng.integers(0, 2, n),
        resolution=(64, 48),
    )


@pytest.mark.parametrize("name", MOTION_MODELS)
@pytest.mark.parametrize(
    "events",
    [one_pixel(0), one_pixel(1), one_pixel(200), one_time(5), one_time(300)],
    ids=["none", "one", "one pixel", "few at one time", "many at one time"],
)
def test_uninformative_window_has_a_status(name, events):
    result = AutoRegret().run(Window(events, 0, 1000), motion_model(name, (64, 48)))
    assert result.status in (Status.TOO_FEW_EVENTS, Status.FLAT)
    assert len(result) == len(events)
    assert np.isfinite(result.theta).all()
    assert np.isfinite(result.score).all()
    assert np.isfinite(result.confidence).all()


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, float("nan")])
def test_false_alarm_outside_0_to_1_is_refused(share):
    with pytest.raises(ConfigError, match="`false_alarm` must lie between 0 and 1; got"):
        AutoRegret(false_alarm=share)


@pytest.mark.parametrize("n", [10, 100, 1000])
def test_motion_of_noise_has_a_warning(make_events, n):
    events = make_events(n, t_start=0, duration_us=30_000, seed=n)
    result = AutoRegret().run(Window(events, 0, 30_000), motion_model("translation", (346, 260)))
    assert result.status is Status.CONVERGED
    assert "The motion may be chance" in result.warnings[0]


def test_motion_of_signal_has_no_warning(result):
    assert result.warnings == ()
