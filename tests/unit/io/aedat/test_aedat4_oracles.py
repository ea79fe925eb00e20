"""AEDAT4 against dv-processing, aedat and eventcv, in both directions."""

import numpy as np
import pytest

import evcrisp
from evcrisp.core.sensor_data import STANDARD_GRAVITY_M_S2, Frame, Imu, Triggers
from evcrisp.io.aedat import aedat4_writer
from evcrisp.io.protocol import finishing

dv = pytest.importorskip("dv_processing", reason="dv-processing is an oracle here")
aedat = pytest.importorskip("aedat", reason="aedat is an oracle here")
eventcv = pytest.importorskip("eventcv", reason="eventcv is an oracle here")

COMPRESSIONS = ("lz4", "zstd", "none")
T0 = 1_643_243_628_000_000


def an_imu(n):
    rng = np.random.default_rng(8)
    return Imu(
        t=T0 + np.arange(n) * 50,
        gyro_rad_s=rng.normal(size=(n, 3)),
        accel_m_s2=rng.normal(size=(n, 3)),
        temperature_c=rng.normal(30, 1, n),
        magnetic_ut=rng.normal(size=(n, 3)),
    )


def some_frames():
    rng = np.random.default_rng(9)
    shapes = ((260, 346), (20, 30, 3), (20, 30, 4))
    return [
        Frame(
            t=T0 + 1000 * i,
            image=rng.integers(0, 256, shape).astype(np.uint8),
            exposure_start=T0 + 1000 * i,
            exposure_end=T0 + 1000 * i + 300,
            position=(i, 2 * i),
        )
        for i, shape in enumerate(shapes)
    ]


@pytest.fixture(params=COMPRESSIONS)
def ours(request, make_events, tmp_path):
    """Return a written file and its content."""
    events = make_events(30_000, t_start=T0)
    kinds = np.arange(10, dtype=np.uint8)
    triggers = Triggers(t=T0 + np.arange(10) * 9, kind=kinds, channel=np.zeros(10, np.uint8))
    imu, frames = an_imu(1500), some_frames()
    path = tmp_path / "ours.aedat4"
    writer = aedat4_writer.Aedat4Writer(compression=request.param, camera="DAVIS346_7")
    with finishing(writer.open(path, events.resolution)) as sink:
        sink.write(events)
        sink.write_imu(imu)
        sink.write_triggers(triggers)
        sink.write_frames(iter(frames))
    return path, events, imu, triggers, frames


def batches(read):
    while (batch := read()) is not None:
        yield batch


def assert_records_equal(records, events, names):
    for name, column in zip(names, (events.x, events.y, events.t, events.p), strict=True):
        np.testing.assert_array_equal(records[name], column)


def test_dv_processing_reads_all_streams(ours):
    path, events, imu, triggers, frames = ours
    recording = dv.io.MonoCameraRecording(str(path))
    assert recording.getCameraName() == "DAVIS346_7"
    assert recording.getEventResolution() == events.resolution
    records = np.concatenate([batch.numpy() for batch in batches(recording.getNextEventBatch)])
    assert_records_equal(records, events, ("x", "y", "timestamp", "polarity"))
    samples = [sample for batch in batches(recording.getNextImuBatch) for sample in batch]
    assert [sample.timestamp for sample in samples] == imu.t.tolist()
    gyro = np.array([sample.getAngularVelocities() for sample in samples]).reshape(-1, 3)
    np.testing.assert_allclose(gyro, imu.gyro_rad_s, rtol=1e-6)
    # Not getAccelerations(), which takes 9.81 m/s^2 for 1 g.
    accel = np.array([(s.accelerometerX, s.accelerometerY, s.accelerometerZ) for s in samples])
    np.testing.assert_allclose(accel * STANDARD_GRAVITY_M_S2, imu.accel_m_s2, rtol=1e-6)
    np.testing.assert_allclose([s.temperature for s in samples], imu.temperature_c, rtol=1e-6)
    np.testing.assert_allclose([s.magnetometerY for s in samples], imu.magnetic_ut[:, 1], rtol=1e-6)
    marks = [mark for batch in batches(recording.getNextTriggerBatch) for mark in batch]
    assert [mark.timestamp for mark in marks] == triggers.t.tolist()
    assert [mark.type.value for mark in marks] == triggers.kind.tolist()
    found = list(batches(recording.getNextFrame))
    assert len(found) == len(frames)
    for mine, theirs in zip(frames, found, strict=True):
        np.testing.assert_array_equal(theirs.image, mine.image)
        assert (theirs.timestamp, theirs.positionX, theirs.positionY) == (mine.t, *mine.position)
        assert theirs.exposure.microseconds == 300


def test_dv_processing_finds_a_range_of_time(ours):
    path, events, *_ = ours
    recording = dv.io.MonoCameraRecording(str(path))
    start, end = T0 + 30_000, T0 + 60_000
    part = events.between(start, end)
    assert_records_equal(
        recording.getEventsTimeRange(start, end).numpy(), part, ("x", "y", "timestamp", "polarity")
    )
    assert recording.getTimeRange()[0] <= events.t[0]


