"""Axes of gyroscopes: known cameras are turned, others stay as they are."""

import numpy as np
import pytest

from evcrisp.core.calibration.imu_axes import imu_axes
from evcrisp.core.sensor_data import Imu


@pytest.mark.parametrize(
    ("format", "camera", "signs"),
    [
        ("aedat2", "DAVIS240C", (-1, 1, -1)),
        ("aedat31", "DAVIS346", (-1, 1, -1)),
        ("aedat4", "DAVIS346_00000391", (-1, 1, -1)),
        ("aedat4", "DVXplorer_DXB00010", (-1, 1, -1)),
        ("aedat4", "evcrisp", None),
        ("aedat4", "", None),
        ("ecd", "", (1, 1, 1)),
        ("ecd-zip", "evcrisp", None),
        ("ros1", "", None),
        ("npz", "DAVIS346", None),
    ],
)
def test_axes_follow_from_format_and_camera(format, camera, signs):
    assert imu_axes(format, camera).signs == signs


def test_all_vectors_are_turned():
    """The turn is a rotation: the lengths of vectors and the sense of a turn are kept."""
    sample = np.array([[1.0, 2.0, 3.0]])
    imu = Imu(t=np.array([0]), gyro_rad_s=sample, accel_m_s2=2 * sample, magnetic_ut=3 * sample)
    turned = imu_axes("aedat4", "DAVIS346_1").turned(imu)
    np.testing.assert_array_equal(turned.gyro_rad_s, [[-1.0, 2.0, -3.0]])
    np.testing.assert_array_equal(turned.accel_m_s2, [[-2.0, 4.0, -6.0]])
    np.testing.assert_array_equal(turned.magnetic_ut, [[-3.0, 6.0, -9.0]])
    assert np.prod(imu_axes("aedat4", "DAVIS346_1").signs) == 1
    assert imu_axes("aedat4", "mine").turned(imu) is imu


def test_unknown_axes_are_admitted():
    assert "are those of the file" in imu_axes("ros2", "").text("")
    assert "has the axes of the camera" in imu_axes("ecd", "").text("this set")
