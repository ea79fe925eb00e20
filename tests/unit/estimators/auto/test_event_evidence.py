"""Support, background and threshold of the default method, on events that are easy to judge."""

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from evcrisp import Camera, Events, Window, simulate
from evcrisp.estimators.auto import buffers as buffers_module
from evcrisp.estimators.auto import event_evidence as evidence_module
from evcrisp.estimators.auto.aligned_maps import IndexedWindow, Pixels
from evcrisp.estimators.auto.buffers import Buffer, thread_buffers
from evcrisp.estimators.auto.event_evidence import compute_evidence
from evcrisp.estimators.auto.exposure import exposure_of
from evcrisp.estimators.auto.noise_model import (
    LEAST_EVIDENCE,
    MAX_SAMPLES,
    background_rates,
    evidence_threshold,
    n_noise_samples_for,
    quiet_support,
    uniform_noise_samples,
)
from evcrisp.kernels.auto.support import MapPoints
from evcrisp.motion import MOTION_MODELS, Rotation, Translation, motion_model
from evcrisp.search.window_data import WindowData
from evcrisp.simulation import DEFAULT_THETA

RESOLUTION = (64, 48)
DURATION_US = 20_000


def noise(n, seed=0, resolution=RESOLUTION):
    rng = np.random.default_rng(seed)
    return Events(
        x=rng.integers(0, resolution[0], n),
        y=rng.integers(0, resolution[1], n),
        t=np.sort(rng.integers(0, DURATION_US, n)),
        p=rng.integers(0, 2, n).astype(bool),
        resolution=resolution,
    )


def line(speed_px_s, seed=0, p=True):
    """Return the events of an upright line that moves to the right: one of each pixel it passes."""
    rng = np.random.default_rng(seed)
    way_px = speed_px_s * DURATION_US / 1e6
    x, y = (c.ravel() for c in np.meshgrid(np.arange(int(way_px)), np.arange(RESOLUTION[1])))
    t = (1e6 * (x + rng.uniform(0.0, 1.0, x.size)) / speed_px_s).astype(np.int64)
    order = np.argsort(t, kind="stable")
    return Events(
        x=20 + x[order], y=y[order], t=t[order], p=np.full(x.size, p), resolution=RESOLUTION
    )


def merged(*parts):
    t = np.concatenate([part.t for part in parts])
    order = np.argsort(t, kind="stable")
    columns = {
        name: np.concatenate([getattr(part, name) for part in parts])[order] for name in "xyp"
    }
    which = np.repeat(np.arange(len(parts)), [len(part) for part in parts])[order]
    return Events(**columns, t=t[order], resolution=RESOLUTION), which


def weighed(events, theta=(0.0, 0.0), model=None, supporting=None, false_alarm=0.1):
    """Return the labels by the motion alone, their threshold and the background."""
    window = Window(events, 0, DURATION_US)
    data = WindowData.of(window, Translation() if model is None else model)
    supporting = np.ones(len(events), bool) if supporting is None else supporting
    found = compute_evidence(
        data, events, np.array(theta), supporting=supporting, false_alarm=false_alarm
    )
    labels = found.by_motion._asdict()
    return SimpleNamespace(**labels, threshold=found.threshold, background=found.background)


def evidence_of(events, theta=(0.0, 0.0), **options):
    """Return what speaks for each event, in events per px and window."""
    weighing = weighed(events, theta, **options)
    return weighing.score * weighing.threshold


def test_samples_are_uniform_over_sensor_time_and_polarity():
    samples = uniform_noise_samples(RESOLUTION, MAX_SAMPLES)
    half = RESOLUTION[0] * RESOLUTION[1]
    assert (np.diff(samples.source) >= 0).all()
    assert ((samples.source - samples.x - 64 * samples.y) % half == 0).all()
    columns = (samples.x >= 32, samples.y >= 24, samples.t >= 0.0, samples.p > 0)
    assert ((samples.source >= half) == samples.p).all()
    corners = sum(column.astype(int) << i for i, column in enumerate(columns))
    np.testing.assert_allclose(np.bincount(corners), MAX_SAMPLES / 16, rtol=0.05)


def sample_set(samples, x=None, y=None, t=None, p=None):
    columns = (
        samples.x if x is None else x, samples.y if y is None else y,
        samples.t if t is None else t, samples.p if p is None else p,
    )  # fmt: skip
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


