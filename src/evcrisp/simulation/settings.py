"""Settings of a simulation by name: keyword arguments, and the config that they make."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypedDict, TypeVar

from numpy.typing import ArrayLike

from evcrisp.core.camera import Camera
from evcrisp.core.errors import ConfigError
from evcrisp.core.registry import lookup
from evcrisp.simulation.config import (
    CONFIG_PARTS,
    NOISE_PRESETS,
    NoiseConfig,
    ObjectConfig,
    SceneConfig,
    SensorConfig,
    SimulationConfig,
)
from evcrisp.simulation.fields import VelocityField
from evcrisp.simulation.measured import MeasuredNoise, MeasuredSource
from evcrisp.simulation.seeds import Rng, as_seed
from evcrisp.simulation.textures import IMAGE_SUFFIXES


class Settings(TypedDict, total=False):
    """Keyword arguments of :func:`evcrisp.simulate`, which documents them."""

    rng: Rng | None
    seed: int
    resolution: Sequence[int]
    duration_us: int
    t_start_us: int
    window_us: int
    step_px: float
    motion: str
    theta: ArrayLike | None
    field: VelocityField | str | None
    trajectory: str | ArrayLike
    period_us: int
    camera: Camera | None
    texture: str | Path | ArrayLike
    image: ArrayLike | str | Path | None
    contrast: float
    feature_px: float
    blur_px: float
    objects: Sequence[ObjectConfig]
    object_theta: ArrayLike | None
    c_on: float
    c_off: float
    mismatch: float
    refractory_us: float
    noise: str | NoiseConfig
    noise_hz: float
    noise_share: float
    uniform_hz: float
    uniform_share: float
    leak_hz: float
    leak_jitter: float
    shot_hz: float
    dark_ratio: float
    spread_decades: float
    hot_pixels: int
    hot_share: float
    hot_hz: float
    measured: MeasuredNoise | MeasuredSource | None
    measured_lux: str | float | None
    gyro_noise_rad_s: float
    gyro_bias_rad_s: Sequence[float]
    scene: SceneConfig
    sensor: SensorConfig


#: Place of every setting: (part, field); the part is None for the config itself.
SETTINGS: dict[str, tuple[str | None, str]] = {
    **{f.name: (None, f.name) for f in fields(SimulationConfig)},
    **{
        f.name: (part, f.name)
        for part in CONFIG_PARTS
        for f in fields(CONFIG_PARTS[part])
        if f.init
    },
    "rng": (None, "seed"),
    "noise_hz": ("noise", "uniform_hz"),
    "noise_share": ("noise", "uniform_share"),
    "object_theta": ("scene", "object_theta"),
}

F = TypeVar("F", bound=Callable[..., Any])


def with_settings(function: F) -> F:
    """Show every setting with its default in the signature, for ``help`` and completion."""
    signature = inspect.signature(function)
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    config = SimulationConfig()
    for name, annotation in Settings.__annotations__.items():
        part, key = SETTINGS[name]
        default = getattr(config if part is None else getattr(config, part), key, None)
        if name in ("rng", "theta", *CONFIG_PARTS):
            default = None
        kind = inspect.Parameter.KEYWORD_ONLY
        own.append(inspect.Parameter(name, kind, default=default, annotation=annotation))
    function.__signature__ = signature.replace(parameters=own)  # ty: ignore[missing-attribute]
    return function


def build_config(config: SimulationConfig | None, settings: Mapping[str, Any]) -> SimulationConfig:
    """Return a config with some settings replaced.

    >>> build_config(None, {"noise_hz": 2.0, "seed": 7}).noise.uniform_hz
    2.0
    """
    if config is not None and not isinstance(config, SimulationConfig):
        raise ConfigError(
            f"`config` must be a SimulationConfig; got {type(config).__name__}. "
            "Give single settings by name."
        )
    config = SimulationConfig() if config is None else config
    changes: dict[str | None, dict[str, Any]] = {None: {}, "scene": {}, "sensor": {}, "noise": {}}
    for name, value in _with_seed(settings).items():
        part, key = lookup(SETTINGS, name, "simulation setting")
        changes[part][key] = value
    top = changes.pop(None)
    if isinstance(top.get("noise"), str):
        top["noise"] = lookup(NOISE_PRESETS, top["noise"], "noise preset")
    if top.get("motion", config.motion) != config.motion:
        top.setdefault("theta", None)  # the parameters of the old model do not apply
    if "field" in top and top["field"] != config.field:
        top.setdefault("theta", None)  # another kind of motion
    _resolve_scene(changes["scene"])
    for part, change in changes.items():
        if change and part is not None:
            top[part] = replace(top.get(part, getattr(config, part)), **change)
    return replace(config, **top)


def _with_seed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings with ``rng`` as a seed."""
    settings = dict(settings)
    rng = settings.pop("rng", None)
    if rng is not None and "seed" in settings:
        raise ConfigError("`rng` and `seed` are the same setting. Give one of them.")
    return settings if rng is None else {**settings, "seed": as_seed(rng)}


def _resolve_scene(change: dict[str, Any]) -> None:
    """Distinguish the name of a texture from an image, and build the object of ``object_theta``."""
    texture = change.get("texture")
    is_path = isinstance(texture, Path) or (
        isinstance(texture, str) and texture.lower().endswith(IMAGE_SUFFIXES)
    )
    if texture is not None and (is_path or not isinstance(texture, str)):
        change["image"] = change.pop("texture")
    elif texture is not None:
        change.setdefault("image", None)
    theta = change.pop("object_theta", None)
    if theta is not None:
        change["objects"] = (*change.get("objects", ()), ObjectConfig(theta=theta))
