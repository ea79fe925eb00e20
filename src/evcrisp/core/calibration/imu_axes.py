"""Axes of the IMU of known cameras against those of the camera: x right, y down, z forward.

Sources that agree: the documentation of libcaer and of iniVation's cameras (rotations are
counter-clockwise along x right, y up, z forward), the signs that the drivers for ROS apply to align the
axes of libcaer with the camera, and the signs of pan, tilt and roll in jAER.
"""

from dataclasses import dataclass, replace

import numpy as np

from evcrisp.core.sensor_data import Imu


@dataclass(frozen=True, slots=True)
class ImuAxes:
    """Signs that turn the axes of an IMU to those of the camera; None if they are not known.

    >>> INIVATION.text("DAVIS346")
    'The gyroscope of DAVIS346 is turned to the axes of the camera (x right, y down, z forward): -x, y, -z.'
    """

    signs: tuple[int, int, int] | None

    def turned(self, imu: Imu) -> Imu:
        """Return the samples in the axes of the camera; unchanged if the axes are not known."""
        if self.signs is None:
            return imu
        signs = np.array(self.signs, np.float64)
        turned = {"gyro_rad_s": imu.gyro_rad_s * signs, "accel_m_s2": imu.accel_m_s2 * signs}
        if imu.magnetic_ut is not None:
            turned["magnetic_ut"] = imu.magnetic_ut * signs
        return replace(imu, **turned)

    def text(self, camera: str) -> str:
        """Return a sentence that says what is compared."""
        if self.signs is None:
            return (
                "The axes of the gyroscope are those of the file: how they lie to the camera is not known. "
                "A wrong sign or order of axes shows as a correlation that is not near 1."
            )
        if self.signs == (1, 1, 1):
            return f"The gyroscope of {camera} has the axes of the camera (x right, y down, z forward)."
        axes = ", ".join(
            f"{'-' if sign < 0 else ''}{axis}" for sign, axis in zip(self.signs, "xyz", strict=True)
        )
        return (
            f"The gyroscope of {camera} is turned to the axes of the camera (x right, y down, z forward): "
            f"{axes}."
        )

    @property
    def label(self) -> str:
        """Name of the curve in figures."""
        return "gyroscope (axes of the file)" if self.signs is None else "gyroscope (camera axes)"


#: Cameras of iniVation, as libcaer, DV and jAER store them.
INIVATION = ImuAxes((-1, 1, -1))
ALIGNED = ImuAxes((1, 1, 1))
UNKNOWN = ImuAxes(None)

#: First letters of the names of cameras whose axes are known.
_INIVATION_NAMES = ("davis240", "davis346", "dvxplorer")


def imu_axes(format: str, camera: str) -> ImuAxes:
    """Return the axes of the IMU of a recording, by its format and the name of its camera.

    >>> imu_axes("aedat4", "DVXplorer_DXB00010").signs, imu_axes("aedat4", "mine").signs
    ((-1, 1, -1), None)
    """
    if format in ("ecd", "ecd-zip") and camera != "evcrisp":
        return ALIGNED  # recorded with the driver for ROS, which aligns them
    if format.startswith("aedat") and camera.lower().startswith(_INIVATION_NAMES):
        return INIVATION
    return UNKNOWN
