"""Objects with their own motion model and pivot; true velocity, flow and layers."""

import json

import numpy as np
import pytest

from evcrisp.core.camera import Camera
from evcrisp.core.errors import ConfigError, UnknownNameError
from evcrisp.core.windows import seconds_since
from evcrisp.simulation import (
    OUTLINES,
    ObjectConfig,
    Vortex,
    depth_layers,
    simulate,
    simulate_truth,
)

SMALL = {"resolution": (96, 64), "duration_us": 60_000, "window_us": 20_000}
TURNING = ObjectConfig(
    motion="similarity", theta=(120.0, -60.0, 5.0, 2.0), center=(0.4, 0.6), size=(0.4, 0.5)
)


def test_own_translation_is_that_of_the_background_model():
    theta = (-150.0, 80.0)
    plain = simulate(**SMALL, seed=3, objects=(ObjectConfig(theta=theta),))
    own = simulate(**SMALL, seed=3, objects=(ObjectConfig(motion="translation", theta=theta),))
    assert (own.object == 1).sum() > 300
    assert own.events.equals(plain.events)
    np.testing.assert_array_equal(own.object, plain.object)


def test_pivot_at_the_center_of_the_model_is_no_pivot_while_nothing_moves_it():
    # Without velocity the pivot stays where it is.
    theta = (0.0, 0.0, 4.0, 1.0)
    settings = {**SMALL, "motion": "similarity", "theta": (0.0, 0.0, 0.5, 0.0), "seed": 3}
    middle = (47.5 / 96, 31.5 / 64)
    plain = simulate(**settings, objects=(ObjectConfig(theta=theta),))
    own = simulate(**settings, objects=(ObjectConfig(theta=theta, pivot=middle),))
    assert (own.object == 1).sum() > 300
    assert abs(len(own.events) - len(plain.events)) < 0.01 * len(plain.events)
    place = np.array([[20.0, 30.0, 40.0]]), np.array([[10.0, 20.0, 30.0]])
    for t in (0.0, 25_000.0, 60_000.0):
        times = np.full((1, 3), t)
        expected = plain.paths[1].move(*place, times, np.zeros((1, 3)))
        np.testing.assert_allclose(own.paths[1].move(*place, times, np.zeros((1, 3))), expected)


def test_pivot_moves_with_the_object():
    path = simulate(**SMALL, objects=(TURNING,)).paths[1]
    pivot = np.array([0.4 * 96]), np.array([0.6 * 64])
    # At the middle of every window the pivot moves at exactly (vx, vy).
    for middle in (10_000.0, 30_000.0, 50_000.0):
        t = np.array([middle])
        x, y = path.move(*pivot, np.zeros(1), t)
        np.testing.assert_allclose(np.ravel(path.velocity(x, y, t)), (120.0, -60.0), atol=1e-3)
        assert path.model_at(middle).center == pytest.approx((x[0], y[0]))


def test_velocity_about_the_pivot_turns_and_grows():
    path = simulate(**SMALL, objects=(TURNING,)).paths[1]
    (cx, cy), t = path.model_at(30_000.0).center, np.array([30_000.0])
    dx, dy = 7.0, -11.0
    vx, vy = path.velocity(np.array([cx + dx]), np.array([cy + dy]), t)
    # Rotation by w from x towards y, and growth s.
    assert vx[0] == pytest.approx(120.0 + 2.0 * dx - 5.0 * dy, abs=1e-3)
    assert vy[0] == pytest.approx(-60.0 + 2.0 * dy + 5.0 * dx, abs=1e-3)


