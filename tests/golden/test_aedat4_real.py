"""Real AEDAT4 recordings: counts, digests and sensor data.

The digests of the events are equal in dv-processing 2.0.4 and aedat 2.3.0.
"""

import hashlib

import numpy as np
import pytest

import evcrisp
from evcrisp.core.sensor_data import TriggerKind

#: path: ((events, first and last time in us, resolution, ON events), digests of x y t p)
RECORDINGS = {
    "emlb/demo-01.aedat4": (
        (319512, 1643243628737093, 1643243629248083, (346, 260), 166736),
        "9b45f408b570fa62 6809615fef89db71 306db82eae76323d b74134592c3b5313",
    ),
    "aedat4/dvs128_hand_2024-06-20_16-13-00.aedat4": (
        (149629, 1718925184590631, 1718925190610468, (128, 128), 66767),
        "1e66a7111b8d477c 6be6ddf67acedaf6 fe2ced011c67d415 84c17d1275ca0a67",
    ),
    "aedat4/dvs128_lowrate_2024-06-13_16-29-55.aedat4": (
        (22579, 1718321470158372, 1718321475628073, (128, 128), 10171),
        "e8cb19f38e7ff9fb ac574f72640f460a 1b54d295de3d9e2d b7fda817a4e41173",
    ),
    "aedat4/dvxplorer_320x240_tonic_sample.aedat4": (
        (111954, 1605537493718345, 1605537494308262, (320, 240), 55023),
        "8e7f13a5c4619ad3 04379e968d5fa618 4501ef229eb5b956 70e5618909d24333",
    ),
}


def digest(column):
    return hashlib.sha256(column.tobytes()).hexdigest()[:16]


@pytest.mark.parametrize("name", RECORDINGS)
def test_events_have_the_known_counts_and_digests(name, data_dir):
    facts, digests = RECORDINGS[name]
    with evcrisp.open(data_dir / name) as opened:
        assert opened.format == "aedat4"
        assert opened.metadata["data_table"] is True
        events = opened.read()
        chunks = evcrisp.Events.concatenate(opened.chunks())
    assert (len(events), *events.t[[0, -1]], events.resolution, events.n_on) == facts
    assert " ".join(digest(getattr(events, column)) for column in "xytp") == digests
    assert chunks.equals(events)


def test_davis_has_imu_samples_triggers_and_frames(data_dir):
    with evcrisp.open(data_dir / "emlb/demo-01.aedat4") as opened:
        assert opened.metadata["source"] == "DAVIS346_00000391"
        imu, triggers, frames = opened.imu(), opened.triggers(), list(opened.frames())
    assert len(imu) == 510
    assert (imu.t[0], imu.t[-1]) == (1643243628737784, 1643243629247227)
    assert np.abs(imu.gyro_rad_s).max() < 0.06  # the camera is almost still
    assert not imu.accel_m_s2.any()  # the accelerometer was off
    np.testing.assert_allclose(imu.temperature_c[0], 29.401474)
    assert imu.magnetic_ut is None
    kinds, counts = np.unique(triggers.kind, return_counts=True)
    marks = ("FRAME_START", "FRAME_END", "EXPOSURE_START", "EXPOSURE_END")
    assert [TriggerKind(kind).name for kind in kinds] == list(marks)
    assert counts.tolist() == [13, 13, 13, 13]
    assert len(frames) == 13
    assert {(frame.image.shape, frame.image.dtype.name) for frame in frames} == {
        ((260, 346), "uint8")
    }
    assert {frame.exposure_end - frame.exposure_start for frame in frames} == {20_000}
    starts = triggers.t[triggers.kind == TriggerKind.EXPOSURE_START]
    assert [frame.exposure_start for frame in frames] == starts.tolist()


def test_resting_dvxplorer_measures_gravity(data_dir):
    with evcrisp.open(data_dir / "aedat4/dvxplorer_320x240_tonic_sample.aedat4") as opened:
        imu = opened.imu()
    assert len(imu) == 475
    norm = np.linalg.norm(imu.accel_m_s2, axis=1)
    assert abs(np.median(norm) / 9.80665 - 1) < 0.1
    assert np.abs(np.rad2deg(imu.gyro_rad_s)).max() < 1.5


def test_unfinished_recording_is_read_completely(data_dir, tmp_path):
    data = bytearray((data_dir / "emlb/demo-01.aedat4").read_bytes())
    table = int.from_bytes(data[54:62], "little")
    data[54:62] = (-1).to_bytes(8, "little", signed=True)
    (tmp_path / "killed.aedat4").write_bytes(data[:table])
    assert len(evcrisp.read(tmp_path / "killed.aedat4")) == 319512
    (tmp_path / "killed.aedat4").write_bytes(data[: table - 200_000])
    with evcrisp.open(tmp_path / "killed.aedat4", on_error="truncate") as opened:
        n_kept = len(opened.read())
        assert opened.damage is not None
        assert 290_000 < n_kept < 319512
        assert 450 < len(opened.imu()) < 510
