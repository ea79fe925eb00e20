import dataclasses
import inspect
import re

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
    simulate_truth,
)
from evcrisp.simulation.settings import SETTINGS, Settings, build_config
from evcrisp.simulation.textures import TextureSpec

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
def test_unknown_names_raise_with_a_suggestion(settings, message):
    with pytest.raises(UnknownNameError, match=message):
        simulate(**SMALL, **settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"theta": (1.0,)}, r"must be 2 numbers \(vx, vy\); got 1"),
        ({"theta": (1.0, float("nan"))}, "`theta` must be finite"),
        ({"theta": "fast"}, "`theta` must be numbers"),
        ({"theta": (1e8, 0.0)}, "the maximum is 1e[+]06 px/s"),
        ({"motion": "similarity", "theta": (0, 0, 0, 1e6)}, "too large for motion"),
        ({"motion": "zoom", "theta": (5.0,), "duration_us": 2_000_000}, "Shorten `duration_us`"),
        ({"motion": "affine", "duration_us": 20_000_000}, "`trajectory` 'sine'"),
        ({"object_theta": (1.0, 2.0, 3.0)}, "`object_theta` .* must be 2 numbers"),
        ({"c_on": 0.0}, r"`c_on` must be a number in 0.005..10; got 0.0"),
        ({"c_off": "high"}, "`c_off` must be a number in"),
        ({"mismatch": -0.1}, "`mismatch` must be a number in"),
        ({"refractory_us": float("nan")}, "`refractory_us` must be a number in"),
        ({"noise_hz": -1}, "`uniform_hz` must be a number in"),
        ({"hot_pixels": 1.5}, "`hot_pixels` must be a whole number, 0 or more; got 1.5"),
        ({"duration_us": 0}, "`duration_us` must be a whole number in 1"),
        ({"duration_us": 1e5}, "`duration_us` must be a whole number"),
        ({"seed": -1}, "`seed` must be a whole number"),
        ({"window_us": 5}, "`window_us` must be a whole number, 100 or more"),
        ({"step_px": 5.0}, "`step_px` must be a number in"),
        ({"contrast": 1.0}, "`contrast` must be a number in"),
        ({"gyro_bias_rad_s": (1.0, 2.0)}, "`gyro_bias_rad_s` must be three numbers"),
        ({"trajectory": [[0.0, 1.0]]}, r"knots of shape \(n, 3\)"),
        ({"trajectory": [[5.0, 1, 1], [5.0, 2, 2]]}, "its times must increase"),
        (
            {"objects": [ObjectConfig(theta=(0, 0))] * 9},
            "`objects` must hold at most 8 objects; got 9",
        ),
        ({"resolution": (65_000, 65_000)}, "`resolution` may have up to"),
        (
            {"camera": Camera(10, 10, 5, 5, (0.1, 0, 0, 0, 0))},
            "may be distorted for motion 'rotation' only",
        ),
    ],
)
def test_invalid_settings_raise(settings, message):
    with pytest.raises(ConfigError, match=message):
        simulate(**{**SMALL, **settings})


def test_invalid_resolution_raises():
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
def test_invalid_object_raises(settings, error, message):
    with pytest.raises(error, match=message):
        ObjectConfig(theta=(0.0, 0.0), **settings)


def test_config_of_another_type_raises():
    with pytest.raises(ConfigError, match="must be a SimulationConfig; got dict"):
        simulate({"seed": 1})


def test_invalid_chunk_size_and_frame_period_raise():
    with pytest.raises(ConfigError, match="`max_events` must be a positive whole number"):
        next(simulate_chunks(max_events=0))
    with pytest.raises(ConfigError, match="`frame_period_us` must be a positive whole number"):
        next(simulate_frames(frame_period_us=0))


def test_settings_set_the_fields_of_their_part():
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


def test_settings_change_only_their_fields():
    config = SimulationConfig(seed=3, noise=NoiseConfig(leak_hz=1.0))
    changed = build_config(config, {"shot_hz": 2.0})
    assert changed == dataclasses.replace(config, noise=NoiseConfig(leak_hz=1.0, shot_hz=2.0))
    assert build_config(config, {}) == config


