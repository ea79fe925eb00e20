"""Reasons to doubt a motion: each of them where it belongs, and nowhere else."""

from dataclasses import replace

import numpy as np
import pytest

import evcrisp
from evcrisp import Events, Window, estimate
from evcrisp.core.doubt import Doubt
from evcrisp.core.status import Status
from evcrisp.motion.open_motion import affine_at
from evcrisp.simulation import ObjectConfig

WINDOW = 30_000, 60_000


def window_of(scene, start=WINDOW[0], end=WINDOW[1]):
    return Window(scene.events.between(start, end), start, end)


def simulated(**settings):
    """Return a window with a history before it."""
    defaults = {"duration_us": WINDOW[1], "window_us": 30_000, "noise_hz": 3.0, "seed": 2}
    return window_of(evcrisp.simulate(**{**defaults, **settings}))


def pattern(kind, angle, period=20.0, side=700):
    """Return an image of an edge, a bar or stripes with a normal at an angle."""
    y, x = np.mgrid[0:side, 0:side] - side / 2
    across = x * np.cos(angle) + y * np.sin(angle)
    bright = {
        "edge": across > 0,
        "bar": np.abs(across) < 6,
        "stripes": np.mod(across, period) < period / 2,
    }[kind]
    return 0.2 + 0.8 * bright


def noise(n, seed, end=30_000, resolution=(346, 260)):
    rng = np.random.default_rng(seed)
    return Events(
        x=rng.integers(0, resolution[0], n), y=rng.integers(0, resolution[1], n),
        t=np.sort(rng.integers(0, end, n)), p=rng.random(n) < 0.5, resolution=resolution,
    )  # fmt: skip


@pytest.mark.parametrize("method", ["auto", "cmax", "exact"])
@pytest.mark.parametrize("motion", ["auto", "translation"])
def test_a_moving_scene_is_reliable(method, motion):
    result = estimate(simulated(theta=(300.0, -120.0)), method, motion)
    assert result.reliable
    assert result.doubts == result.warnings == ()
    assert np.all(np.abs(result.theta - (300.0, -120.0)) < 4 * result.std)
    assert np.all(result.std < 10.0)
    assert result.misfit < 0.1


@pytest.mark.parametrize("method", ["auto", "cmax", "exact"])
@pytest.mark.parametrize("angle", [0.0, 0.4, np.pi / 4, 1.2])
@pytest.mark.parametrize("kind", ["edge", "bar"])
def test_along_an_edge_the_motion_is_unknown(method, angle, kind):
    theta = np.array([300.0, 200.0])
    result = estimate(simulated(theta=theta, image=pattern(kind, angle)), method, "translation")
    assert Doubt.APERTURE in result.doubts
    assert not result.reliable
    normal = np.array([np.cos(angle), np.sin(angle)])
    along = np.array([-normal[1], normal[0]])
    # Across the edge it is known, within 0.5 px.
    assert abs(normal @ (result.theta - theta)) * 0.03 < 0.5
    # The part along the edge is left out.
    assert abs(along @ result.theta) * 0.03 < 1.0
    std_along, std_across = (np.sqrt(d @ result.covariance @ d) for d in (along, normal))
    assert std_along > 500.0
    assert std_across < std_along / 10


@pytest.mark.parametrize("period", [5, 8, 12, 20])
@pytest.mark.parametrize("angle", [0.0, 0.4, 1.2])
@pytest.mark.parametrize("motion", ["auto", "translation"])
def test_stripes_are_never_reliable(period, angle, motion):
    image = pattern("stripes", angle, period)
    assert not estimate(simulated(theta=(300.0, 200.0), image=image), motion=motion).reliable


