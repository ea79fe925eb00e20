"""Simulated event camera with known labels and motion.

::

    texture -> path (texel of each pixel) -> sensor (thresholds, reset) -> signal events
                                                noise (leak, shot, hot, uniform) -> merged
"""

from evcrisp.simulation.config import (
    DEFAULT_THETA,
    NOISE_PRESETS,
    NoiseConfig,
    ObjectConfig,
    SceneConfig,
    SensorConfig,
    SimulationConfig,
)
from evcrisp.simulation.generate import (
    simulate,
    simulate_chunks,
    simulate_frames,
    simulate_truth,
)
from evcrisp.simulation.result import NO_OBJECT, MotionTruth, Origin, Simulation, Truth
from evcrisp.simulation.textures import OUTLINES, TEXTURES
from evcrisp.simulation.trajectories import TRAJECTORIES

__all__ = [
    "DEFAULT_THETA",
    "NOISE_PRESETS",
    "NO_OBJECT",
    "OUTLINES",
    "TEXTURES",
    "TRAJECTORIES",
    "MotionTruth",
    "NoiseConfig",
    "ObjectConfig",
    "Origin",
    "SceneConfig",
    "SensorConfig",
    "Simulation",
    "SimulationConfig",
    "Truth",
    "simulate",
    "simulate_chunks",
    "simulate_frames",
    "simulate_truth",
]
