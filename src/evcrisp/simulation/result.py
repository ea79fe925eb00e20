"""Result of a simulation: events with labels, true motion and IMU."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.core.sensor_data import Imu
from evcrisp.core.validation import check_number
from evcrisp.core.windows import US_PER_S
from evcrisp.motion import MotionModel
from evcrisp.motion.matrix import apply
from evcrisp.simulation.config import SimulationConfig
from evcrisp.simulation.path import Path, view_grid

#: Object index of noise events.
NO_OBJECT = 255


class Origin(IntEnum):
    """Origin of an event."""

    SIGNAL = 0
    LEAK = 1
    SHOT = 2
    HOT = 3
    UNIFORM = 4


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MotionTruth:
    """True motion parameters per window."""

    t_start: NDArray[np.int64]  # (n,) us
    t_end: NDArray[np.int64]  # (n,) us, not included
    theta: NDArray[np.float64]  # (n_layers, n, m); the background first, then the objects

    def __len__(self) -> int:
        return self.t_start.size


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Truth:
    """True motion, IMU and settings of a simulation."""

    motion: MotionModel  # of the scene
    motion_truth: MotionTruth  # parameters in windows of `config.window_us`
    imu: Imu  # gyroscope and accelerometer at 1 kHz, in the axes of the camera
    config: SimulationConfig  # settings

    def as_dict(self) -> dict[str, Any]:
        """Return windows, parameters with units, gyroscope and settings as JSON types."""
        settings = asdict(self.config)
        settings["scene"].pop("image")  # its digest stays
        windows = self.motion_truth
        thetas = windows.theta.swapaxes(0, 1).tolist()
        return {
            "motion": self.config.motion,
            "param_names": list(self.motion.param_names),
            "param_units": list(self.motion.param_units),
            "windows": [
                {"t_start_us": start, "t_end_us": end, "theta": theta}
                for start, end, theta in zip(
                    windows.t_start.tolist(), windows.t_end.tolist(), thetas, strict=True
                )
            ],
            "gyro": {"t_us": self.imu.t.tolist(), "rad_s": self.imu.gyro_rad_s.tolist()},
            "settings": settings,
        }


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Simulation(Truth):
    """Events of a simulated scene, with labels and true motion; see also :class:`Truth`."""

    events: Events  # sorted by time; `signal` is True for events of moving edges
    origin: NDArray[np.uint8]  # (n,) `Origin` of each event
    object: NDArray[np.uint8]  # (n,) 0 = background, 1 = first object, ...; 255 = noise
    paths: Sequence[Path]  # motion of each layer over time; the background first

    def __repr__(self) -> str:
        motion, n_objects = self.config.motion, len(self.paths) - 1
        return f"Simulation({self.events!r}, motion={motion!r}, objects={n_objects})"

    def theta(self, t_start: int, t_end: int, layer: int = 0) -> NDArray[np.float64]:
        """Return the mean parameters in a window of the recording, shape (m,).

        ``t_start`` and ``t_end`` are in the time of the events, us; layer 0 is the background.
        """
        return self._path(layer).mean_theta(*self._inside(t_start, t_end))

    def warp_error_px(self, theta: ArrayLike, t_start: int, t_end: int, layer: int = 0) -> float:
        """Return the error of warping with ``theta``, px, root mean square over view and window.

        Pixels are warped from 33 times to the middle of the window, and compared with the true
        positions. The true parameters of a window of ``motion_truth`` give 0 if motion is constant.
        """
        first, last = self._inside(t_start, t_end)
        middle = np.floor((first + last) / 2)
        t_us = np.linspace(first, last, 33)
        path = self._path(layer)
        x, y = view_grid(self.config.resolution)
        true = np.linalg.inv(path.matrices(np.array([middle]))) @ path.matrices(t_us)
        true_x, true_y = apply(true[:, None], x, y)
        matrix = self.motion.matrix(theta, (t_us - middle) / US_PER_S)
        warped_x, warped_y = apply(matrix[:, None], x, y)
        return float(np.sqrt(np.mean((warped_x - true_x) ** 2 + (warped_y - true_y) ** 2)))

    def _path(self, layer: int) -> Path:
        check_number("layer", layer, 0, len(self.paths) - 1, whole=True)
        return self.paths[layer]

    def _inside(self, t_start: int, t_end: int) -> tuple[float, float]:
        first, last = self.config.t_start_us, self.config.t_start_us + self.config.duration_us
        if not first <= t_start < t_end <= last:
            raise ConfigError(
                f"A window must lie in the recording, {first}..{last} us; "
                f"got {t_start}..{t_end} us."
            )
        return float(t_start - first), float(t_end - first)
