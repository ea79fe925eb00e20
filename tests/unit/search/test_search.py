"""The parts of the search: scaled parameters, the guard, the frame, levels, hot pixels."""

import math

import numpy as np
import pytest

from evcrisp import Camera, Events, Window, simulate
from evcrisp.contrast import ContrastMap
from evcrisp.core.errors import ConfigError, UnknownNameError
from evcrisp.estimators.baselines.cmax import Cmax
from evcrisp.estimators.baselines.eja import Eja, largest
from evcrisp.estimators.baselines.entropy import Entropy, PointCloud
from evcrisp.estimators.baselines.sequential import Sequential
from evcrisp.estimators.hot_pixels import hot_events
from evcrisp.kernels.contrast import splat
from evcrisp.kernels.search.structure_tensor import structure_tensor
from evcrisp.motion import MOTION_MODELS, motion_model
from evcrisp.objectives import MeanSquare
from evcrisp.search import curvature
from evcrisp.search.alignment import Alignment
from evcrisp.search.border_bias import BorderBias, border_density
from evcrisp.search.collapse_penalty import CollapsePenalty, log_area_change
from evcrisp.search.curvature import _ISOLATED_ENERGY, TYPICAL_CURVATURE, inverse_curvature
from evcrisp.search.multiscale_objective import LevelObjective, subsampled
from evcrisp.search.scaling import Scaling, main_directions, sensor_points
from evcrisp.search.search import SearchConfig, _passes, find_motion, search_problem
from evcrisp.search.window_data import WindowData
from evcrisp.simulation import DEFAULT_THETA

RESOLUTION = (120, 90)

models = pytest.mark.parametrize("motion", list(MOTION_MODELS))


def data_of(motion="translation", **settings):
    scene = simulate(
        **{
            "resolution": RESOLUTION, "duration_us": 20_000, "seed": 1, "motion": motion,
            "noise_hz": 2.0, **settings,
        }
    )  # fmt: skip
    return scene, WindowData.of(Window(scene.events, 0, 20_000), scene.motion)


def moving_points(*thetas, n, per_point=24, resolution=(346, 260), seed=0):
    """Return 20 ms of points that move evenly, each firing now and then; a set for each motion."""
    rng = np.random.default_rng(seed)
    parts = []
    for theta, n_points in zip(thetas, np.broadcast_to(n, len(thetas)), strict=True):
        t = rng.integers(0, 20_000, (n_points, per_point))
        places = []
        for speed, size in zip(theta, resolution, strict=True):
            way_px = abs(speed) * 0.02
            start = rng.uniform(-0.5 * way_px, size + 0.5 * way_px, n_points)[:, None]
            places.append(np.rint(start + speed * (t - 10_000) / 1e6).ravel())
        parts.append((*places, t.ravel()))
    x, y, t = (np.concatenate(column) for column in zip(*parts, strict=True))
    inside = (x >= 0) & (x < resolution[0]) & (y >= 0) & (y < resolution[1])
    order = np.flatnonzero(inside)[np.argsort(t[inside], kind="stable")]
    events = Events(
        x=x[order].astype(int), y=y[order].astype(int), t=t[order],
        p=np.ones(order.size, bool), resolution=resolution,
    )  # fmt: skip
    return WindowData.of(Window(events, 0, 20_000), motion_model("translation", resolution))


@models
def test_the_length_of_scaled_parameters_is_the_displacement(motion):
    model = motion_model(motion, RESOLUTION)
    scaling = Scaling.of(model, RESOLUTION, 0.02)
    x, y = sensor_points(RESOLUTION)
    rng = np.random.default_rng(0)
    for _ in range(5):
        scaled = rng.normal(size=len(model.param_names))
        scaled *= 0.1 / np.linalg.norm(scaled)
        moved = model.warp(scaling.theta(scaled), x, y, 0.02)
        still = model.warp(0.0 * scaled, x, y, 0.02)
        rms = np.sqrt(np.mean((moved[0] - still[0]) ** 2 + (moved[1] - still[1]) ** 2))
        assert rms == pytest.approx(0.1, rel=1e-2)


@models
def test_scaling_there_and_back_changes_nothing(motion):
    scaling = Scaling.of(motion_model(motion, RESOLUTION), RESOLUTION, 0.05)
    theta = np.array(DEFAULT_THETA[motion])
    np.testing.assert_allclose(scaling.theta(scaling.scaled(theta)), theta, rtol=1e-10)