@pytest.mark.parametrize("resolution", [(64, 48), (37, 50), (1, 3)])
def test_samples_have_no_direction(resolution):
    samples = uniform_noise_samples(resolution, 2048)
    wanted = sample_set(samples)
    assert samples.t.size == 2048
    assert sample_set(samples, x=resolution[0] - 1 - samples.x) == wanted
    assert sample_set(samples, y=resolution[1] - 1 - samples.y) == wanted
    assert sample_set(samples, p=1 - samples.p) == wanted
    turned = uniform_noise_samples(resolution[::-1], 2048)
    assert sample_set(turned, x=turned.y, y=turned.x) == wanted


def test_larger_windows_have_more_samples():
    assert [n_noise_samples_for(n) for n in (0, 40_000, 60_000, 10**8)] == [2048, 2048, 4096, 8192]


def test_noise_on_edges_and_between_them_is_kept_at_the_stated_rate():
    samples = np.concatenate((np.linspace(0.0, 1.0, 900), np.linspace(5.0, 9.0, 100)))
    events = np.concatenate((samples, np.full(2000, 20.0)))
    assert evidence_threshold(events, samples, 0.05) >= np.quantile(samples, 0.95)


def test_threshold_rises_while_no_signal_is_lost():
    samples = np.linspace(0.0, 1.0, 1000)
    events = np.concatenate((samples, np.full(1000, 3.0)))
    assert evidence_threshold(events, samples, 0.1) > 0.99


def test_threshold_of_pure_noise_keeps_almost_nothing():
    rng = np.random.default_rng(0)
    events, samples = rng.exponential(1.0, 5000), rng.exponential(1.0, MAX_SAMPLES)
    assert (events > evidence_threshold(events, samples, 0.1)).mean() < 0.01


def test_the_threshold_changes_little_from_window_to_window():
    """By 6 % of itself here. The very best one of each window would change by 8 %, and so would others."""
    rng = np.random.default_rng(2)
    thresholds = []
    for _ in range(300):
        signal, false, samples = rng.gamma(4.0, 2.0, 1000), *rng.exponential(1.0, (2, 1000))
        evidence = np.concatenate((signal, false))
        samples = np.concatenate((samples, rng.exponential(1.0, 1048)))
        thresholds.append(evidence_threshold(evidence, samples, 0.1))
    assert np.std(thresholds) < 0.071 * np.mean(thresholds)


def test_the_threshold_is_never_below_the_least_evidence():
    assert evidence_threshold(np.empty(0), np.zeros(10), 0.1) == LEAST_EVIDENCE
    assert evidence_threshold(np.full(5, -1.0), np.full(10, -1.0), 0.1) == LEAST_EVIDENCE


@pytest.mark.parametrize("rate", [0.01, 0.1, 1.0])
@pytest.mark.parametrize("share_on", [0.5, 0.8])
def test_the_background_is_found_beside_moving_lines(rate, share_on):
    n = round(rate * 2 * RESOLUTION[0] * RESOLUTION[1])
    background = noise(n, seed=3)
    p = np.random.default_rng(4).random(n) < share_on
    background = Events(x=background.x, y=background.y, t=background.t, p=p, resolution=RESOLUTION)
    events, _ = merged(background, line(500.0, p=True), line(500.0, seed=1, p=False))
    found = weighed(events, (500.0, 0.0)).background
    true = 2 * rate * np.array([1.0 - share_on, share_on])
    # Three standard deviations of the count on the fifth of the positions that decides.
    tolerance = 3.0 / np.sqrt(0.2 * true * RESOLUTION[0] * RESOLUTION[1])
    assert (np.abs(found / true - 1.0) < tolerance + 0.1).all()


def test_rates_without_events_are_above_zero():
    none, zeros = np.empty(0), np.zeros(100)
    p = np.repeat(np.array([0, 1], np.uint8), 50)
    quiet, share = quiet_support(zeros, p)
    rates = background_rates(none, none.astype(np.uint8), quiet, share, 1000)
    np.testing.assert_allclose(rates, 0.5 / 1000)


def test_a_moving_line_is_signal_and_the_noise_around_it_is_not():
    events, which = merged(noise(600), line(800.0))
    signal = weighed(events, (800.0, 0.0)).signal
    assert signal[which == 1].mean() > 0.95
    assert signal[which == 0].mean() < 0.12


def test_line_supports_its_own_polarity_only():
    events, which = merged(line(800.0), line(800.0, seed=5, p=False)[:20])
    evidence = evidence_of(events, (800.0, 0.0))
    assert np.median(evidence[which == 0]) > 10 * np.median(evidence[which == 1])


