"""Estimated rotation against the gyroscope of a simulated scene, whose axes are known."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evcrisp
from evcrisp import Camera, Windowing, evaluate_motion
from evcrisp.core.calibration.imu_axes import UNKNOWN
from evcrisp.core.sensor_data import Imu
from evcrisp.io.aedat.aedat4_writer import Aedat4Writer
from evcrisp.metrics import flow_warp_loss
from evcrisp.motion import Rotation
from evcrisp.pipeline.camera_motion import motion_evaluation
from evcrisp.pipeline.camera_motion.gyroscope import Gyroscope

CAMERA = Camera(150.0, 150.0, 79.5, 59.5, (-0.1, 0.0, 0.0, 0.0, 0.0))
WINDOWS = Windowing(window_us=25_000)


@pytest.fixture(scope="module")
def scene():
    return evcrisp.simulate(
        motion="rotation", theta=(0.7, -1.2, 2.0), camera=CAMERA, resolution=(160, 120),
        trajectory="sine", duration_us=300_000, seed=2,
    )  # fmt: skip


def saved(scene, path, camera, signs):
    imu = replace(scene.imu, gyro_rad_s=scene.imu.gyro_rad_s * signs)
    writer = Aedat4Writer(camera=camera)
    evcrisp.write(path, scene.events.with_signal(None), format=writer, imu=imu)
    return path


@pytest.mark.parametrize(
    ("camera", "signs"), [("DAVIS346_1", (-1, 1, -1)), ("DVXplorer_2", (-1, 1, -1)), ("evcrisp", 1)]
)
def test_rotation_agrees_with_the_gyroscope_in_camera_axes(scene, tmp_path, camera, signs):
    path = saved(scene, tmp_path / "scene.aedat4", camera, np.array(signs))
    with evcrisp.open(path) as recording:
        found = evaluate_motion(recording, "cmax", camera=CAMERA, windowing=WINDOWS)
    assert found.n_windows == found.agreement.n == 12
    assert (found.agreement.correlation > 0.97).all()
    np.testing.assert_allclose(found.agreement.scale, 1.0, atol=0.06)
    assert (found.agreement.rms < 0.06).all()
    is_known = camera != "evcrisp"
    assert ("is turned to the axes of the camera" in found.statement) == is_known
    assert ("are those of the file" in found.statement) != is_known
    assert found.as_dict()["gyroscope"]["n"] == 12


def test_wrong_axes_show_in_the_correlation(scene, tmp_path):
    path = saved(scene, tmp_path / "scene.aedat4", "mine", np.array((-1, 1, -1)))
    with evcrisp.open(path) as recording:
        found = evaluate_motion(recording, "cmax", camera=CAMERA, windowing=WINDOWS)
    assert (found.agreement.correlation[[0, 2]] < -0.97).all()
    assert "is not near 1" in found.statement


def test_fwl_is_that_of_the_metric(scene, tmp_path):
    evcrisp.write(tmp_path / "scene.npz", scene.events.with_signal(None))
    with evcrisp.open(tmp_path / "scene.npz") as recording:
        found = evaluate_motion(recording, "cmax", "translation", windowing=WINDOWS)
    results = evcrisp.track(
        scene.events.with_signal(None), "cmax", "translation", windowing=WINDOWS
    )
    expected = [
        flow_warp_loss(r.window.events.x, r.window.events.y, r.aligned_x, r.aligned_y, (160, 120))
        for r in results
    ]
    np.testing.assert_allclose(found.fwl, expected)
    assert found.agreement is None
    assert "has no angular velocity" in found.statement


def test_fwl_without_rotation_is_one(scene):
    """Unaligned events are undistorted too, so that the lens alone does not change the number."""
    window = scene.events.between(0, 25_000)
    result = evcrisp.estimate(window, "cmax", "rotation", camera=CAMERA)
    x, y = result.motion.warp(np.zeros(3), window.x, window.y, np.zeros(len(window)))
    still = replace(result, theta=np.zeros(3), aligned_x=x, aligned_y=y)
    assert motion_evaluation.window_fwl(still) == pytest.approx(1.0)
    assert flow_warp_loss(window.x, window.y, x, y, (160, 120)) != pytest.approx(1.0, abs=0.01)


def test_hot_pixel_does_not_change_the_fwl(scene):
    """One pixel with as many events as an edge would else make a sharp window look smeared."""
    window = scene.events.between(0, 25_000).with_signal(None)
    t = np.linspace(window.t[0], window.t[-1], 800).astype(np.int64)
    at = np.zeros(800, int)
    hot = evcrisp.Events(x=at + 5, y=at + 90, t=t, p=at, resolution=window.resolution)
    columns = (np.r_[getattr(window, name), getattr(hot, name)] for name in ("x", "y", "t", "p"))
    x, y, t, p = columns
    order = np.argsort(t, kind="stable")
    both = evcrisp.Events(
        x=x[order], y=y[order], t=t[order], p=p[order], resolution=window.resolution
    )
    alone, beside = (evcrisp.estimate(events, "cmax", "translation") for events in (window, both))
    expected = motion_evaluation.window_fwl(alone)
    assert motion_evaluation.window_fwl(beside) == pytest.approx(expected, rel=0.02)
    whole = flow_warp_loss(both.x, both.y, beside.aligned_x, beside.aligned_y, both.resolution)
    assert whole < 0.7 * expected


def test_recording_without_imu_says_so(scene, tmp_path):
    evcrisp.write(tmp_path / "scene.npz", scene.events[:5000])
    with evcrisp.open(tmp_path / "scene.npz") as recording:
        found = evaluate_motion(recording, "cmax", camera=CAMERA, windowing=WINDOWS)
    assert found.agreement is None
    assert "no IMU samples" in found.statement


def test_recording_without_events_has_nothing_to_compare(tmp_path):
    evcrisp.write(tmp_path / "none.npz", evcrisp.Events.empty((16, 12)))
    with evcrisp.open(tmp_path / "none.npz") as recording:
        facts = evaluate_motion(recording, "cmax").as_dict()
    assert (facts["n_windows"], facts["gyroscope"]) == (0, None)
    assert np.isnan(facts["fwl_mean"])


def test_windows_without_gyroscope_are_left_out(scene, tmp_path):
    imu = scene.imu
    half = imu.t < 150_000
    part = replace(
        imu, t=imu.t[half], gyro_rad_s=imu.gyro_rad_s[half], accel_m_s2=imu.accel_m_s2[half]
    )
    evcrisp.write(tmp_path / "half.aedat4", scene.events.with_signal(None), imu=part)
    with evcrisp.open(tmp_path / "half.aedat4") as recording:
        found = evaluate_motion(recording, "cmax", camera=CAMERA, windowing=WINDOWS)
    assert (found.n_windows, found.agreement.n) == (12, 6)


def test_gyroscope_of_another_clock_is_noticed(scene, tmp_path):
    late = replace(scene.imu, t=scene.imu.t + 10**9)
    evcrisp.write(tmp_path / "late.aedat4", scene.events.with_signal(None), imu=late)
    with evcrisp.open(tmp_path / "late.aedat4") as recording:
        found = evaluate_motion(recording, "cmax", camera=CAMERA, windowing=WINDOWS)
    assert found.agreement.n == 0
    assert "Are the times of one clock?" in found.statement


def test_motion_may_be_a_model(scene, tmp_path):
    evcrisp.write(tmp_path / "scene.aedat4", scene.events.with_signal(None), imu=scene.imu)
    with evcrisp.open(tmp_path / "scene.aedat4") as recording:
        by_model = evaluate_motion(recording, "cmax", Rotation(CAMERA), windowing=WINDOWS)
        by_name = evaluate_motion(recording, "cmax", camera=CAMERA, windowing=WINDOWS)
    np.testing.assert_array_equal(by_model.agreement.rms, by_name.agreement.rms)
    assert by_model.statement == by_name.statement
    assert "no calibration" not in by_model.statement


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 200), min_size=1, max_size=30),
    st.lists(st.tuples(st.integers(-10, 210), st.integers(0, 80)), max_size=10),
)
def test_mean_rates_are_means_of_the_samples_in_a_span(times, windows):
    """Samples may be out of order in a file."""
    t = np.array(times, np.int64)
    rates = np.random.default_rng(t.size).normal(size=(t.size, 3))
    gyroscope = Gyroscope(Imu(t=t, gyro_rad_s=rates, accel_m_s2=rates), UNKNOWN, "")
    spans = [(start, start + length) for start, length in windows]
    expected = np.full((len(spans), 3), np.nan)
    for row, (start, end) in zip(expected, spans, strict=True):
        inside = (t >= start) & (t < end)
        if inside.any():
            row[:] = rates[inside].mean(axis=0)
    np.testing.assert_allclose(gyroscope.mean_rates(spans), expected, atol=1e-12)