def test_another_motion_resets_theta():
    config = SimulationConfig(theta=(1.0, 2.0))
    assert build_config(config, {"motion": "rotation"}).theta == DEFAULT_THETA["rotation"]
    assert build_config(config, {"motion": "translation"}).theta == (1.0, 2.0)


def test_setting_names_are_unique():
    parts = (SimulationConfig, SceneConfig, SensorConfig, NoiseConfig)
    names = [f.name for part in parts for f in dataclasses.fields(part) if f.init]
    assert len(names) == len(set(names))
    assert set(names) < set(SETTINGS)


@pytest.mark.parametrize(
    "function",
    [simulate, simulate_chunks, simulate_frames, simulate_truth],
    ids=lambda f: f.__name__,
)
def test_signature_shows_every_setting_with_its_default(function):
    parameters = inspect.signature(function).parameters
    assert set(Settings.__annotations__) == set(SETTINGS) <= set(parameters)
    assert parameters["c_on"].default == SensorConfig().c_on
    assert parameters["noise_hz"].default == NoiseConfig().uniform_hz
    assert parameters["period_us"].default == SimulationConfig().period_us


def test_every_setting_is_documented():
    for name in SETTINGS:
        assert re.search(rf"\b{name}\b", simulate.__doc__), name


def test_integer_rng_is_the_seed():
    assert build_config(None, {"rng": 7}) == build_config(None, {"seed": 7})
    assert build_config(None, {"rng": np.int64(7)}).seed == 7
    assert build_config(SimulationConfig(seed=3), {"rng": None}).seed == 3


def test_generators_and_seed_sequences_are_accepted_as_rng():
    rng = np.random.default_rng(1)
    first, second = (build_config(None, {"rng": rng}).seed for _ in range(2))
    assert first != second
    assert first == build_config(None, {"rng": np.random.default_rng(1)}).seed
    sequence = np.random.SeedSequence(1)
    assert build_config(None, {"rng": sequence}) == build_config(None, {"rng": sequence})


@pytest.mark.parametrize("rng", [-1, 1.5, True, "1"])
def test_invalid_rng_raises(rng):
    with pytest.raises(ConfigError, match="`rng` must be a whole number"):
        simulate(**SMALL, rng=rng)


def test_rng_and_seed_together_raise():
    with pytest.raises(ConfigError, match="`rng` and `seed` are the same setting"):
        simulate(**SMALL, rng=1, seed=1)


def test_configs_with_the_same_image_are_equal_and_others_are_not():
    image = np.random.default_rng(0).random((20, 30))
    assert SceneConfig(image=image) == SceneConfig(image=image.copy())
    assert SceneConfig(image=image) != SceneConfig(image=image[::-1])
    assert SceneConfig(image=image) != SceneConfig()


def test_default_theta_is_in_the_config():
    assert simulate(**SMALL, motion="zoom").config.theta == DEFAULT_THETA["zoom"]


@pytest.mark.parametrize("name", TEXTURES)
@pytest.mark.parametrize("size", [(1, 1), (3, 2), (50, 40)])
def test_every_texture_works_on_every_sensor(name, size):
    simulation = simulate(texture=name, resolution=size, duration_us=20_000, noise_hz=50)
    assert simulation.events.resolution == size


@pytest.mark.parametrize("name", TEXTURES)
def test_every_texture_has_contrast_and_no_seam(name):
    tile = TEXTURES[name](TextureSpec(np.random.default_rng(0), (192, 256), 32.0, 80.0))
    assert tile.shape == (192, 256)
    assert tile.min() >= 0
    assert tile.max() <= 1
    assert tile.std() > 0.1
    inner = np.abs(np.diff(tile, axis=1)).max()
    seam = np.abs(tile[:, 0] - tile[:, -1]).max()
    assert seam <= inner + 1e-9
    assert np.abs(tile[0] - tile[-1]).max() <= np.abs(np.diff(tile, axis=0)).max() + 1e-9
