"""ECD archives: events, IMU samples and calibration in one zip file."""

import zipfile

import numpy as np
import pytest

import evcrisp
from evcrisp import Events, FormatError
from evcrisp.core.sensor_data import Imu

SIZE = (240, 180)


def pack(path, members, **options):
    with zipfile.ZipFile(path, "w", **options) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize("folder", ["", "shapes_rotation/"])
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_distributed_archive_is_read(tmp_path, folder, method):
    members = {
        f"{folder}calib.txt": "199 198 132 110 0 0 0 0 0",
        f"{folder}images.txt": "0.1 images/frame_00000000.png",
        f"{folder}imu.txt": "0.25 1 2 3 4 5 6\n",
        f"{folder}events.txt": "0.5 1 2 1\n0.6 3 4 0\n",
        f"{folder}backup/events.txt": "0.9 0 0 0\n",
    }
    path = pack(tmp_path / "shapes.zip", members, compression=method)
    with evcrisp.open(path, resolution=SIZE) as opened:
        assert opened.format == "ecd-zip"
        assert opened.read().t.tolist() == [500_000, 600_000]
        assert opened.imu().t.tolist() == [250_000]
        assert opened.metadata["calib"] == [199, 198, 132, 110, 0, 0, 0, 0, 0]


def test_archive_comment_keeps_the_sensor_size(tmp_path, make_events):
    events = make_events(100, resolution=(333, 222))
    evcrisp.write(tmp_path / "a.zip", events)
    with evcrisp.open(tmp_path / "a.zip") as opened:
        assert opened.resolution_source == "file"
        assert opened.read().equals(events)
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert archive.testzip() is None
        rows = np.loadtxt(archive.open("events.txt"))
    assert rows.shape == (100, 4)


def test_round_trip_keeps_imu_samples(tmp_path):
    rng = np.random.default_rng(4)
    folder = tmp_path / "boxes"
    folder.mkdir()
    (folder / "events.txt").write_text("0.5 1 2 1\n")
    imu = Imu(
        t=np.array([-1, 0, 1_000_001]),
        accel_m_s2=rng.normal(0, 9.81, (3, 3)),
        gyro_rad_s=rng.normal(0, 1e-5, (3, 3)),
    )
    lines = zip(imu.t / 1e6, imu.accel_m_s2, imu.gyro_rad_s, strict=True)
    text = "".join(
        f"{t:.6f} {' '.join(map(repr, [*a.tolist(), *g.tolist()]))}\n" for t, a, g in lines
    )
    (folder / "imu.txt").write_text(text)
    with evcrisp.open(folder, resolution=SIZE) as opened:
        evcrisp.write(tmp_path / "boxes.zip", opened)
    with evcrisp.open(tmp_path / "boxes.zip") as opened:
        back = opened.imu()
        assert opened.read().resolution == SIZE
    np.testing.assert_array_equal(back.t, imu.t)
    np.testing.assert_array_equal(back.accel_m_s2, imu.accel_m_s2)
    np.testing.assert_array_equal(back.gyro_rad_s, imu.gyro_rad_s)


def test_lost_triggers_and_frames_are_counted(tmp_path, data_dir, caplog):
    with evcrisp.open(data_dir / "emlb" / "demo-01.aedat4") as opened:
        evcrisp.write(tmp_path / "a.zip", opened)
    assert "Format 'ecd-zip' does not keep all sensor data; left out: 52 triggers, 13 frames" in (
        caplog.text
    )
    assert "510 IMU samples" not in caplog.text
    with evcrisp.open(tmp_path / "a.zip") as opened:
        assert len(opened.imu()) == 510


@pytest.mark.parametrize("compressed", [True, False])
def test_no_events_are_written_and_read(tmp_path, compressed):
    evcrisp.write(tmp_path / "a.zip", Events.empty((3, 2)), compressed=compressed)
    assert evcrisp.read(tmp_path / "a.zip").equals(Events.empty((3, 2)))


def test_archives_without_events_are_refused(tmp_path):
    pack(tmp_path / "a.zip", {"notes.txt": "hello"})
    with pytest.raises(FormatError, match="no member events.txt"):
        evcrisp.read(tmp_path / "a.zip")


def test_damaged_member_gives_the_events_before_the_damage(tmp_path, make_events):
    events = make_events(20_000, resolution=SIZE)
    evcrisp.write(tmp_path / "a.zip", events)
    content = bytearray((tmp_path / "a.zip").read_bytes())
    content[len(content) * 3 // 4] ^= 0x10
    (tmp_path / "a.zip").write_bytes(content)
    with pytest.raises(
        FormatError, match=r"(member 'events.txt' is damaged|line \d+|time decreases)"
    ):
        evcrisp.read(tmp_path / "a.zip")
    kept = evcrisp.read(tmp_path / "a.zip", on_error="truncate")
    assert len(kept) > 10_000


def test_cut_or_encrypted_archive_is_a_format_error(tmp_path, make_events):
    evcrisp.write(tmp_path / "a.zip", make_events(200, resolution=SIZE))
    content = (tmp_path / "a.zip").read_bytes()
    for n in range(4, len(content), 97):
        (tmp_path / "b.zip").write_bytes(content[:n])
        with pytest.raises(FormatError, match="the archive is cut short"):
            evcrisp.read(tmp_path / "b.zip", resolution=SIZE)
    locked = bytearray(content)
    locked[6] |= 1
    locked[content.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "c.zip").write_bytes(locked)
    with pytest.raises(FormatError, match="(encrypted|password)"):
        evcrisp.read(tmp_path / "c.zip", resolution=SIZE)
