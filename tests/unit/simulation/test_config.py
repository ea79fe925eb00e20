import dataclasses

import numpy as np
import pytest

from evcrisp.core.camera import Camera
from evcrisp.core.errors import ConfigError, EventDataError, UnknownNameError
from evcrisp.simulation import (
    DEFAULT_THETA,
    TEXTURES,
    NoiseConfig,
    ObjectConfig,
    SceneConfig,
    SensorConfig,
    SimulationConfig,
    simulate,
    simulate_chunks,
    simulate_frames,
)
from evcrisp.simulation.settings import SETTINGS, build_config

SMALL = {"resolution": (32, 24), "duration_us": 5000}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"texture": "shape"}, "Unknown texture 'shape'. Did you mean 'shapes'"),
        ({"motion": "rotate"}, "Unknown motion model 'rotate'. Did you mean 'rotation'"),
        ({"trajectory": "sinus"}, "Unknown trajectory 'sinus'"),
        ({"noise": "darkk"}, "Unknown noise preset 'darkk'. Did you mean 'dark'"),
        ({"refractory": 3}, "Unknown simulation setting 'refractory'"),
        ({"image_digest": "x"}, "Unknown simulation setting"),
    ],
)
def test_unknown_names_are_refused_with_the_known_ones(settings, message):
    with pytest.raises(UnknownNameError, match=message):
        simulate(**SMALL, **settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"theta": (1.0,)}, r"must be 2 numbers \(vx, vy\); got 1"),
        ({"theta": (1.0, float("nan"))}, "`theta` must be finite"),
        ({"theta": "fast"}, "`theta` must be numbers"),
        ({"theta": (1e8, 0.0)}, "up to 1e[+]06 can be simulated"),
        ({"motion": "similarity", "theta": (0, 0, 0, 1e6)}, "out of sight|beyond all bounds"),
        ({"motion": "zoom", "theta": (5.0,), "duration_us": 2_000_000}, "Shorten `duration_us`"),
        ({"motion": "affine", "duration_us": 20_000_000}, "`trajectory` 'sine'"),
        ({"object_theta": (1.0, 2.0, 3.0)}, "`object_theta` .* must be 2 numbers"),
        ({"c_on": 0.0}, r"`c_on` must lie in 0.005..10; got 0.0"),
        ({"c_off": "high"}, "`c_off` must lie in"),
        ({"mismatch": -0.1}, "`mismatch` must lie in"),
        ({"refractory_us": float("nan")}, "`refractory_us` must lie in"),
        ({"noise_hz": -1}, "`uniform_hz` must lie in"),
        ({"hot_pixels": 1.5}, "`hot_pixels` must be a whole number, 0 or more; got 1.5"),
        ({"duration_us": 0}, "`duration_us` must be a whole number, in 1"),
        ({"duration_us": 1e5}, "`duration_us` must be a whole number"),
        ({"seed": -1}, "`seed` must be a whole number"),
        ({"window_us": 5}, "`window_us` must be a whole number, 100 or more"),
        ({"step_px": 5.0}, "`step_px` must lie in"),
        ({"contrast": 1.0}, "`contrast` must lie in"),
        ({"gyro_bias_rad_s": (1.0, 2.0)}, "`gyro_bias_rad_s` must be three numbers"),
        ({"trajectory": [[0.0, 1.0]]}, r"knots of shape \(n, 3\)"),
        ({"trajectory": [[5.0, 1, 1], [5.0, 2, 2]]}, "its times must increase"),
        ({"objects": [ObjectConfig(theta=(0, 0))] * 9}, "`objects` may be up to 8; got 9"),
        ({"resolution": (65_000, 65_000)}, "`resolution` may have up to"),
        (
            {"camera": Camera(10, 10, 5, 5, (0.1, 0, 0, 0, 0))},
            "may be distorted for motion 'rotation' only",
        ),
    ],
)
def test_impossible_settings_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        simulate(**{**SMALL, **settings})


