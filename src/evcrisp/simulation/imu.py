"""The inertial unit that rides on the simulated camera."""

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.sensor_data import STANDARD_GRAVITY_M_S2, Imu
from evcrisp.motion import Rotation, Similarity
from evcrisp.simulation.config import SimulationConfig
from evcrisp.simulation.path import Path
from evcrisp.simulation.seeds import Stream, generator

PERIOD_US = 1000


def build_imu(config: SimulationConfig, path: Path) -> Imu:
    """Sample the camera's turning at 1 kHz, with noise and bias.

    Rotation gives its own angular velocity. A similarity is seen as a roll of the camera, against the
    rotation of the image; all other models do not turn the camera. The accelerometer of a level
    camera at rest shows gravity's reaction, which points up: ``(0, -g, 0)`` as y points down.
    """
    since_start = np.arange(0, config.duration_us, PERIOD_US, dtype=np.int64)
    theta = path.trajectory.theta(since_start.astype(np.float64))
    gyro = np.zeros((since_start.size, 3))
    accel = np.tile((0.0, -STANDARD_GRAVITY_M_S2, 0.0), (since_start.size, 1))
    if isinstance(path.model, Rotation):
        gyro = theta
        accel = _turned(accel, path, path.model, since_start)
    elif isinstance(path.model, Similarity):
        gyro[:, 2] = -theta[:, 2]
        roll = np.concatenate(([0.0], np.cumsum(gyro[:-1, 2] + gyro[1:, 2]) * PERIOD_US / 2e6))
        accel[:, 0] = -STANDARD_GRAVITY_M_S2 * np.sin(roll)
        accel[:, 1] = -STANDARD_GRAVITY_M_S2 * np.cos(roll)
    rng = generator(config.seed, Stream.GYRO)
    noise = config.gyro_noise_rad_s * rng.standard_normal(gyro.shape)
    return Imu(
        t=config.t_start_us + since_start,
        gyro_rad_s=gyro + noise + np.asarray(config.gyro_bias_rad_s),
        accel_m_s2=accel,
    )


def _turned(
    world: NDArray[np.float64], path: Path, model: Rotation, since_start: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return vectors that stand still in the world as the turned camera sees them."""
    k = model.camera.matrix
    to_world = np.linalg.inv(k) @ path.matrices(since_start.astype(np.float64)) @ k
    return np.einsum("nji,nj->ni", to_world, world)