def test_dv_processing_finds_no_empty_streams(make_events, tmp_path):
    evcrisp.write(tmp_path / "a.aedat4", make_events(10))
    recording = dv.io.MonoCameraRecording(str(tmp_path / "a.aedat4"))
    assert recording.isEventStreamAvailable()
    assert not recording.isFrameStreamAvailable()
    assert not recording.isImuStreamAvailable()
    assert not recording.isTriggerStreamAvailable()


def test_aedat_reads_all_streams(ours):
    path, events, imu, triggers, frames = ours
    parts = {"events": [], "imus": [], "triggers": [], "frame": []}
    for packet in aedat.Decoder(str(path)):
        for name in parts.keys() & packet.keys():
            parts[name].append(packet[name])
    assert_records_equal(np.concatenate(parts["events"]), events, ("x", "y", "t", "on"))
    samples = np.concatenate(parts["imus"])
    np.testing.assert_array_equal(samples["t"], imu.t)
    np.testing.assert_allclose(np.deg2rad(samples["gyroscope_z"]), imu.gyro_rad_s[:, 2], rtol=1e-6)
    accel = imu.accel_m_s2 / STANDARD_GRAVITY_M_S2
    np.testing.assert_allclose(samples["accelerometer_x"], accel[:, 0], rtol=1e-6)
    marks = np.concatenate(parts["triggers"])
    np.testing.assert_array_equal(marks["t"], triggers.t)
    np.testing.assert_array_equal(marks["source"], triggers.kind)
    assert [frame["t"] for frame in parts["frame"]] == [frame.t for frame in frames]
    np.testing.assert_array_equal(parts["frame"][0]["pixels"], frames[0].image)
    assert parts["frame"][1]["offset_y"] == 2


def test_eventcv_reads_the_events(ours):
    path, events, *_ = ours
    rows = eventcv.load(str(path)).numpy()
    for i, column in enumerate((events.x, events.y, events.t, events.p)):
        np.testing.assert_array_equal(rows[:, i], column)


def write_with_dv(path, compression, events, imu, triggers, frames):
    kinds = list(dv.TriggerType.__members__.values())
    config = dv.io.MonoCameraWriter.DAVISConfig("cam <1>", events.resolution, compression)
    writer = dv.io.MonoCameraWriter(str(path), config)
    store = dv.EventStore()
    columns = (events.t.tolist(), events.x.tolist(), events.y.tolist(), events.p.tolist())
    for t, x, y, p in zip(*columns, strict=True):
        store.push_back(t, x, y, p)
    writer.writeEvents(store)
    accel, gyro = imu.accel_m_s2 / STANDARD_GRAVITY_M_S2, np.rad2deg(imu.gyro_rad_s)
    for i, t in enumerate(imu.t.tolist()):
        values = (imu.temperature_c[i], *accel[i], *gyro[i], *imu.magnetic_ut[i])
        writer.writeImu(dv.IMU(t, *map(float, values)))
    for t, kind in zip(triggers.t.tolist(), triggers.kind.tolist(), strict=True):
        writer.writeTrigger(dv.Trigger(t, kinds[kind]))
    for frame in frames:
        duration = frame.exposure_end - frame.exposure_start
        source = dv.FrameSource.SENSOR
        writer.writeFrame(dv.Frame(frame.t, duration, *frame.position, frame.image, source))


@pytest.mark.parametrize("name", list(dv.CompressionType.__members__))
def test_files_of_dv_processing_are_read(name, make_events, tmp_path):
    events, imu, frames = make_events(25_000, t_start=T0), an_imu(70), some_frames()
    frames.append(
        Frame(
            t=T0 + 9000,
            image=np.arange(6, dtype=np.uint16).reshape(2, 3),
            exposure_start=T0 + 9000,
            exposure_end=T0 + 9001,
        )
    )
    triggers = Triggers(
        t=T0 + np.arange(10), kind=np.arange(10, dtype=np.uint8), channel=np.zeros(10, np.uint8)
    )
    path = tmp_path / "theirs.aedat4"
    compression = dv.CompressionType.__members__[name]
    write_with_dv(path, compression, events, imu, triggers, frames)
    with evcrisp.open(path) as opened:
        assert opened.metadata["compression"] == name
        assert opened.metadata["source"] == "cam <1>"
        assert opened._source.n_events == len(events)
        assert opened.read().equals(events)
        found, marks, images = opened.imu(), opened.triggers(), list(opened.frames())
    np.testing.assert_array_equal(found.t, imu.t)
    for column in ("gyro_rad_s", "accel_m_s2", "temperature_c", "magnetic_ut"):
        np.testing.assert_allclose(getattr(found, column), getattr(imu, column), rtol=1e-6)
    np.testing.assert_array_equal(marks.t, triggers.t)
    np.testing.assert_array_equal(marks.kind, triggers.kind)
    assert len(images) == len(frames)
    for mine, theirs in zip(images, frames, strict=True):
        np.testing.assert_array_equal(mine.image, theirs.image)
        assert (mine.t, mine.position) == (theirs.t, theirs.position)
        assert (
            mine.exposure_end - mine.exposure_start == theirs.exposure_end - theirs.exposure_start
        )
