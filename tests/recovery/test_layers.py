"""Layers of scenes with known objects: their number, motion, labels and identity."""

from dataclasses import replace

import numpy as np
import pytest

import evcrisp
from evcrisp import Events, Window, Windowing
from evcrisp.core.status import Status
from evcrisp.simulation import ObjectConfig

RESOLUTION = (173, 130)
WINDOW_US = 30_000
STILL, MOVING = (0.0, 0.0), (150.0, -60.0)
LEFT, RIGHT, UP = (-250.0, 120.0), (250.0, 220.0), (60.0, -300.0)


def item(theta, center, size=(0.35, 0.45)):
    return ObjectConfig(theta=theta, center=center, size=size, texture="dots")


ONE = (item(LEFT, (0.28, 0.35)),)
TWO = (*ONE, item(RIGHT, (0.7, 0.62)))
THREE = (
    item(LEFT, (0.22, 0.3), (0.3, 0.4)),
    item(RIGHT, (0.75, 0.65), (0.3, 0.4)),
    item(UP, (0.3, 0.8), (0.25, 0.3)),
)


LEAVING = (item((-120.0, 60.0), (0.7, 0.3), (0.3, 0.4)), item((-500.0, 0.0), (0.25, 0.7)))
CROSSING = (
    item((-120.0, 60.0), (0.6, 0.3), (0.3, 0.4)),
    item((130.0, 100.0), (0.3, 0.5), (0.3, 0.4)),
)


def scene_of(objects, theta, seed, n_windows=1, **settings):
    defaults = {"resolution": RESOLUTION, "noise_hz": 5.0, "texture": "shapes"}
    return evcrisp.simulate(
        **(defaults | settings), theta=theta, objects=objects,
        duration_us=n_windows * WINDOW_US, seed=seed,
    )  # fmt: skip


def objects_of(scene):
    """Return the object of each event, 0 for the background and -1 for noise."""
    return np.where(scene.events.signal, scene.object.astype(np.int64), -1)


def windows_of(scene):
    """Yield the tracked estimates of a scene, each with the object of its events; -1 for noise."""
    windowing = Windowing(window_us=WINDOW_US)
    shown = objects_of(scene)
    for result in evcrisp.track(scene.events, windowing=windowing):
        first = result.window.index
        yield result, shown[first : first + len(result)]


def main_layer(result, mine):
    """Return the layer that most of some events belong to."""
    layer = result.layer[mine]
    return int(np.bincount(layer[layer >= 0]).argmax())


def error_px(result, mine, theta):
    """Return the median error of the velocity of some events, px over the window."""
    off = np.linalg.norm(result.velocity[mine & result.signal] - theta, axis=1)
    return float(np.median(off)) * WINDOW_US / 1e6


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(
    ("objects", "theta"),
    [(ONE, MOVING), (TWO, STILL), (TWO, MOVING), (THREE, STILL)],
    ids=["one, moving", "two, still", "two, moving", "three, still"],
)
def test_objects_are_layers_with_their_motion(objects, theta, seed):
    scene = scene_of(objects, theta, seed)
    result = evcrisp.estimate(Window(scene.events, 0, WINDOW_US))
    shown = objects_of(scene)
    assert result.status is Status.CONVERGED
    assert len(result.layer_motions) == len(objects) + any(theta)
    layers = set()
    for k, thing in enumerate(objects, start=1):
        mine = shown == k
        assert result.signal[mine].mean() > 0.85
        assert error_px(result, mine, thing.theta) < 0.5
        layers.add(main_layer(result, mine))
    assert len(layers) == len(objects)
    if any(theta):
        assert result.signal[shown == 0].mean() > 0.85
        assert error_px(result, shown == 0, theta) < 0.5
    assert result.signal[shown < 0].mean() < 0.1


#: Six parameters take up a part of the shift of an object with few edges.
FEW_EDGES = pytest.mark.xfail(reason="motion of objects with few edges; measured: 7 of 24 are off")