@models
def test_a_gradient_is_scaled_like_a_derivative(motion):
    scaling = Scaling.of(motion_model(motion, RESOLUTION), RESOLUTION, 0.05)
    n = len(scaling.forward)
    slope, step = np.random.default_rng(2).normal(size=(2, n))
    assert slope @ scaling.theta(step) == pytest.approx(scaling.gradient(slope) @ step)


def test_directions_are_what_a_model_can_do():
    shift = main_directions(motion_model("translation", RESOLUTION), RESOLUTION)
    np.testing.assert_allclose(shift, np.eye(2), atol=1e-6)
    counts = {
        "zoom": 1,
        "translation": 2,
        "rotation": 3,
        "similarity": 4,
        "affine": 4,
        "homography": 4,
    }
    for motion, n in counts.items():
        rows = main_directions(motion_model(motion, RESOLUTION), RESOLUTION)
        assert len(rows) == n
        np.testing.assert_allclose(rows @ rows.T, np.eye(n), atol=1e-9)


@models
def test_the_sharpness_of_a_level_has_the_gradient_it_says(motion):
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


@models
@pytest.mark.parametrize("noise_hz", [0.0, 10.0])
def test_the_map_tells_how_sharp_the_top_is(monkeypatch, motion, noise_hz):
    monkeypatch.setattr(curvature, "_MIN_RELATIVE", 0.0)
    _, data = data_of(motion, resolution=(240, 180), noise_hz=noise_hz)
    problem = search_problem(data, SearchConfig())
    scaled = problem.scaling.scaled(find_motion(data).theta)
    level = LevelObjective.around(problem, scaled, scale=2, n_events=10**9, margin_px=8.0)
    steps = 0.15 * np.eye(scaled.size)
    second = -np.array([level(scaled + s)[1] - level(scaled - s)[1] for s in steps]) / 0.3
    level(scaled)
    # A step by the curvature that is told goes this share of the way to the top.
    shares = np.linalg.eigvals(level.inverse_curvature() @ (0.5 * (second + second.T))).real
    assert 0.4 < shares.min() <= shares.max() < 1.4
    assert shares.mean() == pytest.approx(1.0, abs=0.25)


def test_no_direction_is_much_flatter_than_others():
    _, data = data_of(texture="stripes")
    problem = search_problem(data, SearchConfig())
    level = LevelObjective.around(problem, np.zeros(2), scale=2, n_events=10**9, margin_px=8.0)
    level(problem.scaling.scaled(find_motion(data).theta))
    steep, flat = 1.0 / np.linalg.eigvalsh(level.inverse_curvature())
    assert flat == pytest.approx(0.2 * steep)
    # Where it only leads towards the top, steps are no longer than usual.
    assert np.linalg.eigvalsh(level.inverse_curvature(1.0)).max() <= 4.0 / TYPICAL_CURVATURE * (
        1.0 + 1e-9
    )


def test_a_lone_event_adds_what_is_left_out():
    """Noise whose events are all alone has the curvature of what counts of them, and not more."""
    rng = np.random.default_rng(8)
    x, y = np.meshgrid(np.arange(0.0, 400.0, 10.0), np.arange(0.0, 300.0, 10.0))
    x, y = (side.ravel() + rng.uniform(-2.0, 2.0, side.size) for side in (x, y))
    image = np.zeros((170, 220))
    splat.accumulate_spline(0.5 * x + 8.0, 0.5 * y + 8.0, np.ones(x.size), image)
    steep, _ = structure_tensor(image, 500, *np.zeros((2, 1, 1, 1)), np.empty((1, 1)))
    assert steep == pytest.approx(2.0 * _ISOLATED_ENERGY * x.size, rel=0.03)


@models
def test_the_curvature_of_a_map_far_off_the_sensor_is_finite(motion):
    """A lens with distortion has no rays far outside."""
    camera = Camera(100.0, 100.0, 59.5, 44.5, distortion=(-0.2, 0.0, 0.0, 0.0, 0.0))
    model = motion_model(motion, RESOLUTION, camera if motion == "rotation" else None)
    image = np.random.default_rng(9).random((400, 500))
    matrix = inverse_curvature(image, (-450.0, -350.0), 2, 1000, model, RESOLUTION)
    assert np.linalg.eigvalsh(matrix).min() > 0.0