def test_pixel_does_not_support_itself():
    """A pixel that fires again and again has the support of nobody."""
    n = 40
    alone = Events(
        x=[10] * n, y=[10] * n, t=np.arange(n) * 400, p=[True] * n, resolution=RESOLUTION
    )
    for theta in ((0.0, 0.0), (300.0, 0.0)):
        evidence = weighed(alone, theta)
        assert (evidence.score <= 0.0).all()
        assert not evidence.signal.any()


def support_of(events, theta=(0.0, 0.0)):
    """Return what other pixels put at the place of each event, in events per px and window."""
    data = WindowData.of(Window(events, 0, DURATION_US), Translation())
    view = IndexedWindow.of(data, Pixels(events.x, events.y, events.p), thread_buffers()).at(
        data.warp, np.array(theta), np.ones(len(events), bool)
    )
    return view.support()[0]


@pytest.mark.parametrize("n", [2, 8, 40])
@pytest.mark.parametrize("spacing_px", [0.3, 0.9, 1.2, 1.6, 2.1])
def test_a_pixel_does_not_support_itself_at_any_distance(n, spacing_px):
    t = (np.arange(n) * 400).astype(np.int64)
    alone = Events(x=[30] * n, y=[20] * n, t=t, p=[True] * n, resolution=RESOLUTION)
    np.testing.assert_array_equal(support_of(alone, (spacing_px / 400e-6, 0.0)), 0.0)


@pytest.mark.parametrize(
    ("away", "support"),
    [
        # A vote is (1, 6, 1) / 8 along each axis, and so is a look: (1, 12, 38, 12, 1) / 64 together.
        ((0, 1), 38 * 12 / 64**2),
        ((1, 1), 12 * 12 / 64**2),
        ((2, 0), 1 * 38 / 64**2),
        ((0, 3), 0.0),
    ],
)
def test_support_of_two_neighbors_is_the_overlap_of_their_footprints(away, support):
    x, y = np.array([30, 30 + away[0]]), np.array([20, 20 + away[1]])
    pair = Events(x=x, y=y, t=[5000, 15_000], p=[True, True], resolution=RESOLUTION)
    np.testing.assert_allclose(support_of(pair), support, rtol=1e-5)