@pytest.mark.parametrize("texture", ["dots", "rocks", pytest.param("shapes", marks=FEW_EDGES)])
def test_most_objects_of_any_texture_have_their_motion(texture):
    n_off = n_lost = n_objects = 0
    for objects, theta in ((ONE, MOVING), (TWO, STILL), (TWO, MOVING), (THREE, STILL)):
        for seed in (1, 2, 3):
            textured = tuple(replace(thing, texture=texture) for thing in objects)
            scene = scene_of(textured, theta, seed)
            result = evcrisp.estimate(Window(scene.events, 0, WINDOW_US))
            for k, thing in enumerate(textured, start=1):
                mine = objects_of(scene) == k
                n_objects += 1
                n_lost += result.signal[mine].mean() <= 0.85
                n_off += error_px(result, mine, thing.theta) > 0.5
    assert n_objects == 24
    # Measured, for dots, rocks and shapes: 0, 0 and 1 lost; 0, 0 and 7 off.
    assert n_lost <= 1
    assert n_off <= 2


@pytest.mark.parametrize(
    ("theta", "texture", "noise_hz"),
    [
        ((300.0, -120.0), "shapes", 5.0),
        ((-150.0, 220.0), "dots", 1.0),
        ((80.0, 40.0), "shapes", 1.0),
    ],
)
def test_one_translation_is_the_answer_of_that_model(theta, texture, noise_hz):
    scene = scene_of((), theta, 1, texture=texture, noise_hz=noise_hz)
    window = Window(scene.events, 0, WINDOW_US)
    found = evcrisp.estimate(window)
    given = evcrisp.estimate(window, motion="translation")
    assert found.motion == given.motion
    for name in ("theta", "signal", "score", "confidence", "aligned_x", "aligned_y", "layer"):
        np.testing.assert_array_equal(getattr(found, name), getattr(given, name), err_msg=name)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_neighbors_label_better_where_one_translation_leaves_events_unexplained(seed):
    scene = scene_of((), (80.0, 40.0), seed, texture="dots", noise_hz=20.0)
    window, truth = Window(scene.events, 0, WINDOW_US), scene.events.signal
    found = evcrisp.estimate(window)
    given = evcrisp.estimate(window, motion="translation")
    np.testing.assert_array_equal(found.theta, given.theta)

    def balanced(result):
        return 0.5 * (result.signal[truth].mean() + (~result.signal[~truth]).mean())

    assert balanced(found) > balanced(given) + 0.01
    assert (~found.signal[~truth]).mean() > 0.9


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_identities_stay_over_windows(seed):
    numbers = {1: set(), 2: set()}
    for result, shown in windows_of(scene_of(CROSSING, STILL, seed, 6)):
        assert len(result.layer_motions) == 2
        for k, seen in numbers.items():
            assert result.signal[shown == k].mean() > 0.85
            seen.add(result.layer_motions[main_layer(result, shown == k)].id)
    assert len(numbers[1]) == len(numbers[2]) == 1
    assert numbers[1] != numbers[2]


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("theta", [STILL, (60.0, -40.0)], ids=["still", "moving"])
def test_an_object_that_enters_is_found_within_two_windows(theta, seed):
    first = () if any(theta) else (item((-120.0, 60.0), (0.7, 0.3), (0.3, 0.4)),)
    objects = (*first, item((500.0, 0.0), (-0.45, 0.7)))
    number, since = len(objects), 0
    for result, shown in windows_of(scene_of(objects, theta, seed, 6)):
        mine = shown == number
        since += mine.sum() > 300
        if since == 0:
            assert len(result.layer_motions) == 1
        if since >= 2:
            assert len(result.layer_motions) == 2
            assert result.signal[mine].mean() > 0.85
            others = (shown >= 0) & (shown != number)
            assert main_layer(result, mine) != main_layer(result, others)
    assert since >= 3


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_an_object_that_leaves_leaves_one_motion(seed):
    present = []
    for result, shown in windows_of(scene_of(LEAVING, STILL, seed, 6)):
        present.append(bool((shown == 2).any()))
        assert result.signal[shown == 1].mean() > 0.85
        if not present[-1]:
            assert len(result.layer_motions) == 1
    assert present == [True] * 5 + [False]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("objects", "most"), [(LEAVING, 3), (CROSSING, 3)], ids=["leaving", "crossing"]
)
def test_two_objects_are_hardly_ever_one_motion(objects, most):
    n_windows = n_joined = 0
    for seed in range(1, 13):
        for result, shown in windows_of(scene_of(objects, STILL, seed, 6)):
            if min((shown == k).sum() for k in (1, 2)) >= 500:
                n_windows += 1
                n_joined += len(result.layer_motions) == 1
    assert n_windows >= 60
    # Measured: 1 of 60, and 0 of 69.
    assert n_joined <= most


