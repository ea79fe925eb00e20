"""Real recordings in AEDAT 2.0, ECD text, Event Stream, N-MNIST and MATLAB: counts and digests.

The digests were compared with other decoders: eventcv (DAVIS, whose columns it mirrors), numpy's
text reader (ECD), scipy (MATLAB), and plain byte-by-byte decoders (DVS128, Event Stream, N-MNIST).
"""

import gzip
import hashlib
import shutil
import struct

import numpy as np
import pytest

import evcrisp

#: path: (format, events, first and last time in us, resolution, ON events, digests of x y t p)
RECORDINGS = {
    "aedat2/davis240c_IMU_rotDisk.aedat": (
        ("aedat2", 374296, 341678, 3508437, (240, 180), 163098),
        "092d1979d3361fa8 646770f40c4a3fd4 5200955085b7c9bc 1378c84f55ed8005",
    ),
    "aedat2/dvs128_MovingDarkBox.aedat": (
        ("aedat2", 489834, 946459683, 986269729, (128, 128), 246923),
        "7500421af5a8736d 35e0604917fa67ff a909dc7cd30b45e9 43b05b877fa28798",
    ),
    "aedat2/dvs128_noise_foam90.aedat": (
        ("aedat2", 1575, 2693326797, 2698248407, (128, 128), 1247),
        "c02a1e0be5cfe403 d23736521d50cd7f 62c3e74eace189a9 6e2ab8d5929a8f3a",
    ),
    "aedat2/dvs128_reveal6.aedat": (
        ("aedat2", 128436, 1641270184, 1645936583, (128, 128), 116958),
        "4a933c1d45e3fa07 4a748197935710f7 10a9f46b5866b73d 4368458660980c77",
    ),
    "ecd/shapes_rotation_first120k": (
        ("ecd", 120000, 0, 1428658, (240, 180), 52020),
        "c214e472ec54c7fb 65166c10cdc3bbb3 fd2a03f07cd762d5 58fffcce533ee53b",
    ),
    "ecd/slider_depth_chunk": (
        ("ecd", 50000, 3811, 174156, (240, 180), 21147),
        "7284a82fc6ba2333 8b9cdd297e608d6f 47f1063c11a8a785 851120faa388f8f9",
    ),
    "ecd/stppp_boxes_rotation": (
        ("ecd", 30000, 49006624, 49012158, (240, 180), 12823),
        "abccbf4718f90617 73df42bbd7e52c05 35c4d76db4a8b3ac 2a44e6caade0df48",
    ),
    "ecd/stppp_boxes_translation": (
        ("ecd", 30000, 18579911, 18591260, (240, 180), 13456),
        "271ece09498bb131 8acb878bf147714d c9be9d425380b97b 4eb9a37cdce2d5cc",
    ),
    "ecd/stppp_dynamic_rotation": (
        ("ecd", 30000, 17276289, 17295545, (240, 180), 12479),
        "53c9620bffbbe106 5f6bb6e78806e720 aac3823d082ca252 a41b76fd7a729bae",
    ),
    "ecd/stppp_dynamic_translation": (
        ("ecd", 30000, 32886658, 32925996, (240, 180), 12206),
        "9886cecd6868ca3d f3e3f491f4258a30 0fbcb0cafeab7c15 60b9ad8c5fe02ef4",
    ),
    "ecd/stppp_poster_rotation": (
        ("ecd", 30000, 51197687, 51203009, (240, 180), 12537),
        "180c4c2ba559d93b deeeb343f18294cc df4d433c9ff8586e bd1808c8d358ca85",
    ),
    "ecd/stppp_poster_translation": (
        ("ecd", 30000, 49303025, 49313903, (240, 180), 13502),
        "936795900b1abc48 b668cdc3913c445a 35827d62bd5d5907 1231d73d7edbe335",
    ),
    "ecd/tubrip_boxes_rotation": (
        ("ecd", 30000, 13582596, 13595875, (240, 180), 13540),
        "5b571dd2ad45f1e2 30a5e9500ea66416 1b9a19a3a9ad6550 7318b46bbad33f1a",
    ),
    "ecd/tubrip_dynamic_rotation": (
        ("ecd", 30000, 19098314, 19119366, (240, 180), 12912),
        "8d7517d876507205 cdb5d89eebdddf45 33cbc05afc1cc0e7 fef87fd5cec5d703",
    ),
    "ecd/tubrip_shapes_rotation": (
        ("ecd", 20000, 2097134, 2195729, (240, 180), 8560),
        "d47bbc572e0c2c4a 2a35c6fba259fd80 d576b4f875e2e5ec 3b91266272878775",
    ),
    "eventstream/dvs.es": (
        ("es", 473225, 0, 999000, (320, 240), 270001),
        "622118e8556d523a 1f43f71b424beac6 a40868f587354c3e 24c933e5d75f30ad",
    ),
    "nmnist/sample_nmnist.bin": (
        ("nmnist", 4325, 654, 311175, (34, 34), 2145),
        "56ee246ecc2708ae 4ea2c2247151a6bf f1b8391322585688 d850ef116dc31c2a",
    ),
    "dvs128-mat/building.mat": (
        ("mat", 115839, 0, 1100005, (128, 128), 58068),
        "f52caf07b707e4d5 b5fbd9591273600b 418cc9a0e17b4db6 438f648947dca44c",
    ),
    "dvs128-mat/stripes.mat": (
        ("mat", 340394, 0, 1197752, (128, 128), 230210),
        "4fa92e2c555b2f74 dbe4f387cb67de55 0fe51a396970bbe0 0b0ba608ea60a874",
    ),
    "remot/inbound.mat": (
        ("mat", 637463, 0, 2993805, (346, 260), 317429),
        "f3abb027f880c13f 85e20bc4b69a5d22 6549fdf807069502 26c8a2f4a7acdf6b",
    ),
}


