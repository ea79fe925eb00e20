"""Inertial measurement unit of the simulated camera."""

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.camera import Camera
from evcrisp.core.sensor_data import STANDARD_GRAVITY_M_S2, Imu
from evcrisp.core.types import Floats
from evcrisp.motion.protocol import camera_of
from evcrisp.simulation.config import SimulationConfig
from evcrisp.simulation.path import Path
from evcrisp.simulation.seeds import Stream, generator

PERIOD_US = 1000  # 1 kHz, as in common event cameras


def build_imu(config: SimulationConfig, path: Path) -> Imu:
    """Sample angular velocity and acceleration at 1 kHz, with noise and bias of the gyroscope.

    The accelerometer of a level camera at rest measures the reaction to gravity, which points up:
    ``(0, -g, 0)``, since y points down.
    """
    since_start = np.arange(0, config.duration_us, PERIOD_US, dtype=np.int64)
    theta = path.trajectory.theta(since_start.astype(np.float64))
    gyro = np.zeros((since_start.size, 3))
    accel = np.tile((0.0, -STANDARD_GRAVITY_M_S2, 0.0), (since_start.size, 1))
    velocity, camera = path.model.angular_velocity(theta.T), camera_of(path.model)
    if velocity is not None:
        gyro = np.ascontiguousarray(velocity.T)
    if camera is not None:
        accel = _in_camera_axes(accel, path, camera, since_start)
    elif velocity is not None:
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


def _in_camera_axes(
    world: Floats, path: Path, camera: Camera, since_start: NDArray[np.int64]
) -> Floats:
    """Rotate vectors from world axes to the axes of the camera at each time."""
    k = camera.matrix
    to_world = np.linalg.inv(k) @ path.matrices(since_start.astype(np.float64)) @ k
    return np.einsum("nji,nj->ni", to_world, world)