def noise(n, seed):
    rng = np.random.default_rng(seed)
    return Events(
        x=rng.integers(0, RESOLUTION[0], n), y=rng.integers(0, RESOLUTION[1], n),
        t=np.sort(rng.integers(0, WINDOW_US, n)), p=rng.integers(0, 2, n) > 0,
        resolution=RESOLUTION,
    )  # fmt: skip


@pytest.mark.parametrize("n", [1000, 3000, 6000, 12_000, 24_000])
def test_noise_hardly_ever_has_layers(n):
    results = [evcrisp.estimate(Window(noise(n, seed), 0, WINDOW_US)) for seed in range(20)]
    assert np.mean([result.signal.mean() for result in results]) < 0.05
    # Measured: none has layers; 18 to 20 are warned of.
    assert sum(len(result.layer_motions) > 1 for result in results) <= 1
    assert sum(bool(result.warnings) for result in results) >= 15


def test_hot_pixels_do_not_change_the_layers():
    scene = scene_of(TWO, STILL, 3, hot_pixels=40)
    result = evcrisp.estimate(Window(scene.events, 0, WINDOW_US))
    shown = objects_of(scene)
    assert len(result.layer_motions) == 2
    for k, thing in enumerate(TWO, start=1):
        assert result.signal[shown == k].mean() > 0.85
        assert error_px(result, shown == k, thing.theta) < 0.5


def test_a_straight_edge_is_one_motion_across_it():
    rng = np.random.default_rng(3)
    t = np.sort(rng.integers(0, WINDOW_US, 4000))
    x = np.rint(40 + 300e-6 * t).astype(int)
    events = Events(
        x=x, y=rng.integers(0, 130, 4000), t=t, p=np.ones(4000, bool), resolution=RESOLUTION
    )
    result = evcrisp.estimate(Window(events, 0, WINDOW_US))
    assert len(result.layer_motions) == 1
    assert result.signal.mean() > 0.95
    assert abs(result.velocity[:, 0].mean() - 300.0) * WINDOW_US / 1e6 < 0.5


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_a_blinking_region_is_kept(seed):
    """Noise around it shows that the sensor is live there; without it, it could be noise of a crop."""
    rng = np.random.default_rng(seed)
    n, n_noise = 6000, 700
    t = rng.integers(0, 6, n) * 5000 + rng.integers(0, 300, n)
    blinks = rng.integers(60, 110, n), rng.integers(40, 90, n), t, t // 5000 % 2 == 0
    noise = (
        rng.integers(0, RESOLUTION[0], n_noise), rng.integers(0, RESOLUTION[1], n_noise),
        rng.integers(0, WINDOW_US, n_noise), rng.random(n_noise) < 0.5,
    )  # fmt: skip
    x, y, t, p = (np.concatenate(pair) for pair in zip(blinks, noise, strict=True))
    order = np.argsort(t, kind="stable")
    events = Events(x=x[order], y=y[order], t=t[order], p=p[order], resolution=RESOLUTION)
    alone = evcrisp.estimate(Window(events[order < n], 0, WINDOW_US))
    assert len(alone.layer_motions) == 1
    result = evcrisp.estimate(Window(events, 0, WINDOW_US))
    # A third of the events share pixel and blink.
    assert result.signal[order < n].mean() > 0.6


