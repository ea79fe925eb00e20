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
    """True motion, IMU and settings of a simulation.

    Attributes
    ----------
    motion : MotionModel
        Motion model of the scene.
    motion_truth : MotionTruth
        True parameters in windows of ``config.window_us``.
    imu : Imu
        Gyroscope and accelerometer at 1 kHz, in the axes of the camera.
    config : SimulationConfig
        Settings.
    """

    motion: MotionModel
    motion_truth: MotionTruth
    imu: Imu
    config: SimulationConfig

    def as_dict(self) -> dict[str, Any]:
        """Return windows, parameters with units, gyroscope and settings as JSON types."""
        settings = asdict(self.config)
        settings["scene"].pop("image")  # its digest stays
        windows = self.motion_truth
        return {
            "motion": self.config.motion,
            "param_names": list(self.motion.param_names),
            "param_units": list(self.motion.param_units),
            "windows": [
                {
                    "t_start_us": int(start),
                    "t_end_us": int(end),
                    "theta": windows.theta[:, i].tolist(),
                }
                for i, (start, end) in enumerate(zip(windows.t_start, windows.t_end, strict=True))
            ],
            "gyro": {"t_us": self.imu.t.tolist(), "rad_s": self.imu.gyro_rad_s.tolist()},
            "settings": settings,
        }


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Simulation(Truth):
    """Events of a simulated scene, with labels and true motion; see also :class:`Truth`.

    Attributes
    ----------
    events : Events
        Sorted by time; ``events.signal`` is True for events of moving edges.
    origin : ndarray of uint8, shape (n,)
        :class:`Origin` of each event.
    object : ndarray of uint8, shape (n,)
        0 = background, 1 = first object, ...; 255 = noise.
    paths : sequence of Path
        Motion of each layer over time; the background first.
    """

    events: Events
    origin: NDArray[np.uint8]
    object: NDArray[np.uint8]
    paths: Sequence[Path]

    def __repr__(self) -> str:
        return (
            f"Simulation({self.events!r}, motion={self.config.motion!r}, "
            f"objects={len(self.paths) - 1})"
        )

    def theta(self, t_start: int, t_end: int, layer: int = 0) -> NDArray[np.float64]:
        """Return the mean parameters from ``t_start`` to ``t_end``, shape (m,).

        Parameters
        ----------
        t_start, t_end : int, us
            A window inside the recording, in the time of its events.
        layer : int
            0 = background, 1 = first object, ...
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