def test_a_map_without_anything_has_hardly_a_curvature():
    _, data = data_of()
    level = LevelObjective.around(
        search_problem(data, SearchConfig()), np.zeros(2), scale=2, n_events=100, margin_px=8.0
    )
    level(np.zeros(2))
    level.engine.buffers.image[:] = 0.0
    np.testing.assert_allclose(
        level.inverse_curvature(), 4.0 / (0.05 * TYPICAL_CURVATURE) * np.eye(2)
    )


@pytest.mark.parametrize("far_s", [1e4, 1e12, -1e6])
def test_a_motion_that_takes_all_events_far_away_does_not_decide_how_large_a_map_is(far_s):
    scene, data = data_of()
    problem = search_problem(data.at(far_s), SearchConfig())
    scaled = problem.scaling.scaled(scene.theta(0, 20_000))
    level = LevelObjective.around(problem, scaled, scale=2, n_events=1000, margin_px=6.0)
    assert np.prod(level.target.shape) < 4 * RESOLUTION[0] * RESOLUTION[1]


def test_the_sharpness_of_a_level_is_that_of_a_contrast_map():
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
        # The two maps do not lie on the same pixels.
        assert level.value(problem.scaling.scaled(factor * theta)) == pytest.approx(
            expected, rel=0.02
        )


def test_a_level_takes_about_as_many_events_as_asked():
    _, data = data_of()
    for n in (10, 100, 700):
        assert 0.5 * n <= len(subsampled(data.warp, n)) <= 2.0 * n
    assert subsampled(data.warp, len(data)) is data.warp


@pytest.mark.parametrize("n_all", [50, 5_000, 35_000, 1_000_000, 30_000_000])
def test_every_passes_ends_with_all_events_on_the_finest_map(n_all):
    levels = _passes(4, 8192, n_all, SearchConfig())
    assert levels[-1] == (2, n_all, True)
    assert not any(last for _, _, last in levels[:-1])
    assert sum(n for _, n, _ in levels) < 2 * n_all + 20_000


def test_the_guard_is_silent_within_its_bound_and_has_a_true_gradient():
    penalty = CollapsePenalty.of(motion_model("affine", RESOLUTION), RESOLUTION, 0.2)
    assert penalty.value_and_gradient(np.zeros(6))[0] == 0.0
    scaled = np.array([1.0, 2.0, 9.0, -3.0, 4.0, 5.0])
    value, gradient = penalty.value_and_gradient(scaled)
    assert value > 0.0
    numeric = [
        (penalty.value_and_gradient(scaled + s)[0] - penalty.value_and_gradient(scaled - s)[0])
        / 2e-6
        for s in 1e-6 * np.eye(6)
    ]
    np.testing.assert_allclose(gradient, numeric, rtol=1e-5)


def test_shifts_have_no_wall():
    penalty = CollapsePenalty.of(motion_model("translation", RESOLUTION), RESOLUTION)
    assert penalty.value_and_gradient(np.array([500.0, -900.0]))[0] == 0.0


@pytest.mark.parametrize("rate", [-3.0, 0.5, 4.0])
def test_the_change_of_area_of_a_zoom_is_twice_its_growth(rate):
    model = motion_model("zoom", RESOLUTION)
    change = log_area_change(model, np.array([rate]), RESOLUTION, 0.05)
    assert change == pytest.approx(2.0 * abs(rate) * 0.05)


def test_a_homography_that_folds_has_no_area():
    model = motion_model("homography", RESOLUTION)
    theta = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 100.0, 0.0])
    assert log_area_change(model, theta, RESOLUTION, 0.05) == np.inf


def test_the_loss_at_the_frame_is_that_of_a_moved_rectangle():
    # Fill the view evenly in space and time, and move it: what is lost is lost at the border.
    rng = np.random.default_rng(4)
    n, resolution = 400_000, (60, 40)
    x, y = rng.uniform(-0.5, 59.5, n), rng.uniform(-0.5, 39.5, n)
    share = np.linspace(-0.5, 0.5, n)
    frame = BorderBias.of(motion_model("translation", resolution), resolution)
    fine = ContrastMap(footprint="spline", sigma_px=0.0, padding_px=12)

    def energy(dx, dy):
        iwe = fine.build(x - dx * share, y - dy * share, np.ones(n), resolution)
        return np.log((iwe**2).sum() - 0.3 * n)

    for move in ((8.0, 0.0), (0.0, 8.0), (6.0, -6.0)):
        lost = energy(0.0, 0.0) - energy(*move)
        assert frame.loss(np.array(move), 0.5)[0] == pytest.approx(lost, rel=0.15)


