"""Settings by their plain names, put into the right part of a config."""

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from evcrisp.core.errors import ConfigError
from evcrisp.core.registry import lookup
from evcrisp.simulation.config import (
    NOISE_PRESETS,
    NoiseConfig,
    ObjectConfig,
    SceneConfig,
    SensorConfig,
    SimulationConfig,
)
from evcrisp.simulation.images import IMAGE_SUFFIXES

_PARTS = {"scene": SceneConfig, "sensor": SensorConfig, "noise": NoiseConfig}

#: Where every setting goes: (part, field); the part is None for the config itself.
SETTINGS: dict[str, tuple[str | None, str]] = {
    **{f.name: (None, f.name) for f in fields(SimulationConfig)},
    **{f.name: (part, f.name) for part, kind in _PARTS.items() for f in fields(kind) if f.init},
    "noise_hz": ("noise", "uniform_hz"),
    "noise_share": ("noise", "uniform_share"),
    "object_theta": ("scene", "object_theta"),
}


def build_config(config: SimulationConfig | None, overrides: Mapping[str, Any]) -> SimulationConfig:
    """Return a config with some settings replaced.

    Examples
    --------
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
    for name, value in overrides.items():
        part, key = lookup(SETTINGS, name, "simulation setting")
        changes[part][key] = value
    top = changes.pop(None)
    if isinstance(top.get("noise"), str):
        top["noise"] = lookup(NOISE_PRESETS, top["noise"], "noise preset")
    if top.get("motion", config.motion) != config.motion:
        top.setdefault("theta", None)  # the old model's parameters mean nothing to the new one
    _sort_out_scene(changes["scene"])
    for part, change in changes.items():
        if change and part is not None:
            top[part] = replace(top.get(part, getattr(config, part)), **change)
    return replace(config, **top)


def _sort_out_scene(change: dict[str, Any]) -> None:
    """Tell a texture's name from an image, and make an object of its motion."""
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