def test_event_shortly_after_another_of_its_pixel_has_less_evidence():
    events = line(800.0, seed=7)
    theta = (800.0, 0.0)
    value = evidence_of(events, theta)
    k = int(np.argmax(value * (np.abs(events.t - DURATION_US // 2) < 5000)))
    again = Events(
        x=events.x[[k]], y=events.y[[k]], t=events.t[[k]] + 5, p=[True], resolution=RESOLUTION
    )
    both, which = merged(events, again)
    assert evidence_of(both, theta)[which == 1][0] < 0.3 * value[k]


def test_excluded_events_support_no_others():
    events, which = merged(noise(300), line(800.0))
    evidence = weighed(events, (800.0, 0.0), supporting=which == 0)
    assert evidence.signal[which == 1].mean() < 0.1


@pytest.mark.parametrize("motion", ["translation", "rotation"])
def test_processing_by_rows_gives_the_same_evidence(motion, monkeypatch):
    scene = simulate(
        resolution=(160, 120), motion=motion, duration_us=DURATION_US, noise_hz=20.0, seed=3
    )
    data = WindowData.of(Window(scene.events, 0, DURATION_US), scene.motion)
    supporting = np.random.default_rng(1).random(len(data)) < 0.95
    settings = {"supporting": supporting, "false_alarm": 0.1}
    theta = scene.theta(0, DURATION_US)
    plain = compute_evidence(data, scene.events, theta, **settings)
    monkeypatch.setattr(evidence_module, "_MANY_EVENTS", 100)
    rows = compute_evidence(data, scene.events, theta, **settings)
    # Maps add up in another order, in single precision.
    assert rows.threshold == pytest.approx(plain.threshold, rel=1e-4)
    for name in ("labels", "by_motion"):
        found, expected = getattr(rows, name), getattr(plain, name)
        np.testing.assert_allclose(found.score, expected.score, rtol=1e-4, atol=1e-4)
        assert (found.signal == expected.signal).mean() > 0.9999
    assert rows.background == pytest.approx(plain.background, rel=1e-6)


def test_tiny_false_alarm_rate_has_a_threshold():
    rng = np.random.default_rng(1)
    samples = rng.exponential(1.0, 500)
    for false_alarm in (1e-17, 1e-6):
        assert evidence_threshold(rng.exponential(3.0, 900), samples, false_alarm) == samples.max()


def exposure_at(model, theta, x, y, padding):
    """Return the share of the window in which positions, px of the sensor, count as in view."""
    x, y = (np.asarray(c, np.float32) + padding for c in (x, y))
    points = MapPoints(x, y, x, y, np.zeros(x.size, np.int32), x, np.zeros(x.size, np.uint8))
    value = np.ones(x.size, np.float32)
    exposure_of(model, np.asarray(theta), DURATION_US / 1e6, RESOLUTION, padding, thread_buffers())(
        value, points
    )
    return 1.0 / value


def seen_share(model, theta, x, y):
    """Return the share of many moments in which a pixel sees each place, times how many do."""
    seen = np.zeros(x.size)
    width, height = RESOLUTION
    for dt in (np.arange(400) + 0.5) / 400 - 0.5:
        t = dt * DURATION_US / 1e6
        u, v = model.inverse(theta, x, y, t)
        # By how many pixels, from the positions half a px to each side.
        (au, av), (bu, bv) = (model.inverse(theta, x + s, y, t) for s in (-0.5, 0.5))
        (cu, cv), (du, dv) = (model.inverse(theta, x, y + s, t) for s in (-0.5, 0.5))
        area = np.abs((bu - au) * (dv - cv) - (bv - av) * (du - cu))
        inside = (u >= -0.5) & (u <= width - 0.5) & (v >= -0.5) & (v <= height - 0.5)
        seen += np.where(inside, area, 0.0)
    return seen / 400


@pytest.mark.parametrize("name", [*MOTION_MODELS, "bent rotation"])
def test_exposure_equals_the_simulated_time_in_view(name):
    bent = Camera(60.0, 60.0, 30.0, 25.0, (-0.3, 0.1, 1e-3, -1e-3, 0.0))
    model = Rotation(bent) if name == "bent rotation" else motion_model(name, RESOLUTION)
    theta = np.array(DEFAULT_THETA[model.name]) * 2.0
    padding = 20
    x, y = (c.ravel() for c in np.meshgrid(np.arange(-16.0, 80.0), np.arange(-16.0, 64.0)))
    found = exposure_at(model, theta, x, y, padding)
    expected = np.maximum(seen_share(model, theta, x, y), 0.1)
    # Where a border moves by less than 2 px, it is taken to be as soft as if it did.
    assert np.abs(found - expected).mean() < 0.02
    assert np.quantile(np.abs(found - expected), 0.98) < 0.3
    inside = (np.abs(x - 31.5) < 20.0) & (np.abs(y - 23.5) < 14.0)
    # Areas are told by nodes 8 px apart, on a lens with a focal length of 60.
    np.testing.assert_allclose(found[inside], expected[inside], atol=0.03)


def test_similarity_without_rotation_and_growth_exposes_like_translation():
    x, y = (c.ravel() for c in np.meshgrid(np.arange(-20.0, 84.0), np.arange(-20.0, 68.0)))
    still = exposure_at(Translation(), (700.0, -400.0), x, y, 24)
    theta = (700.0, -400.0, 0.0, 0.0)
    other = exposure_at(motion_model("similarity", RESOLUTION), theta, x, y, 24)
    np.testing.assert_allclose(other, still, atol=1e-4)


@pytest.mark.parametrize("name", ["translation", "affine"])
def test_positions_in_view_for_half_the_window_have_exposure_one_half(name):
    model = motion_model(name, RESOLUTION)
    theta = np.zeros(len(model.param_names))
    theta[0] = 1000.0  # 20 px within the window
    padding = 24
    found = exposure_at(model, theta, [32.0, -0.5, 63.5, -5.5, 3.5], np.full(5, 24.0), padding)
    np.testing.assert_allclose(found, [1.0, 0.5, 0.5, 0.25, 0.7], atol=1e-3)


def exposures_at(x, theta):
    """Return the share of the window in which positions of a row in the middle of the view are seen."""
    padding = 60
    x = np.array(x, np.float32) + padding
    y = np.full(x.size, 24.0 + padding, np.float32)
    value, points = (
        np.ones(x.size, np.float32),
        MapPoints(x, y, x, y, np.zeros(x.size, np.int32), x, y),
    )
    exposure_of(
        Translation(), np.array(theta), DURATION_US / 1e6, RESOLUTION, padding, thread_buffers()
    )(value, points)
    return 1.0 / value


def test_exposure_is_at_least_one_tenth():
    # 40 px within the window: the left side of the view is at 19.5 at first, at -20.5 in the end.
    seen = exposures_at([19.5, -0.5, -12.5, -14.5, -17.5, -20.0, -30.0], (2000.0, 0.0))
    np.testing.assert_allclose(seen, [1.0, 0.5, 0.2, 0.15, 0.1, 0.1, 0.1], rtol=1e-4)


def test_border_at_rest_is_as_soft_as_the_footprints():
    """Of events that fill the view, positions near its border read less."""
    fine = np.linspace(-0.5, 20.0, 20_501)
    positions = np.array([-1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 1.5, 9.0])
    d = np.abs(fine[:, None] - positions)
    # Voting and reading by quadratic splines is about a Gaussian of variance 1/4 each.
    expected = np.exp(-(d**2)).sum(axis=0) / np.exp(-(np.linspace(-20, 20, 40_001) ** 2)).sum()
    np.testing.assert_allclose(exposures_at(positions, (0.0, 0.0)), expected, atol=0.1)


def exposed_by(theta):
    """Return what is left of a count of 1 in the middle of the view."""
    x = np.array([32.0], np.float32)
    value, points = np.ones(1, np.float32), MapPoints(x, x, x, x, np.zeros(1, np.int32), x, x)
    exposure_of(Translation(), np.array(theta), DURATION_US / 1e6, RESOLUTION, 3, thread_buffers())(
        value, points
    )
    return value[0]


@pytest.mark.parametrize("theta", [(0.0, 0.0), (-0.0, 30.0)])
def test_center_has_full_exposure_at_small_motion(theta):
    assert exposed_by(theta) == 1.0


@pytest.mark.parametrize("theta", [(np.nan, 1.0), (np.inf, -np.inf), (1e300, 0.0)])
def test_exposure_is_finite_at_absurd_motions(theta):
    assert 1.0 <= exposed_by(theta) <= 10.0


def test_map_contains_all_points_at_moderate_motions():
    events, _ = merged(noise(50), line(2000.0))
    data = WindowData.of(Window(events, 0, DURATION_US), Translation())
    window = IndexedWindow.of(data, Pixels(events.x, events.y, events.p), thread_buffers())
    support, sample_support = window.at(
        data.warp, np.array([2000.0, -900.0]), np.ones(len(events), bool)
    ).support()
    assert support.min() >= 0.0
    assert sample_support.min() >= 0.0


@pytest.mark.parametrize("theta", [(1e5, 0.0), (1e300, 1e300), (np.nan, 0.0), (np.inf, 0.0)])
def test_events_that_leave_the_map_are_judged_by_the_pixels_around_them(theta):
    events, which = merged(noise(600), line(100.0))
    evidence = weighed(events, theta)
    assert np.isfinite(evidence.score).all()
    assert evidence.signal[which == 1].mean() > 0.5
    assert evidence.signal[which == 0].mean() < 0.15


@pytest.mark.parametrize("name", MOTION_MODELS)
@pytest.mark.parametrize("n", [0, 1, 2, 30])
def test_any_number_of_events_has_evidence(name, n):
    events = noise(n)
    model = motion_model(name, RESOLUTION)
    evidence = weighed(events, np.zeros(len(model.param_names)), model)
    assert evidence.score.shape == (n,)
    assert np.isfinite(evidence.score).all()
    assert np.isfinite(evidence.confidence).all()


@pytest.mark.parametrize("resolution", [(1, 1), (2, 3), (5, 1)])
def test_tiny_sensors_are_supported(resolution):
    evidence = weighed(noise(50, resolution=resolution))
    assert np.isfinite(evidence.score).all()


def test_threads_do_not_disturb_each_other():
    cases = [merged(noise(400, seed=k), line(800.0, seed=k))[0] for k in range(8)]
    alone = [weighed(events, (800.0, 0.0)) for events in cases]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda events: weighed(events, (800.0, 0.0)), cases * 4))
    for k, evidence in enumerate(together):
        np.testing.assert_array_equal(evidence.score, alone[k % 8].score)
        assert evidence.threshold == alone[k % 8].threshold


def test_buffers_of_huge_windows_are_released(monkeypatch):
    buffer = Buffer(np.float32)
    kept = buffer(100)
    assert np.shares_memory(kept, buffer(50))
    monkeypatch.setattr(buffers_module, "MAX_KEPT", 60)
    assert not np.shares_memory(kept, buffer(100))
    events = merged(noise(400), line(800.0))[0]
    monkeypatch.undo()
    evidence = weighed(events, (800.0, 0.0))
    monkeypatch.setattr(buffers_module, "MAX_KEPT", 10)
    np.testing.assert_array_equal(weighed(events, (800.0, 0.0)).score, evidence.score)
