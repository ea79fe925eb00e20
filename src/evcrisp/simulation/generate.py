"""Simulate an event camera: from a config to events and their truth."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.core.types import Floats
from evcrisp.motion import MotionModel, Rotation, motion_model
from evcrisp.simulation.config import SimulationConfig
from evcrisp.simulation.imu import build_imu
from evcrisp.simulation.settings import build_config
from evcrisp.simulation.path import Path
from evcrisp.simulation.result import MotionTruth, Simulation
from evcrisp.simulation.seeds import Stream, generator
from evcrisp.simulation.slabs import simulated_parts
from evcrisp.simulation.trajectories import TRAJECTORIES, Constant, Knots, Trajectory


def simulate(config: SimulationConfig | None = None, **overrides: Any) -> Simulation:
    """Simulate an event camera that looks at a moving scene, and keep the truth.

    The log intensity that pixel x sees at time t is ``texture(T(x, t; theta))`` with the warp T of
    the motion model. Warping the signal events with the true ``theta`` therefore brings all events
    of one point of the scene together.

    Parameters
    ----------
    config : SimulationConfig, optional
        What to simulate; the defaults where not given.
    **overrides
        Fields of the config and of its parts by their plain names, such as ``motion``, ``theta``,
        ``resolution``, ``c_on``, ``leak_hz``; ``noise_hz`` and ``noise_share`` for uniform noise,
        ``noise`` for a preset's name, ``texture`` also for an image (array or path), and
        ``object_theta`` for one object in front.

    Returns
    -------
    Simulation
        Events with labels, origins, objects, true motion and IMU.

    Raises
    ------
    ConfigError
        If a value cannot be.
    UnknownNameError
        If there is no such setting, texture, motion model, trajectory or preset.

    Notes
    -----
    Memory is bounded by the output; for long recordings use :func:`simulate_chunks`.

    Examples
    --------
    >>> simulation = simulate(resolution=(64, 48), theta=(200.0, 0.0), duration_us=20_000, noise_hz=5)
    >>> simulation.theta(0, 20_000).tolist()
    [200.0, 0.0]
    >>> bool((simulation.events.signal == (simulation.origin == 0)).all())
    True
    """
    config = build_config(config, overrides)
    model, paths = build_paths(config)
    parts = list(simulated_parts(config, model, paths))
    return Simulation(
        events=Events.concatenate([part.events for part in parts]),
        origin=np.concatenate([part.origin for part in parts]),
        object=np.concatenate([part.object for part in parts]),
        motion=model,
        motion_truth=motion_truth(config, paths),
        imu=build_imu(config, paths[0]),
        config=config,
        paths=paths,
    )


def simulate_chunks(
    config: SimulationConfig | None = None, *, max_events: int = 1 << 20, **overrides: Any
) -> Iterator[Events]:
    """Yield the events of :func:`simulate` in order, in chunks, in bounded memory.

    Parameters
    ----------
    config, **overrides
        As for :func:`simulate`.
    max_events : int
        Greatest number of events in a chunk. Chunks are small where little happens.
    """
    if max_events < 1:
        raise ConfigError(f"`max_events` must be 1 or more; got {max_events}.")
    config = build_config(config, overrides)
    model, paths = build_paths(config)
    # Where nothing moves and nothing is noisy, no events at all are a recording too.
    yield Events.empty(config.resolution).with_signal([])
    for part in simulated_parts(config, model, paths):
        for first in range(0, len(part.events), max_events):
            yield part.events[first : first + max_events]


def build_paths(config: SimulationConfig) -> tuple[MotionModel, list[Path]]:
    """Return the model, and the path of each layer."""
    model = motion_model(config.motion, config.resolution, config.camera)
    thetas = [config.theta, *(item.theta for item in config.scene.objects)]
    paths = []
    for layer, theta in enumerate(thetas):
        trajectory = _trajectory(config, np.array(theta), layer)
        path = Path.build(model, trajectory, config.duration_us, config.window_us)
        if not isinstance(model, Rotation):  # a room has no end
            path.check_view(config.resolution)
        paths.append(path)
    return model, paths


def _trajectory(config: SimulationConfig, theta: Floats, layer: int) -> Trajectory:
    if isinstance(config.trajectory, str):
        rng = generator(config.seed, Stream.TRAJECTORY, layer)
        return TRAJECTORIES[config.trajectory](theta, config.period_us, rng)
    if layer > 0:
        return Constant(theta)
    knots = np.array(config.trajectory)
    return Knots(knots[:, 0], knots[:, 1:])


def motion_truth(config: SimulationConfig, paths: list[Path]) -> MotionTruth:
    """Return the mean parameters of each layer in windows of ``config.window_us``."""
    t_start = np.arange(0, config.duration_us, config.window_us, dtype=np.int64)
    t_end = np.minimum(t_start + config.window_us, config.duration_us)
    spans = list(zip(t_start.tolist(), t_end.tolist(), strict=True))
    return MotionTruth(
        t_start=config.t_start_us + t_start,
        t_end=config.t_start_us + t_end,
        theta=np.array([[path.mean_theta(*span) for span in spans] for path in paths]),
    )
