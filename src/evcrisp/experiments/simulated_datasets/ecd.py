"""Simulate ECD: sequences with calibration, gyroscope and poses, as text."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from evcrisp.core.camera import Camera
from evcrisp.core.sensor_data import Imu
from evcrisp.core.types import Floats
from evcrisp.experiments.datasets.ecd import DAVIS240
from evcrisp.experiments.simulated_datasets import SimulatedDataset, write_true_labels
from evcrisp.io.atomic_output import replacing
from evcrisp.io.writing import write
from evcrisp.simulation import Simulation, simulate

#: Camera similar to that of the real sequences.
CAMERA = Camera(199.1, 198.8, 132.2, 110.7, (-0.368, 0.151, -0.0003, -0.0017, 0.0))
#: The same camera without distortion, which the simulated translation needs.
IDEAL = Camera(199.1, 198.8, 132.2, 110.7)

#: Distance of the plane in the sequences with translation, m.
DISTANCE_M = 1.0

#: Period of the poses, us: 200 Hz as in the real sequences.
_POSE_PERIOD_US = 5_000

#: Sequence -> parameters of its simulation; rotation in rad/s, translation in px/s.
SEQUENCES: dict[str, dict[str, Any]] = {
    "dynamic_rotation": {"motion": "rotation", "theta": (0.8, -2.0, 0.6), "texture": "shapes"},
    "boxes_rotation": {"motion": "rotation", "theta": (1.6, 3.0, -1.2), "texture": "dots"},
    "dynamic_translation": {"theta": (160.0, -60.0), "texture": "shapes"},
    "boxes_translation": {"theta": (-260.0, 90.0), "texture": "dots"},
}


def write_ecd(folder: Path, simulated: SimulatedDataset) -> Iterator[Path]:
    """Write the sequences one by one, and yield their folders."""
    duration_us = 100_000 if simulated.small else 1_000_000
    for number, (name, scene_options) in enumerate(SEQUENCES.items()):
        camera = CAMERA if "motion" in scene_options else IDEAL
        scene = simulate(
            **scene_options,
            camera=camera,
            resolution=DAVIS240,
            duration_us=duration_us,
            trajectory="sine",
            period_us=800_000,
            noise_hz=1.0,
            gyro_noise_rad_s=0.005,
            seed=simulated.seed + number,
        )
        (folder / name).mkdir(parents=True, exist_ok=True)
        path, events = folder / name / "events.txt", scene.events
        write(path, events.with_signal(None), format="ecd", overwrite=True)
        write_true_labels(path, events)
        numbers = (camera.fx, camera.fy, camera.cx, camera.cy, *camera.distortion)
        _write_text(folder / name / "calib.txt", [_joined(numbers)])
        _write_text(folder / name / "imu.txt", _imu_lines(scene.imu))
        _write_text(folder / name / "groundtruth.txt", _pose_lines(scene, camera))
        yield folder / name


def _write_text(path: Path, lines: list[str]) -> None:
    with replacing(path, overwrite=True) as temporary:
        temporary.write_text("\n".join(lines) + "\n")


def _joined(numbers: Iterable[float]) -> str:
    return " ".join(f"{value:.9g}" for value in numbers)


def _imu_lines(imu: Imu) -> list[str]:
    """Return ``t ax ay az gx gy gz``: s, m/s^2, rad/s."""
    rows = np.column_stack((imu.t / 1e6, imu.accel_m_s2, imu.gyro_rad_s))
    return [f"{row[0]:.6f} {_joined(row[1:])}" for row in rows]


def _pose_lines(scene: Simulation, camera: Camera) -> list[str]:
    """Return lines ``t px py pz qx qy qz qw``: s, m, rotation from camera to world."""
    t_us = np.arange(0, scene.config.duration_us, _POSE_PERIOD_US, dtype=np.float64)
    homographies = scene.paths[0].matrices(t_us)
    if scene.motion.uses_rays:
        k = camera.matrix
        positions = np.zeros((t_us.size, 3))
        rotations = _quaternions(np.linalg.inv(k) @ homographies @ k)
    else:
        focal = np.array([camera.fx, camera.fy])
        shift = homographies[:, :2, 2] / focal * DISTANCE_M
        positions = np.column_stack((shift, np.zeros(t_us.size)))
        rotations = np.tile((0.0, 0.0, 0.0, 1.0), (t_us.size, 1))
    rows = np.column_stack((positions, rotations))
    t_s = (scene.config.t_start_us + t_us) / 1e6
    return [f"{t:.6f} {_joined(row)}" for t, row in zip(t_s, rows, strict=True)]


def _quaternions(matrices: Floats) -> Floats:
    """Return ``(x, y, z, w)`` of rotations below 180 degrees, shape (n, 4)."""
    m = matrices / np.cbrt(np.linalg.det(matrices))[:, None, None]
    w = 0.5 * np.sqrt(np.maximum(1.0 + np.trace(m, axis1=1, axis2=2), 1e-12))
    vector = np.stack(
        (m[:, 2, 1] - m[:, 1, 2], m[:, 0, 2] - m[:, 2, 0], m[:, 1, 0] - m[:, 0, 1]), axis=1
    )
    return np.column_stack((vector / (4.0 * w[:, None]), w))