@pytest.mark.parametrize("name", RECORDINGS)
def test_counts_times_and_digests(name, data_dir):
    facts, digests = RECORDINGS[name]
    with evcrisp.open(data_dir / name) as opened:
        events = opened.read()
        found = (opened.format, len(events), int(events.t[0]), int(events.t[-1]))
    assert (*found, events.resolution, events.n_on) == facts
    columns = (events.x, events.y, events.t, events.p)
    sums = [hashlib.sha256(column.tobytes()).hexdigest()[:16] for column in columns]
    assert " ".join(sums) == digests


def test_imu_of_the_rolling_davis_has_the_known_rates(data_dir):
    with evcrisp.open(data_dir / "aedat2" / "davis240c_IMU_rotDisk.aedat") as opened:
        imu = opened.imu()
    assert len(imu) == 7384
    assert np.linalg.norm(imu.accel_m_s2, axis=1).mean() == pytest.approx(1.01 * 9.80665, rel=0.01)
    rates = np.rad2deg(imu.gyro_rad_s)
    np.testing.assert_allclose(rates[:, :2].mean(axis=0), [-3.0, 1.1], atol=0.3)
    # Windows of 100 ms turn at 18 to 40 deg/s.
    windows = rates[: len(imu) // 246 * 246, 2].reshape(-1, 246).mean(axis=1)
    assert np.abs(windows).min() > 12
    assert np.abs(windows).max() < 45


def test_davis_events_agree_with_eventcv_but_for_its_mirrored_columns(data_dir):
    eventcv = pytest.importorskip("eventcv", reason="eventcv is the oracle here")
    path = data_dir / "aedat2" / "davis240c_IMU_rotDisk.aedat"
    rows = eventcv.load(str(path)).numpy()
    events = evcrisp.read(path)
    np.testing.assert_array_equal(239 - rows[:, 0].astype(int), events.x)
    np.testing.assert_array_equal(rows[:, 1], events.y)
    np.testing.assert_array_equal(rows[:, 2], events.t)
    np.testing.assert_array_equal(rows[:, 3], events.p)


@pytest.mark.parametrize("name", [name for name in RECORDINGS if name.startswith("ecd/")])
def test_ecd_text_agrees_with_numpy(name, data_dir):
    rows = np.loadtxt(data_dir / name / "events.txt.gz")
    events = evcrisp.read(data_dir / name, resolution=(240, 180))
    np.testing.assert_array_equal(np.rint(rows[:, 0] * 1e6), events.t)
    np.testing.assert_array_equal(rows[:, 1:], np.stack([events.x, events.y, events.p], axis=1))


def test_matlab_files_agree_with_scipy(data_dir):
    scipy_io = pytest.importorskip("scipy.io", reason="scipy is the oracle here")
    for path in sorted((data_dir / "dvs128-mat").glob("*.mat")):
        rows = scipy_io.loadmat(path)["events"]
        events = evcrisp.read(path)
        p = 2 * events.p.astype(int) - 1
        np.testing.assert_array_equal(rows, np.stack([events.x, events.y, p, events.t], axis=1))


def test_event_stream_file_is_reproduced_byte_for_byte(data_dir, tmp_path):
    path = data_dir / "eventstream" / "dvs.es"
    evcrisp.write(tmp_path / "again.es", evcrisp.read(path))
    assert (tmp_path / "again.es").read_bytes() == path.read_bytes()


def test_nmnist_agrees_with_a_plain_decoder(data_dir):
    path = data_dir / "nmnist" / "sample_nmnist.bin"
    rows = [struct.unpack(">BBBH", word) for word in _words(path.read_bytes(), 5)]
    events = evcrisp.read(path)
    assert [(x, y, (high & 127) << 16 | low, high >> 7) for x, y, high, low in rows] == list(
        zip(events.x, events.y, events.t, events.p, strict=True)
    )


def _words(content, n):
    return [content[first : first + n] for first in range(0, len(content), n)]


def test_dvs128_agrees_with_a_plain_decoder(data_dir):
    path = data_dir / "aedat2" / "dvs128_noise_foam90.aedat"
    content = path.read_bytes()
    start = content.index(b"#End of Preferences")
    start = content.index(b"\n", start) + 1
    while content[start : start + 1] == b"#":
        start = content.index(b"\n", start) + 1
    rows = [struct.unpack(">II", word) for word in _words(content[start:], 8)]
    events = evcrisp.read(path)
    assert [(127 - (a >> 1 & 127), 127 - (a >> 8 & 127), t, 1 - (a & 1)) for a, t in rows] == list(
        zip(events.x, events.y, events.t, events.p, strict=True)
    )


def test_text_with_depth_is_refused_with_a_reason(data_dir):
    path = data_dir / "mvsec" / "indoor_flying1_emin" / "events_undistorted_depth.txt.gz"
    with pytest.raises(evcrisp.FormatError, match=r"line 1 has 5 columns; expected 4 \(t x y p\)"):
        evcrisp.read(path)


def test_text_is_read_equally_plain_zipped_and_in_a_folder(data_dir, tmp_path):
    source = data_dir / "ecd" / "tubrip_shapes_rotation"
    events = evcrisp.read(source)
    with (
        gzip.open(source / "events.txt.gz") as packed,
        (tmp_path / "events.txt").open("wb") as plain,
    ):
        shutil.copyfileobj(packed, plain)
    assert evcrisp.read(tmp_path / "events.txt").equals(events)
    assert evcrisp.read(tmp_path).equals(events)
    evcrisp.write(tmp_path / "a.zip", events)
    assert evcrisp.read(tmp_path / "a.zip").equals(events)