def test_an_impossible_sensor_is_refused():
    with pytest.raises(EventDataError, match=r"`resolution` must be \(width, height\)"):
        simulate(resolution=(0, 5))


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"outline": "blob"}, UnknownNameError, "Unknown outline 'blob'"),
        ({"texture": "blob"}, UnknownNameError, "Unknown texture 'blob'"),
        ({"size": (0.0, 0.5)}, ConfigError, "`size` must be two shares"),
        ({"center": (0.5,)}, ConfigError, "`center` must be two shares"),
    ],
)
def test_an_impossible_object_is_refused(settings, error, message):
    with pytest.raises(error, match=message):
        ObjectConfig(theta=(0.0, 0.0), **settings)


def test_a_config_must_be_one():
    with pytest.raises(ConfigError, match="must be a SimulationConfig; got dict"):
        simulate({"seed": 1})


def test_chunks_and_frames_refuse_nothing_at_a_time():
    with pytest.raises(ConfigError, match="`max_events` must be 1 or more"):
        next(simulate_chunks(max_events=0))
    with pytest.raises(ConfigError, match="`period_us` must be 1 or more"):
        next(simulate_frames(period_us=0))


def test_settings_by_plain_names_reach_their_part():
    config = build_config(
        None,
        {
            "texture": "rocks",
            "c_on": 0.4,
            "leak_hz": 2.0,
            "noise_hz": 3.0,
            "object_theta": (5, 6),
            "seed": 9,
        },
    )
    assert config == SimulationConfig(
        seed=9,
        scene=SceneConfig(texture="rocks", objects=(ObjectConfig(theta=(5.0, 6.0)),)),
        sensor=SensorConfig(c_on=0.4),
        noise=NoiseConfig(leak_hz=2.0, uniform_hz=3.0),
    )


def test_settings_change_a_given_config_and_nothing_else():
    config = SimulationConfig(seed=3, noise=NoiseConfig(leak_hz=1.0))
    changed = build_config(config, {"shot_hz": 2.0})
    assert changed == dataclasses.replace(config, noise=NoiseConfig(leak_hz=1.0, shot_hz=2.0))
    assert build_config(config, {}) == config


def test_another_motion_forgets_the_parameters_of_the_old_one():
    config = SimulationConfig(theta=(1.0, 2.0))
    assert build_config(config, {"motion": "rotation"}).theta == DEFAULT_THETA["rotation"]
    assert build_config(config, {"motion": "translation"}).theta == (1.0, 2.0)


def test_no_setting_has_two_homes():
    parts = (SimulationConfig, SceneConfig, SensorConfig, NoiseConfig)
    names = [f.name for part in parts for f in dataclasses.fields(part) if f.init]
    assert len(names) == len(set(names))
    assert set(names) < set(SETTINGS)


def test_configs_with_the_same_image_are_equal_and_others_are_not():
    image = np.random.default_rng(0).random((20, 30))
    assert SceneConfig(image=image) == SceneConfig(image=image.copy())
    assert SceneConfig(image=image) != SceneConfig(image=image[::-1])
    assert SceneConfig(image=image) != SceneConfig()


def test_the_result_keeps_the_parameters_that_were_not_given():
    assert simulate(**SMALL, motion="zoom").config.theta == DEFAULT_THETA["zoom"]


@pytest.mark.parametrize("name", TEXTURES)
@pytest.mark.parametrize("size", [(1, 1), (3, 2), (50, 40)])
def test_every_texture_works_on_every_sensor(name, size):
    simulation = simulate(texture=name, resolution=size, duration_us=20_000, noise_hz=50)
    assert simulation.events.resolution == size


@pytest.mark.parametrize("name", TEXTURES)
def test_every_texture_moves_and_repeats_without_a_seam(name):
    tile = TEXTURES[name](np.random.default_rng(0), (192, 256), 32.0, 80.0)
    assert tile.shape == (192, 256)
    assert tile.min() >= 0
    assert tile.max() <= 1
    assert tile.std() > 0.1
    inner = np.abs(np.diff(tile, axis=1)).max()
    seam = np.abs(tile[:, 0] - tile[:, -1]).max()
    assert seam <= inner + 1e-9
    assert np.abs(tile[0] - tile[-1]).max() <= np.abs(np.diff(tile, axis=0)).max() + 1e-9
