"""Objects that hold arrays have one short line as text."""

import numpy as np
import pytest

import evcrisp
from evcrisp.core.sensor_data import Frame, Imu, Triggers

MAX_CHARACTERS = 160


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """Return objects by name, with large arrays and long numbers."""
    path = tmp_path_factory.mktemp("repr")
    scene = evcrisp.simulate(resolution=(346, 260), duration_us=20_000, noise_hz=5.0, seed=1)
    evcrisp.write(path / "scene.npz", scene.events)
    n, t = 5000, np.arange(5000) + 1_643_243_628_737_093
    vectors = np.random.default_rng(1).normal(size=(n, 3))
    recording = evcrisp.open(path / "scene.npz")
    yield {
        "events": scene.events,
        "estimate": evcrisp.estimate(scene.events),
        "homography": evcrisp.estimate(scene.events, "cmax", "homography"),
        "imu": Imu(t=t, gyro_rad_s=vectors, accel_m_s2=vectors, magnetic_ut=vectors),
        "triggers": Triggers(t=t, kind=np.ones(n, np.uint8), channel=np.ones(n, np.uint8)),
        "frame": Frame(t=int(t[0]), image=np.zeros((260, 346, 3), np.uint8)),
        "camera": evcrisp.Camera(*vectors[0, :1] ** 2, 1 / 3, 2 / 3, 1 / 7, (-1 / 3,) * 5),
        "labels": evcrisp.denoise(scene.events, "baf"),
        "run": evcrisp.run(recording, path / "out", method="cmax"),
    }
    recording.close()


@pytest.mark.parametrize(
    "name",
    ["events", "estimate", "imu", "triggers", "frame", "camera", "labels"],
)
def test_text_is_one_short_line(shown, name):
    text = repr(shown[name])
    assert "\n" not in text
    assert len(text) <= MAX_CHARACTERS


def test_text_of_many_parameters_has_no_arrays(shown):
    assert "array" not in repr(shown["homography"])
    assert "n_events" not in repr(shown["run"])


def test_empty_samples_have_no_times():
    empty = np.empty((0, 3))
    assert repr(Imu(t=np.empty(0, np.int64), gyro_rad_s=empty, accel_m_s2=empty)) == "Imu(n=0)"
    assert repr(evcrisp.Events.empty((8, 4))) == "Events(n=0, resolution=8x4)"


def test_recording_shows_file_and_format(tmp_path):
    evcrisp.write(tmp_path / "a.npz", evcrisp.Events.empty((8, 4)))
    with evcrisp.open(tmp_path / "a.npz") as recording:
        assert repr(recording) == f"Recording({str(tmp_path / 'a.npz')!r}, format='npz')"
