"""Coarse-to-fine search for a motion."""

import math

import numpy as np
import pytest
from tests.unit.search.windows import moving_points

from evcrisp import Events, Window, simulate
from evcrisp.core.errors import ConfigError
from evcrisp.motion import motion_model
from evcrisp.search.search import SearchConfig, _passes, find_motion
from evcrisp.search.window_data import WindowData


@pytest.mark.parametrize("n_all", [50, 5_000, 35_000, 1_000_000, 30_000_000])
def test_last_pass_has_all_events_on_the_finest_map(n_all):
    passes = _passes(4, 8192, n_all, SearchConfig())
    assert passes[-1] == (2, n_all, True)
    assert not any(last for _, _, last in passes[:-1])
    assert sum(n for _, n, _ in passes) < 2 * n_all + 20_000


@pytest.mark.parametrize("seed", range(3, 7))
def test_result_does_not_depend_on_the_start(seed):
    """Small windows with much noise, where the border bias is a tenth of a pixel."""
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
def test_cold_search_covers_displacements_up_to_its_bound(seed):
    """Only motions near the true one, of 90 px, stand out among 20 000 points."""
    theta = (4500.0, 0.0)
    data = moving_points(theta, n=20_000, per_point=6, resolution=(640, 480), seed=seed)
    for bound_px, is_found in ((None, True), (100.0, True), (40.0, False)):
        found = find_motion(data, config=SearchConfig(bound_px=bound_px)).theta
        assert (np.linalg.norm(found - theta) * 0.02 < 0.1) == is_found


def test_cold_search_finds_fast_rotation_of_fine_texture():
    """24 degrees within the window; no sequence of shifts leads there."""
    scene = simulate(
        motion="rotation", theta=(0.0, 0.0, 14.0), texture="rocks", resolution=(240, 180),
        duration_us=30_000, seed=1,
    )  # fmt: skip
    data = WindowData.of(Window(scene.events, 0, 30_000), scene.motion)
    assert scene.warp_error_px(find_motion(data).theta, 0, 30_000) < 0.1


def test_border_bias_is_corrected():
    """Without the correction, motions in noise are too slow by 0.27 px."""
    error_px = []
    for seed in range(8):
        scene = simulate(
            resolution=(80, 60), theta=(500.0, 0.0), duration_us=30_000, noise_hz=30.0, seed=seed
        )
        data = WindowData.of(Window(scene.events, 0, 30_000), scene.motion)
        error_px.append((find_motion(data).theta[0] - 500.0) * 0.03)
    assert abs(np.mean(error_px)) < 0.12  # measured: -0.05, with a standard error of 0.03


def test_second_start_finds_the_main_motion():
    """The main motion lies between grid points, the other one on a grid point."""
    main, other = np.array([600.0, 600.0]), np.array([-1200.0, -1200.0])
    n_found = 0
    for seed in range(10):
        data = moving_points(main, other, n=(100, 75), per_point=100, seed=seed)
        n_found += np.linalg.norm(find_motion(data).theta - main) * 0.02 < 0.2
    assert n_found >= 9  # with one start: 5


@pytest.mark.parametrize("seed", range(3))
def test_warm_start_near_the_minor_motion_is_rejected(seed):
    """The start is 6 px from the motion of fewer points."""
    main, other = np.array([900.0, -500.0]), np.array([-1500.0, 600.0])
    data = moving_points(main, other, n=(400, 300), seed=seed)
    for angle in np.arange(8) * np.pi / 4:
        start = other + 300.0 * np.array([np.cos(angle), np.sin(angle)])
        assert np.linalg.norm(find_motion(data, start).theta - main) * 0.02 < 0.2


def test_wrong_warm_start_is_rejected():
    theta = np.array([600.0, -300.0])
    data = moving_points(theta, n=6000, per_point=6)
    rng = np.random.default_rng(5)
    for _ in range(30):
        start = theta + rng.uniform(250.0, 3000.0) * np.array(
            [np.cos(a := rng.uniform(0.0, 6.28)), np.sin(a)]
        )
        assert np.linalg.norm(find_motion(data, start).theta - theta) * 0.02 < 0.1


@pytest.mark.parametrize("start_px", [(40.0, 0.0), (-40.0, 0.0), (0.0, 40.0), (40.0, 40.0)])
def test_flashing_grid_of_lamps_has_no_motion(start_px):
    """A shift by the grid period aligns all lamps but those at the border."""
    x, y = (side.ravel() for side in np.meshgrid(np.arange(20, 346, 40), np.arange(20, 260, 40)))
    n = 12  # events of a lamp
    t = np.repeat(np.where(np.arange(n) < n // 2, 1000, 19_000) + np.arange(n), x.size)
    events = Events(
        x=np.tile(x, n), y=np.tile(y, n), t=t, p=np.ones(t.size, bool), resolution=(346, 260)
    )
    data = WindowData.of(Window(events, 0, 20_000), motion_model("translation", (346, 260)))
    found = find_motion(data, np.array(start_px) / 0.018)
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
        (lambda: SearchConfig(coarse_events=10**400), "`coarse_events`.*100..1000000000"),
        (lambda: SearchConfig(max_log_area=-1.0), "`max_log_area`"),
        (lambda: SearchConfig(max_log_area=math.nan), "`max_log_area`"),
    ],
)
def test_invalid_parameters_are_refused(make, match):
    with pytest.raises(ConfigError, match=match):
        make()


def test_numpy_integers_make_the_same_config():
    assert SearchConfig(finest_scale=np.int64(2), coarse_events=np.int32(4096)) == SearchConfig()
    assert type(SearchConfig(finest_scale=np.uint8(4)).finest_scale) is int
