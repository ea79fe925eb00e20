"""Random scenes for training, and held-out scenes at fixed noise levels."""

from contextlib import suppress
from typing import Any

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.motion import MOTION_MODELS, MotionModel, motion_model
from evcrisp.simulation import TEXTURES, ObjectConfig, SimulationConfig, simulate_truth
from evcrisp.simulation.settings import build_config

#: Total noise, Hz per pixel: range of training scenes, and levels of held-out scenes.
NOISE_HZ = (0.5, 50.0)
TEST_LEVELS_HZ = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)

#: First seed of held-out scenes; seeds of training scenes are smaller.
TEST_SEEDS = 1_000_000

_SPEED_PX_S = (20.0, 1500.0)
_DURATION_US = (50_000.0, 2_000_000.0)
_EVENTS = 80_000  # approximate number per scene
_SIGNAL_HZ = 15.0  # per pixel, estimated; only sets the resolution
_MAX_TRIES = 50


def training_scene(seed: int) -> SimulationConfig:
    """Draw texture, motion, sensor and noise of a training scene from its seed."""
    return _draw_scene(np.random.default_rng(seed), seed, None)


def held_out_scene(seed: int, noise_hz: float) -> SimulationConfig:
    """Draw a held-out scene at a given noise level."""
    return _draw_scene(np.random.default_rng(TEST_SEEDS + seed), TEST_SEEDS + seed, noise_hz)


def _draw_scene(rng: np.random.Generator, seed: int, noise_hz: float | None) -> SimulationConfig:
    for _ in range(_MAX_TRIES):
        with suppress(ConfigError):  # the view leaves the texture or comes too close to it
            config = build_config(None, _settings(rng, seed, noise_hz))
            simulate_truth(config)
            return config
    raise ConfigError(f"`seed` {seed} gives no valid scene in {_MAX_TRIES} tries. Use another.")


def _settings(rng: np.random.Generator, seed: int, noise_hz: float | None) -> dict[str, Any]:
    level = _log_uniform(rng, *NOISE_HZ)
    duration_us = round(_log_uniform(rng, *_DURATION_US))
    if noise_hz is not None:
        level, duration_us = noise_hz, 200_000
    area = 4 / 3 * _EVENTS / (1e-6 * duration_us * (level + _SIGNAL_HZ))
    width = np.clip(np.sqrt(area), 72.0, 240.0)
    resolution = (round(width), round(0.75 * width))
    motion = str(rng.choice(sorted(MOTION_MODELS)))
    model = motion_model(motion, resolution)
    textures = sorted(TEXTURES)
    objects = tuple(
        ObjectConfig(
            theta=_theta(rng, model, resolution),
            texture=str(rng.choice(textures)),
            center=tuple(rng.uniform(0.2, 0.8, 2)),
            size=tuple(rng.uniform(0.15, 0.5, 2)),
        )
        for _ in range(int(rng.choice(3, p=(0.6, 0.3, 0.1))))
    )
    return {
        "resolution": resolution,
        "duration_us": duration_us,
        "window_us": duration_us,
        "seed": seed,
        "motion": motion,
        "theta": _theta(rng, model, resolution),
        "trajectory": str(rng.choice(("constant", "sine", "random"))),
        "period_us": round(_log_uniform(rng, 1e5, 1e6)),
        "texture": str(rng.choice(textures)),
        "contrast": _log_uniform(rng, 1.5, 20.0),
        "feature_px": _log_uniform(rng, 8.0, 60.0),
        "blur_px": rng.uniform(0.4, 1.5),
        "objects": objects,
        "c_on": _log_uniform(rng, 0.1, 0.5),
        "c_off": _log_uniform(rng, 0.1, 0.5),
        "mismatch": rng.uniform(0.02, 0.2),
        "refractory_us": _log_uniform(rng, 10.0, 1000.0),
        **_noise(rng, level),
    }


def _noise(rng: np.random.Generator, level: float) -> dict[str, Any]:
    """Divide the noise among its kinds; 40 % of the scenes also have hot pixels."""
    uniform, shot, leak = rng.dirichlet((1.0, 1.0, 0.3))
    return {
        "uniform_hz": level * uniform,
        "shot_hz": level * shot,
        "leak_hz": level * leak,
        "leak_jitter": rng.uniform(0.05, 0.5),
        "dark_ratio": _log_uniform(rng, 1.0, 20.0),
        "spread_decades": rng.uniform(0.0, 0.4),
        "hot_share": _log_uniform(rng, 1e-4, 2e-3) * int(rng.random() < 0.4),
        "hot_hz": _log_uniform(rng, 50.0, 1000.0),
    }


def _theta(
    rng: np.random.Generator, model: MotionModel, resolution: tuple[int, int]
) -> tuple[float, ...]:
    """Draw motion parameters of equal effect on the image, scaled to a random speed."""
    axes = np.eye(len(model.param_names))
    unit = 1.0 / np.array([_speed(model, axis, resolution) for axis in axes])
    theta = unit * rng.standard_normal(unit.size)
    theta *= _log_uniform(rng, *_SPEED_PX_S) / _speed(model, theta, resolution)
    return tuple(theta.tolist())


def _speed(model: MotionModel, theta: Any, resolution: tuple[int, int]) -> float:
    """Return the image speed, px/s, root mean square over the sensor."""
    sides = (np.linspace(0.0, side - 1.0, 7) for side in resolution)
    x, y = (grid.ravel() for grid in np.meshgrid(*sides))
    # All models are linear over one microsecond.
    moved_x, moved_y = model.warp(np.asarray(theta, np.float64), x, y, 1e-6)
    return 1e6 * float(np.sqrt(np.mean((moved_x - x) ** 2 + (moved_y - y) ** 2)))


def _log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))
