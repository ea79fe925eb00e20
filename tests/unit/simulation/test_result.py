"""Determinism, chunks, true motion and IMU."""

import tracemalloc

import numpy as np
import pytest

from evcrisp import Events
from evcrisp.core.camera import Camera
from evcrisp.core.errors import ConfigError
from evcrisp.core.sensor_data import STANDARD_GRAVITY_M_S2
from evcrisp.motion import MOTION_MODELS
from evcrisp.simulation import DEFAULT_THETA, ObjectConfig, simulate, simulate_chunks

SMALL = {"resolution": (64, 48), "duration_us": 60_000}
EVERYTHING = {
    **SMALL,
    "texture": "rocks",
    "noise": "dark",
    "noise_hz": 2.0,
    "hot_pixels": 3,
    "object_theta": (-150.0, 80.0),
    "gyro_noise_rad_s": 0.1,
}


def assert_same(a, b):
    assert a.events.equals(b.events)
    for name in ("origin", "object"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    np.testing.assert_array_equal(a.motion_truth.theta, b.motion_truth.theta)
    np.testing.assert_array_equal(a.imu.gyro_rad_s, b.imu.gyro_rad_s)


@pytest.mark.parametrize("trajectory", ["constant", "random"])
def test_equal_seeds_give_equal_results(trajectory):
    first = simulate(**EVERYTHING, trajectory=trajectory, seed=5)
    assert_same(first, simulate(**EVERYTHING, trajectory=trajectory, seed=5))
    other = simulate(**EVERYTHING, trajectory=trajectory, seed=6)
    assert not other.events.equals(first.events)


@pytest.mark.parametrize("max_events", [1, 777, 1 << 20])
def test_chunks_are_equal_to_the_whole_recording(max_events):
    settings = {**EVERYTHING, "resolution": (32, 24), "theta": (900.0, 300.0)}
    whole = simulate(**settings)
    chunks = list(simulate_chunks(**settings, max_events=max_events))
    assert max(len(chunk) for chunk in chunks) <= max_events
    assert len(chunks) > 1
    assert Events.concatenate(chunks).equals(whole.events)


def test_memory_of_chunks_does_not_grow_with_duration():
    def peak(duration_us):
        tracemalloc.start()
        n = sum(
            len(chunk)
            for chunk in simulate_chunks(
                resolution=(64, 48), texture="rocks", duration_us=duration_us, noise_hz=10
            )
        )
        _, top = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return n, top

    peak(10_000)  # compile and cache first
    n_short, short = peak(300_000)
    n_long, long = peak(1_500_000)
    assert n_long > 4 * n_short
    assert long < 1.3 * short


def test_simulated_events_are_valid():
    events = simulate(**EVERYTHING).events
    checked = Events(
        x=events.x, y=events.y, t=events.t, p=events.p,
        resolution=events.resolution, signal=events.signal,
    )  # fmt: skip
    assert checked.equals(events)
    assert events.t.dtype == np.int64
    assert events.x.dtype == events.y.dtype == np.uint16
    assert events.t.min() >= 0
    assert events.t.max() < 60_000


def test_start_time_shifts_only_the_timestamps():
    early = simulate(**EVERYTHING)
    late = simulate(**EVERYTHING, t_start_us=10**12)
    np.testing.assert_array_equal(late.events.t, early.events.t + 10**12)
    np.testing.assert_array_equal(late.events.x, early.events.x)
    np.testing.assert_array_equal(late.imu.t, early.imu.t + 10**12)
    np.testing.assert_array_equal(late.motion_truth.t_start, early.motion_truth.t_start + 10**12)
    assert late.theta(10**12, 10**12 + 500).tolist() == list(early.config.theta)


@pytest.mark.parametrize("name", MOTION_MODELS)
def test_true_motion_of_a_constant_trajectory_is_theta(name):
    simulation = simulate(**SMALL, motion=name, window_us=25_000)
    truth = simulation.motion_truth
    assert truth.t_start.tolist() == [0, 25_000, 50_000]
    assert truth.t_end.tolist() == [25_000, 50_000, 60_000]
    for k in range(len(truth)):
        window = int(truth.t_start[k]), int(truth.t_end[k])
        np.testing.assert_array_equal(truth.theta[0, k], DEFAULT_THETA[name])
        np.testing.assert_array_equal(simulation.theta(*window), DEFAULT_THETA[name])
        assert simulation.warp_error_px(truth.theta[0, k], *window) < 1e-9


def test_warp_error_of_a_translation_is_analytic():
    simulation = simulate(**SMALL, theta=(100.0, 0.0))
    # Off by 30 px/s over a window of 50 ms: 30 |dt|, whose root mean square is 30 * 0.05 / sqrt(12).
    error = simulation.warp_error_px((130.0, 0.0), 0, 50_000)
    assert error == pytest.approx(30 * 0.05 / np.sqrt(12), rel=0.05)


def test_objects_have_their_own_true_motion():
    objects = (ObjectConfig(theta=(10.0, 20.0)), ObjectConfig(theta=(-5.0, 0.0)))
    simulation = simulate(**SMALL, objects=objects)
    assert simulation.motion_truth.theta.shape == (3, 2, 2)
    assert simulation.theta(0, 1000, layer=2).tolist() == [-5.0, 0.0]
    assert simulation.warp_error_px((10.0, 20.0), 0, 50_000, layer=1) < 1e-9
    with pytest.raises(ConfigError, match=r"`layer` must be a whole number in 0..2; got 3"):
        simulation.theta(0, 1000, layer=3)


@pytest.mark.parametrize("window", [(-1, 10), (0, 60_001), (10, 10)])
def test_theta_outside_the_recording_raises(window):
    with pytest.raises(ConfigError, match=r"must lie in the recording, 0..60000 us"):
        simulate(**SMALL).theta(*window)


def test_true_motion_of_a_sine_is_its_mean():
    simulation = simulate(
        **SMALL, theta=(200.0, 100.0), trajectory="sine", period_us=100_000, window_us=20_000
    )
    t_start, t_end = simulation.motion_truth.t_start / 1e5, simulation.motion_truth.t_end / 1e5
    angle_start, angle_end = 2 * np.pi * t_start, 2 * np.pi * t_end
    mean_x = 200.0 * (np.sin(angle_end) - np.sin(angle_start)) / (angle_end - angle_start)
    mean_y = 100.0 * (np.cos(angle_end) - np.cos(angle_start)) / (angle_end - angle_start)
    np.testing.assert_allclose(
        simulation.motion_truth.theta[0], np.stack((mean_x, mean_y), 1), atol=0.1
    )


def test_knots_are_interpolated_linearly():
    knots = [[10_000, 0.0, 50.0], [50_000, 400.0, 50.0]]
    simulation = simulate(**SMALL, trajectory=knots)
    assert simulation.theta(0, 10_000).tolist() == pytest.approx([0.0, 50.0], abs=1e-9)
    assert simulation.theta(10_000, 50_000).tolist() == pytest.approx([200.0, 50.0], abs=1e-6)
    assert simulation.theta(50_000, 60_000).tolist() == pytest.approx([400.0, 50.0], abs=1e-6)


def test_random_motion_has_the_amplitude_theta():
    simulation = simulate(
        resolution=(8, 8), duration_us=60_000_000, motion="rotation", theta=(0.5, 1.0, 2.0),
        trajectory="random",
    )  # fmt: skip
    size = np.sqrt((simulation.imu.gyro_rad_s**2).mean(axis=0))
    np.testing.assert_allclose(size, (0.5, 1.0, 2.0), rtol=0.1)


def test_gyroscope_measures_the_rotation():
    simulation = simulate(**SMALL, motion="rotation", theta=(0.4, -1.0, 0.7))
    imu = simulation.imu
    assert imu.t.tolist() == list(range(0, 60_000, 1000))
    assert repr(imu) == "Imu(n=60, t=0..59000 us)"
    np.testing.assert_array_equal(imu.gyro_rad_s, np.tile((0.4, -1.0, 0.7), (60, 1)))
    np.testing.assert_allclose(
        np.linalg.norm(imu.accel_m_s2, axis=1), STANDARD_GRAVITY_M_S2, rtol=1e-9
    )
    np.testing.assert_allclose(imu.accel_m_s2[0], (0.0, -STANDARD_GRAVITY_M_S2, 0.0), atol=1e-9)


def test_gravity_rotates_opposite_to_the_camera():
    # Rolling by +90 degrees about z (from x to y) turns the camera's x axis down: "up" is then -x.
    simulation = simulate(
        resolution=(8, 8), motion="rotation", theta=(0, 0, np.pi / 2), duration_us=1_000_001
    )
    np.testing.assert_allclose(
        simulation.imu.accel_m_s2[1000], (-STANDARD_GRAVITY_M_S2, 0.0, 0.0), atol=1e-9
    )


def test_gyroscope_has_noise_and_bias():
    settings = {"resolution": (8, 8), "motion": "rotation", "theta": (0.4, -1.0, 0.7)}
    imu = simulate(
        **settings, duration_us=4_000_000, gyro_noise_rad_s=0.2, gyro_bias_rad_s=(0.1, 0.0, -0.3)
    ).imu
    error = imu.gyro_rad_s - (0.4, -1.0, 0.7)
    np.testing.assert_allclose(error.mean(axis=0), (0.1, 0.0, -0.3), atol=4 * 0.2 / np.sqrt(4000))
    np.testing.assert_allclose(error.std(axis=0), 0.2, rtol=0.05)


def test_similarity_is_a_roll_and_affine_does_not_turn_the_camera():
    roll = simulate(**SMALL, motion="similarity", theta=(0, 0, 1.5, 0)).imu.gyro_rad_s
    np.testing.assert_array_equal(roll, np.tile((0, 0, -1.5), (60, 1)))
    assert not simulate(**SMALL, motion="affine").imu.gyro_rad_s.any()


def test_roll_of_the_camera_gives_the_events_of_an_image_rotation():
    camera = Camera(60.0, 60.0, 31.5, 23.5)
    settings = {**SMALL, "texture": "rocks", "duration_us": 120_000}
    rolled = simulate(**settings, motion="rotation", theta=(0, 0, -1.0), camera=camera)
    turned = simulate(**settings, motion="similarity", theta=(0, 0, 1.0, 0))
    assert len(rolled.events) > 500
    assert len(rolled.events) == pytest.approx(len(turned.events), abs=2)


def test_simulation_repr():
    text = repr(simulate(resolution=(8, 8), duration_us=1000, theta=(0, 0)))
    assert text.startswith("Simulation(Events(n=0, resolution=8x8")
    assert text.endswith("motion='translation', objects=0)")


def test_gravity_is_equal_for_a_roll_as_similarity_and_as_rotation():
    settings = {"resolution": (32, 24), "duration_us": 500_000, "window_us": 50_000}
    similar = simulate(motion="similarity", theta=(0.0, 0.0, 1.5, 0.0), **settings).imu
    turned = simulate(motion="rotation", theta=(0.0, 0.0, -1.5), **settings).imu
    np.testing.assert_allclose(similar.gyro_rad_s, turned.gyro_rad_s, atol=1e-12)
    np.testing.assert_allclose(similar.accel_m_s2, turned.accel_m_s2, atol=1e-9)
