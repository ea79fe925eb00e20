"""Gyroscope of a recording in the axes of its camera."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evcrisp.core.calibration.imu_axes import ImuAxes, imu_axes
from evcrisp.core.sensor_data import Imu
from evcrisp.core.types import Floats
from evcrisp.io.header_facts import camera_name
from evcrisp.io.recording import Recording


@dataclass(frozen=True, slots=True)
class Gyroscope:
    """IMU samples in the clock of the events and the axes of the camera, if these are known."""

    imu: Imu
    axes: ImuAxes
    statement: str

    def mean_rates(self, spans: Sequence[tuple[int, int]]) -> Floats:
        """Return the mean angular velocity from start to end of each span of time, us, (n, 3), rad/s.

        NaN without samples; the end is excluded.
        """
        order = np.argsort(self.imu.t, kind="stable")
        t, rates = self.imu.t[order], self.imu.gyro_rad_s[order]
        sums = np.concatenate((np.zeros((1, 3)), np.cumsum(rates, axis=0)))
        ends = np.searchsorted(t, np.array(spans, np.int64).reshape(-1, 2))
        counts = ends[:, 1] - ends[:, 0]
        means = (sums[ends[:, 1]] - sums[ends[:, 0]]) / np.maximum(counts, 1)[:, None]
        means[counts < 1] = np.nan
        return means


def gyroscope_of(recording: Recording) -> Gyroscope | None:
    """Return the gyroscope of a recording; None without IMU samples."""
    imu = recording.imu()
    if imu is None or not len(imu):
        return None
    imu = replace(imu, t=imu.t - recording.sensor_clock_offset_us)
    camera = camera_name(recording.metadata)
    axes = imu_axes(recording.format, camera)
    name = camera or "the Event Camera Dataset"
    return Gyroscope(axes.turned(imu), axes, axes.text(name))