def test_along_stripes_the_window_before_tells_the_motion():
    """The texture leaves the view: its motion stays for the windows with edges alone."""
    image = pattern("edge", 0.0)
    windows = [simulated(theta=(300.0, 200.0)), simulated(theta=(300.0, 200.0), image=image)]
    from evcrisp.estimators.reliability.assess import assess

    first = estimate(windows[0], motion="translation")
    alone = estimate(windows[1], motion="translation")
    after = assess(replace(alone, covariance=None, doubts=(), warnings=()), prior=first)
    assert Doubt.APERTURE in after.doubts
    assert abs(after.theta[1] - 200.0) < 20.0
    assert abs(alone.theta[1]) < 20.0


@pytest.mark.parametrize("method", ["auto", "cmax", "exact"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n", [150, 2_000, 20_000])
def test_noise_is_chance(method, seed, n):
    result = estimate(Window(noise(n, seed), 0, 30_000), method, "translation")
    assert Doubt.CHANCE in result.doubts


@pytest.mark.parametrize("n", [0, 1, 5, 50])
def test_hardly_any_events_are_chance(n):
    result = estimate(Window(noise(n, 0), 0, 30_000))
    assert Doubt.CHANCE in result.doubts
    assert not result.reliable


@pytest.mark.parametrize("size", [0.3, 0.5])
@pytest.mark.parametrize("method", ["auto", "cmax", "exact"])
def test_a_second_motion_shows_if_one_was_given(size, method):
    thing = ObjectConfig(motion="translation", theta=(-260.0, 90.0), size=(size, size))
    window = simulated(theta=(90.0, 40.0), objects=(thing,))
    assert Doubt.SEVERAL_MOTIONS in estimate(window, method, "translation").doubts
    if method == "auto":
        found = estimate(window)
        assert found.reliable
        assert len(found.layers) >= 2


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("amplitude", [100.0, 300.0])
@pytest.mark.parametrize("motion", ["auto", "translation"])
def test_hand_shake_within_a_window_is_never_reliable(seed, amplitude, motion):
    scene = evcrisp.simulate(
        theta=(amplitude, 0.3 * amplitude), trajectory="sine", period_us=166_000, noise_hz=3.0,
        duration_us=200_000, window_us=100_000, seed=seed,
    )  # fmt: skip
    assert not estimate(window_of(scene, 100_000, 200_000), motion=motion).reliable


def test_a_motion_that_reverses_is_an_acceleration():
    scene = evcrisp.simulate(
        theta=(300.0, 0.0), trajectory="sine", period_us=166_000, noise_hz=3.0,
        duration_us=200_000, window_us=100_000, seed=0,
    )  # fmt: skip
    result = estimate(window_of(scene, 100_000, 200_000), motion="translation")
    assert Doubt.ACCELERATION in result.doubts


@pytest.mark.parametrize("turns", [0.25, 1.0, 1.5, 3.75])
@pytest.mark.parametrize("motion", ["auto", "layers", "translation"])
def test_a_dot_that_circles_within_the_window_is_doubtful(turns, motion):
    rng = np.random.default_rng(1)
    n = 20_000
    t = np.sort(rng.integers(0, 30_000, n))
    angle = 2.0 * np.pi * turns * t / 30_000
    x = 80.0 + 45.0 * np.cos(angle) + rng.normal(0.0, 1.5, n)
    y = 60.0 + 45.0 * np.sin(angle) + rng.normal(0.0, 1.5, n)
    events = Events(
        x=x.round().astype(int), y=y.round().astype(int), t=t, p=rng.random(n) < 0.5,
        resolution=(160, 120),
    )  # fmt: skip
    assert not estimate(Window(events, 0, 30_000), motion=motion).reliable


@pytest.mark.parametrize("motion", ["auto", "translation"])
@pytest.mark.parametrize("rate_hz", [50, 100, 250])
def test_lights_that_flicker_do_not_move(motion, rate_hz):
    rng = np.random.default_rng(3)
    parts = []
    for _ in range(6):
        cx, cy, radius = rng.integers(40, 300), rng.integers(40, 220), rng.integers(8, 25)
        y, x = np.mgrid[0:260, 0:346]
        inside = np.hypot(x - cx, y - cy) < radius
        period = 1e6 / rate_hz
        for start in np.arange(rng.uniform(0, period) - period, 30_000, period / 2):
            t = start + rng.normal(0.0, 0.05 * period, inside.sum())
            on = np.full(t.size, round(start / period * 2) % 2 == 0)
            parts.append(np.stack((x[inside], y[inside], t, on)))
    x, y, t, p = np.concatenate(parts, axis=1)
    order = np.argsort(t)
    order = order[(t[order] >= 0) & (t[order] < 30_000)]
    events = Events(
        x=x[order].astype(int), y=y[order].astype(int), t=t[order].astype(np.int64),
        p=p[order] > 0, resolution=(346, 260),
    )  # fmt: skip
    assert not estimate(Window(events, 0, 30_000), motion=motion).reliable


def test_a_motion_that_is_not_zero_but_small_is_at_rest():
    result = estimate(simulated(theta=(8.0, 3.0), noise_hz=0.5), motion="translation")
    assert {Doubt.AT_REST, Doubt.CHANCE} & set(result.doubts)


def test_every_doubt_has_a_code_and_a_sentence():
    assert [doubt.code for doubt in Doubt] == [doubt.name.lower() for doubt in Doubt]
    for doubt in Doubt:
        assert doubt.value.endswith(".")
        assert len(doubt.value) > 40


def test_doubts_are_warnings_once():
    result = estimate(Window(noise(2_000, 1), 0, 30_000), motion="translation")
    assert result.warnings == tuple(doubt.value for doubt in result.doubts)
    assert replace(result, misfit=0.0).warnings == result.warnings


def test_a_search_that_did_not_converge_is_not_reliable():
    result = estimate(simulated(theta=(300.0, -120.0)), motion="translation")
    assert not replace(result, status=Status.MAX_ITER).reliable


@pytest.mark.parametrize("texture", ["shapes", "dots"])
def test_large_sensors_have_one_reliable_motion(texture):
    """As many events as on a small sensor would be too sparse to tell."""
    scene = evcrisp.simulate(
        theta=(400.0, -150.0), texture=texture, resolution=(1280, 720), duration_us=32_000,
        noise_hz=1.0, seed=1,
    )  # fmt: skip
    result = estimate(Window(scene.events.between(16_000, 32_000), 16_000, 32_000))
    assert result.reliable
    assert result.motion.name == "translation"
    assert np.all(np.abs(result.theta - (400.0, -150.0)) < 4 * result.std)


def wheel(turns_per_s, seed=0):
    """Return 6 ms of a wheel of three blades in noise."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, (346, 260, 6_000, 2), (1_000, 4))]
    for angle, polarity in (
        (k * 2.094 + edge, edge == 0.0) for k in range(3) for edge in (0.0, 0.4)
    ):
        radius = np.repeat(np.arange(12, 90), 12)
        t = rng.uniform(0.0, 6_000.0, radius.size)
        at = angle + 2e-6 * np.pi * turns_per_s * t
        x, y = 170.0 + radius * np.cos(at), 130.0 + radius * np.sin(at)
        columns.append(np.column_stack((np.rint(x), np.rint(y), t, np.full(t.size, polarity))))
    x, y, t, p = np.concatenate(columns)[np.argsort(np.concatenate(columns)[:, 2])].T.astype(int)
    return evcrisp.Events(x=x, y=y, t=t, p=p > 0, resolution=(346, 260))


def test_a_wheel_that_turns_is_not_at_rest():
    result = evcrisp.estimate(wheel(5.0))
    assert Doubt.AT_REST not in result.doubts
    _, _, _, xy, yx, _ = affine_at(result.motion, result.theta, (170.0, 130.0))
    assert 0.5 * (yx - xy) == pytest.approx(2.0 * np.pi * 5.0, rel=0.05)


def test_a_wheel_that_stands_is_at_rest():
    result = evcrisp.estimate(wheel(0.0))
    assert not result.reliable
    assert {Doubt.AT_REST, Doubt.CHANCE} & set(result.doubts)
