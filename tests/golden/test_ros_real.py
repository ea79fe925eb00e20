"""Real ROS bags; the sums are those in the tests of the ROS packages."""

import hashlib

import numpy as np
import pytest

import evcrisp
from evcrisp.core.sensor_data import TriggerKind

RECORDINGS = {
    "ros1_evt3_640x480_test_events_1.bag": ("ros1", (640, 480), 343474, 125183, 7139845, 9218023),
    "ros2_evt3_640x480_test_events_1": ("ros2", (640, 480), 343474, 125183, 7139845, 9218023),
    "ros2_evt3_trigger_1280x720": ("ros2", (1280, 720), 82469, 41439, 14224870, 15476187),
    "ros2_libcaer_cmp_davis346_test_events_2": (
        "ros2",
        (346, 260),
        571266,
        211043,
        1744227144732712,
        1744227145732708,
    ),
}

#: sha256 of x, y, t, p
DIGESTS = {
    "ros1_evt3_640x480_test_events_1.bag": [
        "e88c6492bd68acfb",
        "d4dda6730e928342",
        "dac2ac92549d5540",
        "2416b1ba339a82fa",
    ],
    "ros2_evt3_640x480_test_events_1": [
        "e88c6492bd68acfb",
        "d4dda6730e928342",
        "dac2ac92549d5540",
        "2416b1ba339a82fa",
    ],
    "ros2_evt3_trigger_1280x720": [
        "9629cec4bd13239b",
        "526f6d5666c5e515",
        "000e6a1d8fc46ed3",
        "74ba3c40d9493dfd",
    ],
    "ros2_libcaer_cmp_davis346_test_events_2": [
        "36611b0472583556",
        "30e631fc617d2b55",
        "094562ec3ac0a76e",
        "273edf42140770bb",
    ],
}


def digest(events):
    columns = (events.x, events.y, events.t, events.p)
    return [hashlib.sha256(np.ascontiguousarray(c).tobytes()).hexdigest()[:16] for c in columns]


@pytest.mark.parametrize("name", RECORDINGS)
def test_counts_times_and_size(name, data_dir):
    kind, size, n_events, n_on, t_first, t_last = RECORDINGS[name]
    with evcrisp.open(data_dir / "ros" / name) as opened:
        events = opened.read()
        assert opened.format == kind
        assert opened.resolution_source == "file"
    assert (events.resolution, len(events), events.n_on) == (size, n_events, n_on)
    assert (events.t[0], events.t[-1]) == (t_first, t_last)
    assert digest(events) == DIGESTS[name]


def test_ros1_and_ros2_have_the_same_events(data_dir):
    one = evcrisp.read(data_dir / "ros" / "ros1_evt3_640x480_test_events_1.bag")
    two = evcrisp.read(data_dir / "ros" / "ros2_evt3_640x480_test_events_1")
    assert one.equals(two)


def test_sums_that_event_camera_py_asserts_for_evt3(data_dir):
    with evcrisp.open(data_dir / "ros" / "ros1_evt3_640x480_test_events_1.bag") as opened:
        events, triggers = opened.read(), opened.triggers()
    assert int(events.t.sum()) + int(triggers.t.sum()) == 2885601049874
    assert len(triggers) == 4157
    assert np.bincount(triggers.kind).tolist() == [0, 2079, 2078]


def test_sums_that_event_camera_py_asserts_for_libcaer_cmp(data_dir):
    events = evcrisp.read(data_dir / "ros" / "ros2_libcaer_cmp_davis346_test_events_2")
    assert int((events.t - events.t[0]).sum()) == 335555680277


def test_sums_that_event_camera_codecs_asserts_for_evt3_with_triggers(data_dir):
    with evcrisp.open(data_dir / "ros" / "ros2_evt3_trigger_1280x720") as opened:
        events, triggers = opened.read(), opened.triggers()
    sums = [int(column.sum()) for column in (events.t, events.x, events.y, events.p)]
    assert sums == [1222326831810, 42078718, 31656267, 41439]
    assert int(triggers.t.sum()) == 29096982
    assert sorted(triggers.kind.tolist()) == [1, 2]
    assert triggers.channel.tolist() == [0, 0]


def test_file_of_a_bag_folder_reads_like_the_folder(data_dir):
    folder = data_dir / "ros" / "ros2_evt3_trigger_1280x720"
    (file,) = folder.glob("*.db3")
    assert evcrisp.read(file).equals(evcrisp.read(folder))


def test_triggers_are_found_without_reading_the_events_first(data_dir):
    with evcrisp.open(data_dir / "ros" / "ros2_evt3_trigger_1280x720") as opened:
        assert len(opened.triggers()) == 2
        next(opened.chunks())
        assert len(opened.triggers()) == 2


def test_messages_agree_with_rosbags(data_dir):
    rosbag1 = pytest.importorskip("rosbags.rosbag1", reason="rosbags is the independent reader")
    from evcrisp.io.ros.rosbag1 import RosBag1

    path = data_dir / "ros" / "ros1_evt3_640x480_test_events_1.bag"
    with rosbag1.Reader(path) as reader:
        theirs = [raw for _, _, raw in reader.messages()]
    ours = [bytes(message.data) for message in RosBag1(path).messages("/event_camera/events")]
    assert ours == theirs


@pytest.mark.parametrize("name", ["a.mcap", "a.db3", "a.bag"])
@pytest.mark.parametrize("source", ["emlb/demo-01.aedat4", "ros/ros2_evt3_trigger_1280x720"])
def test_written_bags_hold_what_the_recording_holds(tmp_path, data_dir, source, name):
    with evcrisp.open(data_dir / source) as opened:
        events, imu, frames = opened.read(), opened.imu(), list(opened.frames())
        triggers = opened.triggers()
        evcrisp.write(tmp_path / name, opened)
    edges = np.isin(triggers.kind, (TriggerKind.RISING_EDGE, TriggerKind.FALLING_EDGE))
    with evcrisp.open(tmp_path / name) as back:
        assert back.read().equals(events)
        assert back.triggers().t.tolist() == triggers.t[edges].tolist()
        found = list(back.frames())
        assert [frame.t for frame in found] == [frame.t for frame in frames]
        for frame, expected in zip(found, frames, strict=True):
            np.testing.assert_array_equal(frame.image, expected.image)
        if imu is not None:
            np.testing.assert_array_equal(back.imu().t, imu.t)
            np.testing.assert_array_equal(back.imu().gyro_rad_s, imu.gyro_rad_s)
            np.testing.assert_array_equal(back.imu().accel_m_s2, imu.accel_m_s2)
