"""Gyroscope of a recording in the axes of its camera."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evcrisp.core.calibration.imu_axes import ImuAxes, imu_axes
from evcrisp.core.sensor_data import Imu
from evcrisp.core.types import Floats
from evcrisp.core.windows import Window
from evcrisp.io.header_facts import camera_name
from evcrisp.io.recording import Recording


@dataclass(frozen=True, slots=True)
class Gyroscope:
    """IMU samples in the axes of the camera, if these are known, and what was done to them."""

    imu: Imu
    axes: ImuAxes
    statement: str

    def mean_rates(self, windows: Sequence[Window]) -> Floats:
        """Return the mean angular velocity in each window, (n, 3), rad/s; NaN without samples."""
        rows = np.full((len(windows), 3), np.nan)
        t, rates = self.imu.t, self.imu.gyro_rad_s
        for row, window in zip(rows, windows, strict=True):
            inside = (t >= window.t_start) & (t < window.t_end)
            if inside.any():
                row[:] = rates[inside].mean(axis=0)
        return rows


def gyroscope_of(recording: Recording) -> Gyroscope | None:
    """Return the gyroscope of a recording; None without IMU samples."""
    imu = recording.imu()
    if imu is None or not len(imu):
        return None
    camera = camera_name(recording.metadata)
    axes = imu_axes(recording.format, camera)
    name = camera or "the Event Camera Dataset"
    return Gyroscope(axes.turned(imu), axes, axes.text(name))