@pytest.mark.parametrize("offset", [3_000_000_000_000, 2**61])
def test_layers_do_not_depend_on_the_time_of_the_window(offset):
    events = scene_of(TWO, MOVING, 3).events
    later = Events(x=events.x, y=events.y, t=events.t + offset, p=events.p, resolution=RESOLUTION)
    first = evcrisp.estimate(Window(events, 0, WINDOW_US))
    second = evcrisp.estimate(Window(later, offset, offset + WINDOW_US))
    assert len(first.layer_motions) == 3
    for name in ("theta", "signal", "score", "layer", "aligned_x", "aligned_y", "velocity"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name), err_msg=name)


def test_layers_of_a_window_of_ten_seconds():
    objects = (item((-2.5, 1.2), (0.28, 0.35)), item((2.5, 2.2), (0.7, 0.62)))
    scene = evcrisp.simulate(
        resolution=RESOLUTION, theta=STILL, objects=objects, duration_us=10_000_000,
        noise_hz=0.02, seed=3,
    )  # fmt: skip
    result = evcrisp.estimate(Window(scene.events, 0, 10_000_000))
    assert len(result.layer_motions) == 2
    for k, thing in enumerate(objects, start=1):
        mine = np.asarray(scene.events.signal) & (scene.object == k)
        assert result.signal[mine].mean() > 0.85
        off = np.linalg.norm(result.velocity[mine & result.signal] - thing.theta, axis=1)
        assert np.median(off) * 10.0 < 0.75


@pytest.mark.slow
def test_objects_are_found_in_a_corner_of_a_large_sensor():
    scene = scene_of(TWO, STILL, 1)
    events = scene.events
    far = Events(
        x=events.x + 1000, y=events.y + 500, t=events.t, p=events.p, resolution=(1280, 720)
    )
    result = evcrisp.estimate(Window(far, 0, WINDOW_US))
    shown = objects_of(scene)
    assert len(result.layer_motions) == 2
    for k, thing in enumerate(TWO, start=1):
        assert result.signal[shown == k].mean() > 0.85
        assert error_px(result, shown == k, thing.theta) < 0.5


@pytest.mark.parametrize(("texture", "seed"), [("star", 1), ("star", 2), ("rocks", 1)])
def test_a_turn_without_growth_is_rigid(texture, seed):
    scene = evcrisp.simulate(
        motion="rigid", theta=(0.0, 0.0, 6.0), texture=texture, duration_us=30_000,
        resolution=(240, 180), noise_hz=3.0, seed=seed,
    )  # fmt: skip
    result = evcrisp.estimate(scene.events)
    assert result.motion.name == "rigid"
    assert result["w"] == pytest.approx(6.0, abs=0.05)


def test_a_growth_that_shows_is_kept():
    scene = evcrisp.simulate(
        motion="similarity", theta=(0.0, 0.0, 6.0, 2.0), texture="shapes", duration_us=30_000,
        noise_hz=3.0, seed=1,
    )  # fmt: skip
    result = evcrisp.estimate(scene.events)
    assert result.motion.name == "similarity"
    np.testing.assert_allclose(result.theta, (0.0, 0.0, 6.0, 2.0), atol=1.0)


def test_a_fast_turn_is_found_though_no_translation_makes_events_stand_out():
    scene = evcrisp.simulate(
        motion="rigid", theta=(0.0, 0.0, 6.0), texture="dots", duration_us=30_000, noise_hz=3.0,
        seed=1,
    )  # fmt: skip
    one = evcrisp.estimate(scene.events, motion="translation")
    assert one.warnings
    result = evcrisp.estimate(scene.events)
    off = np.linalg.norm((result.velocity - scene.velocity)[scene.events.signal], axis=1) * 0.03
    assert off.mean() < 0.5
    assert result.signal[scene.events.signal].mean() > 0.95