def test_theta_and_model_of_a_layer_align_its_events_exactly():
    simulation = simulate(**SMALL, theta=(50.0, 0.0), objects=(TURNING,), seed=2)
    truth = simulation.motion_truth
    assert truth.theta.shape == (2, 3, 4)
    np.testing.assert_array_equal(truth.theta[1], np.tile(TURNING.theta, (3, 1)))
    np.testing.assert_array_equal(truth.theta[0, :, :2], np.tile((50.0, 0.0), (3, 1)))
    assert np.isnan(truth.theta[0, :, 2:]).all()
    for t_start in (0, 20_000, 40_000):
        window = t_start, t_start + 20_000
        t_ref = t_start + 10_000
        mine = (
            (simulation.object == 1)
            & (simulation.events.t >= window[0])
            & (simulation.events.t < window[1])
        )
        events = simulation.events[mine]
        assert len(events) > 100
        model, theta = simulation.layer_motion(*window, layer=1), simulation.theta(*window, layer=1)
        # Timestamps are rounded down to whole microseconds.
        warped = model.warp(theta, events.x, events.y, seconds_since(events.t, t_ref) + 0.5e-6)
        x, y = simulation.aligned(t_ref)
        np.testing.assert_allclose(warped, (x[mine], y[mine]), atol=1e-9)
        assert simulation.warp_error_px(theta, *window, layer=1) < 1e-9


def test_noise_has_no_velocity_and_no_position():
    simulation = simulate(**SMALL, noise_hz=50.0, objects=(TURNING,))
    signal = simulation.events.signal
    assert 0 < signal.mean() < 1
    np.testing.assert_array_equal(np.isnan(simulation.velocity).any(axis=1), ~signal)
    np.testing.assert_array_equal(np.isnan(simulation.aligned(0)[0]), ~signal)


def test_flow_is_the_velocity_of_the_visible_layer():
    simulation = simulate(
        **SMALL, theta=(200.0, -50.0), objects=(TURNING,), t_start_us=7_000_000, texture="rocks"
    )
    t = 7_030_000
    flow, layers = simulation.flow(t), simulation.layers(t)
    assert flow.shape == (64, 96, 2)
    assert set(np.unique(layers)) == {0, 1}
    np.testing.assert_allclose(flow[layers == 0], np.tile((200.0, -50.0), ((layers == 0).sum(), 1)))
    y, x = np.nonzero(layers == 1)
    path = simulation.paths[1]
    expected = path.velocity(x.astype(float), y.astype(float), np.full(x.size, 30_000.0))
    np.testing.assert_array_equal(flow[y, x], np.stack(expected, axis=1))
    # Events of that time have the flow of their pixel.
    near = np.abs(simulation.events.t - t) < 100
    events, velocity = simulation.events[near], simulation.velocity[near]
    same = simulation.object[near] == layers[events.y, events.x]
    assert same.sum() > 20
    np.testing.assert_allclose(velocity[same], flow[events.y, events.x][same], atol=0.5)


def test_area_of_the_visible_object_is_that_of_its_outline():
    size = (0.3, 0.5)
    still = ObjectConfig(motion="similarity", theta=(0.0, 0.0, 3.0, 4.0), size=size)
    simulation = simulate(
        resolution=(200, 160), duration_us=100_000, objects=(still,), blur_px=0.0, seed=1
    )
    for t in (0, 50_000, 100_000):
        area = np.pi / 4 * size[0] * 200 * size[1] * 160 * np.exp(2 * 4.0 * t * 1e-6)
        # A rim of up to one pixel of the texture is visible too.
        rim = np.pi * 0.5 * (size[0] * 200 + size[1] * 160) * np.exp(2 * 4.0 * t * 1e-6)
        assert area < (simulation.layers(t) == 1).sum() < area + 1.5 * rim


def test_object_that_shrinks_is_there_once():
    tiny = ObjectConfig(motion="similarity", theta=(0.0, 0.0, 0.0, -20.0), size=(0.4, 0.4))
    simulation = simulate(
        resolution=(200, 160), duration_us=130_000, objects=(tiny,), blur_px=0.0, seed=1
    )
    y, x = np.nonzero(simulation.layers(130_000))
    assert 0 < x.size < 100
    assert x.max() - x.min() < 10
    assert y.max() - y.min() < 10


def test_front_objects_hide_those_behind_them():
    behind = ObjectConfig(motion="translation", theta=(200.0, 0.0), size=(0.5, 0.5))
    front = ObjectConfig(motion="similarity", theta=(0.0, 0.0, 6.0, 0.0), size=(0.25, 0.25))
    simulation = simulate(
        resolution=(160, 120), duration_us=40_000, theta=(0.0, 0.0), objects=(behind, front), seed=5
    )
    events, owner = simulation.events, simulation.object
    assert {1, 2} <= set(np.unique(owner))
    # The front object turns about its center, by a quarter of a radian.
    inside = simulation.layers(20_000) == 2
    x, y = events.x.astype(float), events.y.astype(float)
    turned = np.hypot((x - 80) / 20, (y - 60) / 15)
    assert inside[60, 80]
    assert (owner[turned < 0.6] == 2).all()
    assert (owner[turned > 1.6] == 1).all()