def test_the_loss_at_the_frame_has_the_gradient_it_says():
    frame = BorderBias.of(motion_model("similarity", RESOLUTION), RESOLUTION)
    scaled = np.array([3.0, -5.0, 2.0, 1.0])
    density = np.array([0.2, 1.0, 0.5, 0.0])
    _, gradient = frame.loss(scaled, 1.0, density)
    numeric = [
        (frame.loss(scaled + s, 1.0, density)[0] - frame.loss(scaled - s, 1.0, density)[0]) / 2e-6
        for s in 1e-6 * np.eye(4)
    ]
    np.testing.assert_allclose(gradient, numeric, rtol=1e-5)


def test_borders_are_as_full_as_their_events():
    rng = np.random.default_rng(5)
    x, y = rng.uniform(0.0, 100.0, 50_000), rng.uniform(0.0, 50.0, 50_000)
    upper = y < 25.0
    np.testing.assert_allclose(border_density(x, y, (100, 50)), 1.0, atol=0.05)
    assert border_density(x[upper], y[upper], (100, 50))[1] == 0.0


def test_a_hot_pixel_is_found_and_an_edge_is_not():
    n = 4000
    rng = np.random.default_rng(6)
    x, y = rng.integers(30, 33, n), rng.integers(0, 90, n)  # an edge: 15 events per pixel
    x[:200], y[:200] = 77, 11
    events = Events(x=x, y=y, t=np.arange(n), p=x > 30, resolution=RESOLUTION)
    hot = hot_events(events)
    assert hot[:200].all()
    assert not hot[200:].any()


def test_no_pixel_of_a_clean_scene_is_hot():
    for texture in ("shapes", "rocks", "dots", "checkerboard"):
        scene = simulate(texture=texture, resolution=RESOLUTION, duration_us=30_000, contrast=50.0)
        assert not hot_events(scene.events).any()


def test_few_values_are_chosen_by_size_and_then_by_order():
    values = np.array([2.0, 5.0, 2.0, 2.0, 1.0])
    assert largest(values, 3)[0].tolist() == [True, True, True, False, False]
    assert largest(values, 0)[0].sum() == 0
    assert largest(values, 99)[0].all()
    assert largest(np.empty(0), 3)[0].size == 0


@pytest.mark.parametrize("polarity", [True, False])
@pytest.mark.parametrize("dispersion", ["shannon", "renyi"])
@pytest.mark.parametrize("motion", ["translation", "rotation"])
def test_the_order_of_points_has_the_gradient_it_says(motion, dispersion, polarity):
    scene, data = data_of(motion)
    cloud = PointCloud.of(data, 1.5, polarity)
    theta = 0.8 * scene.theta(0, 20_000)
    _, gradient = cloud.order(theta, dispersion)
    numeric = []
    for step in np.diag(1e-5 * np.maximum(1.0, np.abs(theta))):
        ahead, behind = (cloud.order(theta + sign * step, dispersion)[0] for sign in (1.0, -1.0))
        numeric.append((ahead - behind) / (2.0 * step.sum()))
    np.testing.assert_allclose(gradient, numeric, rtol=1e-5)


def test_the_density_on_a_grid_is_the_sum_over_all_pairs():
    rng = np.random.default_rng(8)
    n, sigma = 300, 2.0
    x, y = rng.integers(10, 50, n), rng.integers(10, 40, n)
    t, p = np.sort(rng.integers(0, 10_000, n)), rng.random(n) < 0.5
    events = Events(x=x, y=y, t=t, p=p, resolution=(64, 48))
    data = WindowData.of(Window(events, 0, 10_000), motion_model("translation", (64, 48)))
    theta = np.array([400.0, -250.0])
    u, v = data.warp.warp(theta)
    square = (u[:, None] - u) ** 2 + (v[:, None] - v) ** 2
    pairs = np.exp(-0.5 * square / sigma**2) / (2.0 * np.pi * sigma**2)
    pairs[p[:, None] != p] = 0.0
    np.fill_diagonal(pairs, 0.0)
    density = PointCloud.of(data, sigma, polarity=True).density_of_others(theta)
    np.testing.assert_allclose(density, pairs.sum(axis=1), atol=0.01 * pairs.sum(axis=1).max())


