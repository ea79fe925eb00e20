"""Rotation in real recordings, compared with a gyroscope and with independent fits."""

import numpy as np
import pytest

import evcrisp
from evcrisp.core.status import Status
from evcrisp.pipeline.windowing import Windowing

#: Angular velocity of windows of the Event Camera Dataset by an independent fit, rad/s. The fit is
#: accurate to about 15 %.
INDEPENDENT_FITS = {
    "stppp_boxes_rotation": (3.68, 4.07, -1.72),
    "stppp_dynamic_rotation": (0.49, -2.10, -0.68),
    "stppp_poster_rotation": (-1.31, -5.45, 7.97),
    "tubrip_boxes_rotation": (0.586, -1.201, 0.068),
    "tubrip_dynamic_rotation": (-0.012, 1.998, 0.108),
    "tubrip_shapes_rotation": (-0.074, 0.664, -0.115),
}


@pytest.fixture(scope="module")
def rolling(data_dir):
    """Return events and gyroscope of a rolling camera."""
    with evcrisp.open(data_dir / "aedat2" / "davis240c_IMU_rotDisk.aedat") as recording:
        return recording.read(), recording.imu()


# Measured: 0.58 deg/s with 100 ms and 1.40 deg/s with 50 ms, at about 30 deg/s.
@pytest.mark.parametrize(("window_ms", "max_rms_deg_s"), [(100, 0.8), (50, 1.5)])
def test_rotation_follows_the_gyroscope_over_a_recording(rolling, window_ms, max_rms_deg_s):
    events, imu = rolling
    windows = Windowing(window_us=1000 * window_ms)
    results = list(evcrisp.track(events, "auto", "rotation", windowing=windows))
    assert sum(len(result.window.events) for result in results) == len(events)
    assert {result.status for result in results} == {Status.CONVERGED}
    gyro = [
        imu.gyro_rad_s[(imu.t >= r.window.t_start) & (imu.t < r.window.t_end), 2].mean()
        for r in results
    ]
    # The z axis of the gyroscope is opposite to that of the camera.
    errors = np.degrees([r.theta[2] for r in results]) + np.degrees(gyro)
    assert np.sqrt(np.mean(errors**2)) < max_rms_deg_s


@pytest.mark.parametrize("method", ["auto", "cmax"])
@pytest.mark.parametrize("name", INDEPENDENT_FITS)
def test_rotation_of_a_window_agrees_with_an_independent_fit(data_dir, name, method):
    folder = data_dir / "ecd" / name
    events = evcrisp.read(next(folder.glob("events*")))
    camera = evcrisp.Camera.from_file(folder / "calib.txt")
    theta = evcrisp.estimate(events, method, "rotation", camera=camera).theta
    fit = np.array(INDEPENDENT_FITS[name])
    norm, fit_norm = np.linalg.norm(theta), np.linalg.norm(fit)
    angle_deg = np.degrees(np.arccos(np.clip(theta @ fit / (norm * fit_norm), -1.0, 1.0)))
    assert angle_deg < 6.0
    assert norm == pytest.approx(fit_norm, rel=0.15)


def test_roll_agrees_with_the_gyroscope_in_camera_axes(data_dir):
    """DAVIS240C by jAER: the z axis is turned. Measured: 0.996 and 1.027."""
    with evcrisp.open(data_dir / "aedat2" / "davis240c_IMU_rotDisk.aedat") as recording:
        found = evcrisp.evaluate_motion(recording, windowing=Windowing(window_us=100_000))
    assert found.agreement.n == 32
    assert found.agreement.correlation[2] > 0.99
    assert found.agreement.scale[2] == pytest.approx(1.0, abs=0.04)
    assert "-x, y, -z" in found.statement


@pytest.mark.parametrize(
    "name", ["aedat4/dvxplorer_320x240_tonic_sample.aedat4", "aedat2/davis240c_IMU_rotDisk.aedat"]
)
def test_gravity_points_down_in_camera_axes(data_dir, name):
    """An accelerometer at rest measures the force that holds it: up, which is minus y."""
    from evcrisp.pipeline.camera_motion.gyroscope import gyroscope_of

    with evcrisp.open(data_dir / name) as recording:
        accel = gyroscope_of(recording).imu.accel_m_s2.mean(axis=0)
    assert np.argmax(np.abs(accel)) == 1
    assert accel[1] < -7.0
