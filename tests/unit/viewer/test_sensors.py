"""Frames and the IMU trace of recordings that have them."""

import numpy as np
import pytest

import evcrisp
from evcrisp.core.sensor_data import Frame, Imu
from evcrisp.viewer import ExportOptions, ViewOptions, export, serve
from evcrisp.viewer.bundle_format import read_bundle
from evcrisp.viewer.sensor_store import MAX_SAMPLES, SensorStore, gray_bytes

N_FRAMES = 4


class SensorData:
    """Frames of growing brightness every 30 ms, and a gyroscope that turns about z."""

    def __init__(self, resolution, t_first):
        self.resolution, self.t_first = resolution, t_first

    def imu(self):
        t = self.t_first + np.arange(0, 120_000, 1_000)
        gyro = np.zeros((t.size, 3))
        gyro[:, 2] = np.sin(t / 2e4)
        return Imu(t=t, gyro_rad_s=gyro, accel_m_s2=np.zeros((t.size, 3)))

    def triggers(self):
        return None

    def frames(self):
        width, height = self.resolution
        for k in range(N_FRAMES):
            image = np.full((height, width), 40 + 50 * k, np.uint8)
            image[: height // 2, : width // 2] = 0
            yield Frame(t=int(self.t_first + 30_000 * k + 5_000), image=image)


@pytest.fixture(scope="module")
def recorded(scene, tmp_path_factory):
    """Return a recording with frames and IMU samples."""
    path = tmp_path_factory.mktemp("sensors") / "davis.aedat4"
    data = SensorData(scene.events.resolution, int(scene.events.t[0]))
    evcrisp.write(path, scene.events.with_signal(None), sensor_data_from=data)
    return path


@pytest.fixture(scope="module")
def sensors_url(recorded):
    with serve(ViewOptions(path=recorded, window_us=20_000)) as address:
        yield address


def shade(screen):
    """Return the brightness of the lower right part of the frame."""
    image = screen.pixels("frame")
    height, width = image.shape[:2]
    return int(image[int(0.7 * height), int(0.55 * width), 0])


@pytest.mark.slow
def test_nearest_frame_is_shown(screen, sensors_url):
    screen.open(f"{sensors_url}#t=0")
    screen.page.wait_for_selector("[data-pane=frame]:visible")
    for t, k in ((0, 0), (30_000, 1), (90_000, 3)):
        screen.page.evaluate("t => evcrisp.goTo(t)", t)
        screen.settled()
        assert shade(screen) == 40 + 50 * k
        middle = t + 10_000
        offset = 30_000 * k + 5_000 - middle
        side = "before" if offset < 0 else "after"
        assert screen.info("frame") == f"{abs(offset) / 1000:g} ms {side} the middle of the window"
    image = screen.pixels("frame")
    height, width = image.shape[:2]
    assert image[int(0.3 * height), int(0.45 * width), 0] == 0  # the dark quarter


@pytest.mark.slow
def test_imu_trace_is_drawn_below_the_motion(screen, sensors_url):
    screen.open(sensors_url)
    screen.page.wait_for_selector(".timeline.has-imu")
    screen.settled()
    assert screen.page.evaluate("evcrisp.sensors.imuTimes.length") == 120
    drawn = screen.page.evaluate(
        """() => {
          const { canvas } = evcrisp.timeline.imu;
          const image = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          const columns = new Set();
          image.data.forEach((value, k) => k % 4 === 3 && value > 0 && columns.add(((k - 3) / 4) % canvas.width));
          return columns.size / canvas.width;
        }"""
    )
    assert drawn > 0.85


@pytest.mark.slow
def test_recording_without_sensor_data_has_no_pane_and_no_trace(screen, url):
    screen.open(url)
    assert not screen.page.is_visible("[data-pane=frame]")
    assert screen.page.query_selector(".timeline.has-imu") is None


@pytest.mark.slow
def test_exported_page_has_frames_and_trace(screen, recorded, tmp_path):
    path = tmp_path / "page.html"
    export(recorded, path, ExportOptions(window_us=20_000, n_windows=2, front_points=0))
    screen.open(path.as_uri())
    screen.page.wait_for_selector("[data-pane=frame]:visible")
    screen.settled()
    assert shade(screen) == 40
    screen.page.keyboard.press("End")
    screen.settled()
    assert shade(screen) == 190
    assert screen.page.query_selector(".timeline.has-imu") is not None


class NoSensorData:
    def imu(self):
        return None

    def frames(self):
        return iter(())


def test_store_without_sensor_data_is_empty(tmp_path):
    store = SensorStore(tmp_path, 0)
    assert store.write(NoSensorData()) == []
    assert read_bundle(store.bundle())[1]["frame_ms"].size == 0
    assert store.nearest_frame(5) == -1
    assert read_bundle(store.frame(0))[0]["width"] == 0


def test_store_keeps_frames_and_thins_samples(tmp_path):
    data = SensorData((8, 6), 1_000)
    store = SensorStore(tmp_path, 1_000)
    assert store.write(data) == []
    facts, arrays = read_bundle(store.frame(2))
    assert (facts["t"], facts["width"], facts["height"]) == (65_000, 8, 6)
    assert arrays["image"].reshape(6, 8)[-1, -1] == 140
    assert store.nearest_frame(64_000) == 2
    _, arrays = read_bundle(store.bundle())
    assert arrays["frame_ms"].tolist() == [5.0, 35.0, 65.0, 95.0]
    t = np.arange(3 * MAX_SAMPLES)
    imu = Imu(t=t, gyro_rad_s=np.ones((t.size, 3)), accel_m_s2=np.zeros((t.size, 3)))
    data.imu = lambda: imu
    store.write(data)
    _, arrays = read_bundle(store.bundle())
    assert arrays["imu_ms"].size == MAX_SAMPLES
    assert (arrays["gyro"] == 1.0).all()


def test_frames_above_the_limit_are_left_out_with_a_note(tmp_path, monkeypatch):
    monkeypatch.setattr("evcrisp.viewer.sensor_store.MAX_FRAME_BYTES", 100)
    store = SensorStore(tmp_path, 0)
    notes = store.write(SensorData((8, 6), 0))
    assert len(notes) == 1
    assert "not shown" in notes[0]
    assert read_bundle(store.bundle())[1]["frame_ms"].size == 2


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        (np.array([[7, 255]], np.uint8), [[7, 255]]),
        (np.array([[0, 65535]], np.uint16), [[0, 255]]),
        (np.array([[0.0, 1.0]]), [[0, 255]]),
        (np.array([[[0, 30, 60], [3, 3, 3]]], np.uint8), [[30, 3]]),
        (np.array([[0.0, np.nan, 510.0]]), [[0, 0, 255]]),
    ],
)
def test_frames_of_all_types_become_gray_bytes(image, expected):
    assert gray_bytes(image).tolist() == expected


@pytest.mark.parametrize("layout", ["grid", "large"])
def test_panes_stay_above_the_timeline_when_parameters_are_open(screen, sensors_url, layout):
    screen.page.set_viewport_size({"width": 1280, "height": 720})
    screen.open(f"{sensors_url}#layout={layout}")
    screen.page.click("#method-options")
    screen.settled()
    needed, given = screen.page.evaluate(
        "(() => { const all = document.getElementById('panes'); return [all.scrollHeight, all.clientHeight]; })()"
    )
    assert needed <= given