@pytest.mark.parametrize("seed", range(3, 7))
def test_the_end_does_not_depend_on_the_start(seed):
    """Small windows with much noise, where the frame takes a tenth of a pixel."""
    scene = simulate(
        resolution=(120, 90), theta=(300.0, -150.0), duration_us=30_000, noise_hz=10.0, seed=seed
    )
    data = WindowData.of(Window(scene.events, 0, 30_000), scene.motion)
    ends = [
        find_motion(data, start, SearchConfig(tol_px=tol_px))
        for start in (None, (305.0, -145.0), (290.0, -160.0), (300.0, -130.0), (700.0, -400.0))
        for tol_px in (0.02, 0.001)
    ]
    apart_px = np.ptp([end.theta for end in ends], axis=0) * 0.03
    assert apart_px.max() < 0.02
    assert np.ptp([end.value for end in ends]) < 2e-4


@pytest.mark.parametrize("seed", range(2))
def test_a_search_looks_as_far_as_it_is_told_and_no_further(seed):
    """So many points that only a motion near the true one, of 90 px, is sharper than chance."""
    theta = (4500.0, 0.0)
    data = moving_points(theta, n=20_000, per_point=6, resolution=(640, 480), seed=seed)
    for bound_px, is_found in ((None, True), (100.0, True), (40.0, False)):
        found = find_motion(data, config=SearchConfig(bound_px=bound_px)).theta
        assert (np.linalg.norm(found - theta) * 0.02 < 0.1) == is_found


def test_a_fast_turn_of_fine_texture_is_found_from_nothing():
    """24 degrees within the window; along shifts alone there is no hill that leads there."""
    scene = simulate(
        motion="rotation", theta=(0.0, 0.0, 14.0), texture="rocks", resolution=(240, 180),
        duration_us=30_000, seed=1,
    )  # fmt: skip
    data = WindowData.of(Window(scene.events, 0, 30_000), scene.motion)
    assert scene.warp_error_px(find_motion(data).theta, 0, 30_000) < 0.1


def test_what_the_frame_takes_is_given_back():
    """In noise, the edge of the sensor is the sharpest thing at rest: motions look slower by 0.27 px."""
    off_px = []
    for seed in range(8):
        scene = simulate(
            resolution=(80, 60), theta=(500.0, 0.0), duration_us=30_000, noise_hz=30.0, seed=seed
        )
        data = WindowData.of(Window(scene.events, 0, 30_000), scene.motion)
        off_px.append((find_motion(data).theta[0] - 500.0) * 0.03)
    assert abs(np.mean(off_px)) < 0.12  # measured: -0.05, with a standard error of 0.03


def test_the_motion_of_most_points_wins_where_the_lattice_likes_the_other_more():
    """That of most points lies in the middle between shifts that are looked at, the other on one."""
    main, other = np.array([600.0, 600.0]), np.array([-1200.0, -1200.0])
    n_found = 0
    for seed in range(10):
        data = moving_points(main, other, n=(100, 75), per_point=100, seed=seed)
        n_found += np.linalg.norm(find_motion(data).theta - main) * 0.02 < 0.2
    assert n_found >= 9  # without a second hill to climb: 5


@pytest.mark.parametrize("seed", range(3))
def test_a_guess_that_is_led_far_away_is_no_better_than_none(seed):
    """6 px beside the motion of fewer points: next to the guess there is nothing better."""
    main, other = np.array([900.0, -500.0]), np.array([-1500.0, 600.0])
    data = moving_points(main, other, n=(400, 300), seed=seed)
    for angle in np.arange(8) * np.pi / 4:
        guess = other + 300.0 * np.array([np.cos(angle), np.sin(angle)])
        assert np.linalg.norm(find_motion(data, guess).theta - main) * 0.02 < 0.2


def test_a_wrong_guess_is_noticed_though_it_is_sharper_than_what_is_next_to_it():
    theta = np.array([600.0, -300.0])
    data = moving_points(theta, n=6000, per_point=6)
    rng = np.random.default_rng(5)
    for _ in range(30):
        guess = theta + rng.uniform(250.0, 3000.0) * np.array(
            [np.cos(a := rng.uniform(0.0, 6.28)), np.sin(a)]
        )
        assert np.linalg.norm(find_motion(data, guess).theta - theta) * 0.02 < 0.1


