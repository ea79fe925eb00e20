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
from evcrisp.simulation.frames import simulate_frames
from evcrisp.simulation.generate import simulate, simulate_chunks
from evcrisp.simulation.result import NO_OBJECT, MotionTruth, Origin, Simulation
from evcrisp.simulation.textures import OUTLINES, TEXTURES
from evcrisp.simulation.trajectories import TRAJECTORIES
from evcrisp.simulation.truth import Truth, simulate_truth

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