@pytest.mark.parametrize("texture", ["rocks", "shapes"])
def test_events_at_the_edge_belong_to_the_object(texture):
    simulation = simulate(
        resolution=(160, 120), duration_us=50_000, window_us=50_000, theta=(-150.0, 100.0),
        texture=texture, seed=6, blur_px=0.0,
        objects=(
            ObjectConfig(
                motion="similarity", theta=(180.0, 60.0, 4.0, 1.0), center=(0.4, 0.5),
                size=(0.4, 0.4), texture="shapes",
            ),
        ),
    )  # fmt: skip
    events, path = simulation.events, simulation.paths[1]
    # Position of every event on the object, as it was at the start.
    x, y = path.move(
        events.x.astype(float), events.y.astype(float), events.t + 0.5, np.zeros(len(events))
    )
    radius = np.hypot((x - 64) / 32, (y - 60) / 24)
    of_object = simulation.object == 1
    # One step of half a pixel, and one pixel of interpolation, on a radius of 24 px.
    assert radius[of_object].max() < 1.0 + 2.0 / 24
    assert radius[~of_object].min() > 1.0 - 2.0 / 24
    at_edge = np.abs(radius - 1.0) < 1.5 / 24
    assert at_edge.sum() > 200
    assert of_object[at_edge].mean() > 0.8


def test_object_can_move_before_a_turning_camera():
    simulation = simulate(
        **SMALL, motion="rotation", theta=(0.3, 1.0, 0.2), objects=(TURNING,), seed=2
    )
    assert (simulation.object == 1).sum() > 300
    assert simulation.motion_truth.theta.shape == (2, 3, 4)
    assert simulation.warp_error_px(TURNING.theta, 0, 20_000, layer=1) < 1e-9
    assert simulation.warp_error_px((0.3, 1.0, 0.2), 0, 20_000) < 1e-9


def test_velocity_of_a_distorted_camera_is_that_of_its_pixels():
    camera = Camera(140.0, 138.0, 80.0, 58.0, (-0.25, 0.06, 1e-3, -5e-4, 0.0))
    simulation = simulate(
        resolution=(160, 120), motion="rotation", theta=(0.4, -1.0, 0.8), camera=camera,
        duration_us=30_000, seed=1,
    )  # fmt: skip
    path, step = simulation.paths[0], 50.0
    x, y = np.array([5.0, 80.0, 150.0]), np.array([7.0, 60.0, 110.0])
    t = np.full(3, 15_000.0)
    later, earlier = path.move(x, y, t, t + step), path.move(x, y, t, t - step)
    expected = (np.array(later) - np.array(earlier)) / (2e-6 * step)
    np.testing.assert_allclose(path.velocity(x, y, t), expected, atol=1e-3)


def test_own_motion_is_in_the_truth_file():
    objects = (TURNING, ObjectConfig(field=Vortex(peak_px_s=50.0)), ObjectConfig(theta=(1.0, 2.0)))
    truth = simulate_truth(**SMALL, theta=(5.0, 6.0), objects=objects).as_dict()
    truth = json.loads(json.dumps(truth))
    assert truth["layers"] == [
        {"motion": "translation"},
        {"motion": "similarity", "pivot": [0.4, 0.6]},
        {"field": "vortex"},
        {"motion": "translation"},
    ]
    assert truth["windows"][0]["theta"] == [[5.0, 6.0], [120.0, -60.0, 5.0, 2.0], [], [1.0, 2.0]]
    assert truth["settings"]["scene"]["objects"][1]["field"]["name"] == "vortex"


def test_truth_file_of_one_motion_model_names_nothing_else():
    truth = simulate_truth(**SMALL, object_theta=(1.0, 2.0)).as_dict()
    assert set(truth) == {"motion", "param_names", "param_units", "windows", "gyro", "settings"}
    assert set(truth["settings"]["scene"]["objects"][0]) == {
        "theta", "texture", "outline", "center", "size",
    }  # fmt: skip
    assert not {"field"} & set(truth["settings"])
    assert not {"measured", "measured_lux", "measured_digest"} & set(truth["settings"]["noise"])