@pytest.mark.parametrize("guess_px", [(40.0, 0.0), (-40.0, 0.0), (0.0, 40.0), (40.0, 40.0)])
def test_a_grid_of_lamps_that_flash_twice_is_at_rest(guess_px):
    """By a step of the grid all lamps but those at the border come to lie on others."""
    x, y = (side.ravel() for side in np.meshgrid(np.arange(20, 346, 40), np.arange(20, 260, 40)))
    n = 12  # events of a lamp
    t = np.repeat(np.where(np.arange(n) < n // 2, 1000, 19_000) + np.arange(n), x.size)
    events = Events(
        x=np.tile(x, n), y=np.tile(y, n), t=t, p=np.ones(t.size, bool), resolution=(346, 260)
    )
    data = WindowData.of(Window(events, 0, 20_000), motion_model("translation", (346, 260)))
    found = find_motion(data, np.array(guess_px) / 0.018)
    assert np.abs(found.theta).max() * 0.018 < 0.1


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: SearchConfig(bound_px=0.0), "`bound_px`"),
        (lambda: SearchConfig(bound_px=math.nan), "`bound_px` must be a number above 0.*got nan"),
        (lambda: SearchConfig(bound_px=math.inf), "`bound_px`.*at most 1000; got inf. Use sho"),
        (lambda: SearchConfig(bound_px=1e6), "`bound_px`.*at most 1000; got 1000000.0"),
        (lambda: SearchConfig(tol_px=0.0), "`tol_px`"),
        (lambda: SearchConfig(tol_px=math.inf), "`tol_px`"),
        (lambda: SearchConfig(finest_scale=0), "`finest_scale`"),
        (lambda: SearchConfig(finest_scale=1.5), "`finest_scale` must be a whole number.*got 1.5"),
        (lambda: SearchConfig(finest_scale=math.inf), "`finest_scale`.*1..32; got inf"),
        (lambda: SearchConfig(finest_scale=10**6), "`finest_scale`.*1..32; got 1000000"),
        (lambda: SearchConfig(coarse_events=10), "`coarse_events`"),
        (lambda: SearchConfig(coarse_events=math.nan), "`coarse_events`.*whole number.*got nan"),
        (lambda: SearchConfig(coarse_events=10**400), "`coarse_events`.*100..1e[+]09"),
        (lambda: SearchConfig(max_log_area=-1.0), "`max_log_area`"),
        (lambda: SearchConfig(max_log_area=math.nan), "`max_log_area`"),
        (lambda: Eja(tol_px=math.nan), "`tol_px` must be a number of px, 0 or more; got nan"),
        (lambda: Eja(tol_px=-0.1), "`tol_px`.*got -0.1"),
        (lambda: Eja(rate=math.inf), "`rate` must be a positive number of px; got inf"),
        (lambda: Cmax(polarity="signed", objective="poisson"), "'poisson' needs counts"),
        (lambda: Cmax(multi_reference=True, objective="entropy"), "'entropy' is below"),
        (lambda: Cmax(start="random"), "`start` must be one of search, zero"),
        (lambda: Eja(tau=0.0), "`tau`"),
        (lambda: Eja(inner="lbfgs"), "`inner` must be one of adam-1, bfgs"),
        (lambda: Eja(score_from="noise"), "`score_from`"),
        (lambda: Eja(rate=-1.0), "`rate`"),
        (lambda: Eja(max_rounds=0), "`max_rounds`"),
        (lambda: Eja(seed=-1), "`seed`"),
        (lambda: Entropy(dispersion="tsallis"), "`dispersion` must be one of"),
        (lambda: Entropy(sigma_px=0.5), "`sigma_px`"),
        (lambda: Entropy(max_iter=0), "`max_iter`"),
        (lambda: Sequential(filter_options={"tau": 5}), "has no option 'tau'"),
    ],
)
def test_settings_that_cannot_be_are_named(make, match):
    with pytest.raises(ConfigError, match=match):
        make()


def test_whole_numbers_of_any_kind_make_the_same_search():
    assert SearchConfig(finest_scale=np.int64(2), coarse_events=np.int32(4096)) == SearchConfig()
    assert type(SearchConfig(finest_scale=np.uint8(4)).finest_scale) is int


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: Cmax(objective="varience"), "Did you mean 'variance'"),
        (lambda: Cmax(solver="newto"), "Did you mean 'newton'"),
        (lambda: Cmax(polarity="unsiged"), "Did you mean 'unsigned'"),
        (lambda: Eja(objective="sharp"), "Unknown objective"),
        (lambda: Sequential(filter="bat"), "Did you mean"),
    ],
)
def test_unknown_names_are_answered_with_the_known_ones(make, match):
    with pytest.raises(UnknownNameError, match=match):
        make()
