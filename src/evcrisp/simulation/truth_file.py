"""Truth of a simulation as JSON types, for the file beside a recording."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from evcrisp.simulation.config import ObjectConfig, SimulationConfig
from evcrisp.simulation.fields import VelocityField

if TYPE_CHECKING:
    from evcrisp.simulation.result import Truth

#: Settings that are written only where they are given.
_OPTIONAL = ("field", "pivot", "motion", "measured_lux", "measured_digest")


def truth_as_dict(truth: "Truth") -> dict[str, Any]:
    """Return windows, parameters with units, gyroscope and settings as JSON types.

    ``layers`` tells the motion of each layer, where they differ in kind.
    """
    windows = truth.motion_truth
    thetas = windows.theta.swapaxes(0, 1)
    has_model = truth.config.field is None
    described: dict[str, Any] = {
        "motion": truth.config.motion if has_model else None,
        "param_names": list(truth.motion.param_names if has_model else ()),
        "param_units": list(truth.motion.param_units if has_model else ()),
    }
    layers = [_layer_as_dict(layer, truth.config.motion) for layer in _layers(truth.config)]
    if any(layer != {"motion": truth.config.motion} for layer in layers):
        described["layers"] = layers
    return {
        **described,
        "windows": [
            {
                "t_start_us": start,
                "t_end_us": end,
                "theta": [row[~np.isnan(row)].tolist() for row in theta],
            }
            for start, end, theta in zip(
                windows.t_start.tolist(), windows.t_end.tolist(), thetas, strict=True
            )
        ],
        "gyro": {"t_us": truth.imu.t.tolist(), "rad_s": truth.imu.gyro_rad_s.tolist()},
        "settings": _settings_as_dict(truth.config),
    }


def _layers(config: SimulationConfig) -> tuple[SimulationConfig | ObjectConfig, ...]:
    return (config, *config.scene.objects)


def _layer_as_dict(layer: SimulationConfig | ObjectConfig, motion: str) -> dict[str, Any]:
    """Return the kind of motion of a layer; ``motion`` is that of the background."""
    if isinstance(layer.field, VelocityField):
        return {"field": layer.field.name}
    if isinstance(layer, ObjectConfig) and layer.start_pivot is not None:
        return {"motion": layer.motion or motion, "pivot": list(layer.start_pivot)}
    return {"motion": layer.motion or motion}


def _settings_as_dict(config: SimulationConfig) -> dict[str, Any]:
    """Return the settings; arrays are left out, and kinds of motion and noise that are not used."""
    settings = asdict(config)
    settings["scene"].pop("image")  # its digest stays
    settings["noise"].pop("measured")  # its digest stays
    places = (settings, *settings["scene"]["objects"])
    for place, layer in zip(places, _layers(config), strict=True):
        if isinstance(layer.field, VelocityField):
            values = place["field"] if isinstance(place["field"], dict) else {}
            place["field"] = {"name": layer.field.name, **values}
    for place in (*places, settings["noise"]):
        for key in _OPTIONAL:
            if place.get(key, 0) is None:
                del place[key]
    return settings
