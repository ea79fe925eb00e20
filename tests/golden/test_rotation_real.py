"""Rotation in real recordings: a gyroscope as truth, and plain fits to sanity-check windows against."""

import numpy as np
import pytest

import evcrisp
from evcrisp.core.status import Status
from evcrisp.pipeline.windowing import Windowing

#: Windows of the Event Camera Dataset and what a plain fit gave, rad/s; good for sign, axis and the 15 % level.
PLAIN_FITS = {
    "stppp_boxes_rotation": (3.68, 4.07, -1.72),
    "stppp_dynamic_rotation": (0.49, -2.10, -0.68),
    "stppp_poster_rotation": (-1.31, -5.45, 7.97),
    "tubrip_boxes_rotation": (0.586, -1.201, 0.068),
    "tubrip_dynamic_rotation": (-0.012, 1.998, 0.108),
    "tubrip_shapes_rotation": (-0.074, 0.664, -0.115),
}


@pytest.fixture(scope="module")
def rolling(data_dir):
    """Return a recording of a camera that rolls, and its gyroscope."""
    with evcrisp.open(data_dir / "aedat2" / "davis240c_IMU_rotDisk.aedat") as recording:
        return recording.read(), recording.imu()


# Measured: 0.58 deg/s with 100 ms and 1.40 with 50 ms, of about 30 deg/s.
@pytest.mark.parametrize(("window_ms", "most_deg_s"), [(100, 0.8), (50, 1.5)])
def test_auto_follows_the_gyroscope_over_a_whole_recording(rolling, window_ms, most_deg_s):
    events, imu = rolling
    windows = Windowing(window_us=1000 * window_ms)
    results = list(evcrisp.track(events, "auto", "rotation", windowing=windows))
    assert sum(len(result.window.events) for result in results) == len(events)
    assert {result.status for result in results} == {Status.CONVERGED}
    gyro = [
        imu.gyro_rad_s[(imu.t >= one.window.t_start) & (imu.t < one.window.t_end), 2].mean()
        for one in results
    ]
    # The sensor of the gyroscope looks the other way: a roll of the image is minus its z.
    errors = np.degrees([one.theta[2] for one in results]) + np.degrees(gyro)
    assert np.sqrt(np.mean(errors**2)) < most_deg_s


@pytest.mark.parametrize("method", ["auto", "cmax"])
@pytest.mark.parametrize("name", PLAIN_FITS)
def test_rotation_of_a_real_window_is_that_of_a_plain_fit(data_dir, name, method):
    folder = data_dir / "ecd" / name
    events = evcrisp.read(next(folder.glob("events*")))
    camera = evcrisp.Camera.from_file(folder / "calib.txt")
    theta = evcrisp.estimate(events, method, "rotation", camera=camera).theta
    plain = np.array(PLAIN_FITS[name])
    norm, plain_norm = np.linalg.norm(theta), np.linalg.norm(plain)
    angle_deg = np.degrees(np.arccos(np.clip(theta @ plain / (norm * plain_norm), -1.0, 1.0)))
    assert angle_deg < 6.0
    assert norm == pytest.approx(plain_norm, rel=0.15)