def test_truth_file_of_a_field_has_no_motion_model():
    truth = simulate_truth(**SMALL, field="shear").as_dict()
    truth = json.loads(json.dumps(truth))
    assert truth["motion"] is None
    assert truth["param_names"] == []
    assert truth["layers"] == [{"field": "shear"}]
    assert truth["windows"][0]["theta"] == [[]]
    assert truth["settings"]["field"] == {
        "name": "shear", "rate_per_s": 4.0, "angle_rad": 0.0, "drift_px_s": 0.0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("item", "error", "message"),
    [
        ({}, ConfigError, "must have `theta` or a velocity `field`"),
        ({"theta": (1, 2), "field": "shear"}, ConfigError, "not both"),
        ({"theta": (1, 2), "motion": "simile"}, UnknownNameError, "Unknown motion model 'simile'"),
        ({"theta": (1, 2), "pivot": (3.0, 0.0)}, ConfigError, "`pivot` must be two shares"),
        ({"field": "swirl"}, UnknownNameError, "Unknown velocity field 'swirl'"),
    ],
)
def test_invalid_object_raises(item, error, message):
    with pytest.raises(error, match=message):
        ObjectConfig(**item)


@pytest.mark.parametrize(
    ("settings", "item", "message"),
    [
        ({}, {"theta": (1, 2), "motion": "zoom"}, "`theta` of object 1 of motion 'zoom' must be 1"),
        ({}, {"theta": (1, 2, 3), "motion": "rotation"}, "can have motion 'rotation'"),
        (
            {"motion": "rotation"},
            {"theta": (1, 2, 3), "pivot": (0.5, 0.5)},
            "can have motion 'rotation', without `pivot`",
        ),
        (
            {"motion": "rotation", "camera": Camera(50, 50, 48, 32, (0.1, 0, 0, 0, 0))},
            {"theta": (1, 2), "motion": "translation"},
            "`camera` may be distorted if all objects have the motion of the background",
        ),
        ({}, {"theta": (0, 0, 0, 200), "motion": "similarity"}, "is too large for"),
    ],
)
def test_object_that_does_not_fit_raises(settings, item, message):
    with pytest.raises(ConfigError, match=message):
        simulate(**SMALL, **settings, objects=(ObjectConfig(**item),))


@pytest.mark.parametrize("t", [-1, 60_001, 0.5])
def test_time_outside_the_recording_raises(t):
    simulation = simulate(**SMALL)
    for call in (simulation.flow, simulation.layers, simulation.aligned):
        with pytest.raises(ConfigError, match=r"`t` must be a whole number in 0..60000"):
            call(t)


def test_depth_layers_move_by_inverse_depth():
    settings = depth_layers(
        (2.0, 8.0, 4.0), (-1.0, 0.5), focal_px=200.0, textures=("dots", "rocks")
    )
    assert settings["theta"] == (25.0, -12.5)
    assert [item.theta for item in settings["objects"]] == [(50.0, -25.0), (100.0, -50.0)]
    assert [settings["texture"], *(item.texture for item in settings["objects"])] == [
        "dots", "rocks", "dots",
    ]  # fmt: skip
    simulation = simulate(**SMALL, **settings)
    assert set(np.unique(simulation.layers(0))) == {0, 1, 2}


@pytest.mark.parametrize("depths", [(), (1.0, -2.0), tuple(range(1, 11)), "far"])
def test_invalid_depths_raise(depths):
    with pytest.raises(ConfigError, match="`depths_m` must be"):
        depth_layers(depths, (1.0, 0.0))


def test_patches_cover_a_fifth_of_the_tile_without_a_seam():
    alpha = OUTLINES["patches"]((192, 256), (10.0, 20.0), (32.0, 24.0))
    assert alpha.mean() == pytest.approx(np.pi / 16, rel=0.05)
    # The pattern repeats: a tile that starts elsewhere has the same share.
    np.testing.assert_allclose(
        OUTLINES["patches"]((192, 256), (10.0 + 64.0, 20.0), (32.0, 24.0)), alpha, atol=1e-12
    )
