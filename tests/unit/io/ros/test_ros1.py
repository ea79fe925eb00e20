"""ROS 1 bags."""

import logging
import struct
from itertools import pairwise

import numpy as np
import pytest

import evcrisp
from evcrisp import Events, FormatError
from evcrisp.io.protocol import PACKET_EVENTS
from evcrisp.io.ros.rosbag1 import RosBag1


def arrays(bags, events, n_messages=5, topic="/dvs/events", **options):
    bounds = np.linspace(0, len(events), n_messages + 1).astype(int)
    parts = [events[a:b] for a, b in pairwise(bounds)]
    return [(topic, bags.event_array(part, **options)) for part in parts]


@pytest.mark.parametrize("packing", ["none", "bz2", "lz4"])
@pytest.mark.parametrize("package", ["dvs_msgs", "prophesee_event_msgs"])
def test_event_arrays_are_read(ros1, make_events, tmp_path, packing, package):
    events = make_events(600, t_start=1_500_000_000_123_456)
    path = ros1.write(tmp_path / "a.bag", arrays(ros1, events, package=package), packing=packing)
    with evcrisp.open(path) as opened:
        assert opened.format == "ros1"
        assert opened.read().equals(events)
        assert opened.resolution_source == "file"
        assert opened.metadata["topic"] == "/dvs/events"
        assert opened.metadata["clock"] == "ros"
        assert opened.imu() is None
        assert opened.triggers() is None
        assert list(opened.frames()) == []


@pytest.mark.parametrize("frame", ["", "a", "abc", "camera_link"])
def test_names_of_any_length_do_not_shift_the_events(ros1, make_events, tmp_path, frame):
    events = make_events(50)
    path = ros1.write(tmp_path / "a.bag", arrays(ros1, events, frame=frame))
    assert evcrisp.read(path).equals(events)


def test_nanoseconds_are_cut_to_microseconds(ros1, make_events, tmp_path):
    events = make_events(3)
    kind, message = ros1.event_array(events)
    for event in message.events:
        event.ts.nanosec += 999
    path = ros1.write(tmp_path / "a.bag", [("/dvs/events", (kind, message))])
    assert evcrisp.read(path).equals(events)


def test_large_messages_are_split_and_small_ones_joined(ros1, make_events, tmp_path):
    events = make_events(PACKET_EVENTS + 5000, duration_us=10**6)
    record = np.dtype([("x", "<u2"), ("y", "<u2"), ("s", "<u4"), ("n", "<u4"), ("p", "u1")])
    bodies = []
    for first, last in ((0, 1000), (1000, 2000), (2000, len(events))):
        part = events[first:last]
        records = np.zeros(len(part), record)
        records["x"], records["y"], records["p"] = part.x, part.y, part.p
        records["s"], records["n"] = part.t // 10**6, part.t % 10**6 * 1000
        head = struct.pack("<IIII", 0, 1, 0, 0) + struct.pack("<III", 260, 346, len(part))
        bodies.append(head + records.tobytes())
    messages = [("/e", ("dvs_msgs/msg/EventArray", body)) for body in bodies]
    path = ros1.write(tmp_path / "a.bag", messages)
    with evcrisp.open(path) as opened:
        sizes = [packet.t.size for packet in opened._source.packets()]
        assert opened.read().equals(events)
    assert max(sizes) <= 4 * PACKET_EVENTS
    assert len(sizes) == 2


def test_imu_and_frames_are_read(ros1, make_events, tmp_path):
    rng = np.random.default_rng(5)
    gray, color = rng.integers(0, 256, (2, 6, 8, 3)).astype(np.uint8)
    samples = rng.normal(size=(4, 6))
    messages = arrays(ros1, make_events(100), topic="/davis/left/events")
    messages += [("/a/imu", ros1.imu(1, np.zeros(3), np.zeros(3)))]
    messages += [
        ("/davis/left/imu", ros1.imu(1000 * n, sample[:3], sample[3:]))
        for n, sample in enumerate(samples)
    ]
    messages += [("/davis/left/image_raw", ros1.image(77, gray[:, :, 0], "mono8", step=12))]
    messages += [("/other/image", ros1.image(78, color, "bgr8"))]
    with evcrisp.open(ros1.write(tmp_path / "a.bag", messages)) as opened:
        imu, frames = opened.imu(), list(opened.frames())
        assert opened.metadata["imu_topic"] == "/davis/left/imu"
        assert opened.metadata["frame_topic"] == "/davis/left/image_raw"
    np.testing.assert_array_equal(imu.gyro_rad_s, samples[:, :3])
    np.testing.assert_array_equal(imu.accel_m_s2, samples[:, 3:])
    assert imu.t.tolist() == [0, 1000, 2000, 3000]
    assert [frame.t for frame in frames] == [77]
    np.testing.assert_array_equal(frames[0].image, gray[:, :, 0])


@pytest.mark.parametrize(
    ("encoding", "dtype", "channels", "order"),
    [
        ("mono8", "u1", 1, None),
        ("mono16", "<u2", 1, None),
        ("bgr8", "u1", 3, [0, 1, 2]),
        ("rgb8", "u1", 3, [2, 1, 0]),
        ("bgra8", "u1", 4, [0, 1, 2]),
        ("rgba8", "u1", 4, [2, 1, 0]),
    ],
)
def test_image_encodings(ros1, make_events, tmp_path, encoding, dtype, channels, order):
    shape = (5, 7) if channels == 1 else (5, 7, channels)
    pixels = np.random.default_rng(1).integers(0, 256, shape).astype(dtype)
    messages = [*arrays(ros1, make_events(5), 1), ("/dvs/image", ros1.image(9, pixels, encoding))]
    with evcrisp.open(ros1.write(tmp_path / "a.bag", messages)) as opened:
        (frame,) = opened.frames()
    np.testing.assert_array_equal(frame.image, pixels if order is None else pixels[:, :, order])


def test_images_of_an_unknown_encoding_are_left_out_with_a_warning(
    ros1, make_events, tmp_path, caplog
):
    pixels = np.zeros((4, 4), np.uint8)
    messages = arrays(ros1, make_events(5), 1)
    messages += [("/dvs/image", ros1.image(9, pixels, "bayer_rggb8"))] * 2
    with evcrisp.open(ros1.write(tmp_path / "a.bag", messages)) as opened:
        assert list(opened.frames()) == []
    assert caplog.text.count("unknown encoding 'bayer_rggb8'") == 1


def test_of_several_event_topics_the_first_by_name_is_read(ros1, make_events, tmp_path, caplog):
    left, right = make_events(50, seed=1), make_events(60, seed=2)
    messages = arrays(ros1, right, topic="/b/events") + arrays(ros1, left, topic="/a/events")
    with evcrisp.open(ros1.write(tmp_path / "a.bag", messages)) as opened:
        assert opened.read().equals(left)
        assert opened.metadata["event_topics"] == ["/a/events", "/b/events"]
    assert caplog.text.count("2 streams of events (/a/events, /b/events); reading /a/events") == 1


def test_error_for_a_bag_without_events_lists_its_topics(ros1, tmp_path):
    path = ros1.write(tmp_path / "a.bag", [("/imu", ros1.imu(1, np.zeros(3), np.zeros(3)))])
    with pytest.raises(FormatError, match=r"no topic of events.*/imu \(sensor_msgs/Imu\)"):
        evcrisp.open(path)


def test_empty_messages_are_read(ros1, make_events, tmp_path):
    events = make_events(10)
    none = Events.empty((346, 260))
    messages = [("/e", ros1.event_array(part)) for part in (none, events, none)]
    assert evcrisp.read(ros1.write(tmp_path / "a.bag", messages)).equals(events)


@pytest.mark.parametrize("first_line", [b"#ROSBAG V1.2\n", b"#ROSBAG V2.00\n", b"#ROSBAG Vx.y\n"])
def test_other_versions_are_refused(ros1, make_events, tmp_path, first_line):
    path = ros1.write(tmp_path / "a.bag", arrays(ros1, make_events(10)))
    path.write_bytes(first_line + path.read_bytes()[13:])
    with pytest.raises(FormatError, match=r"expected a bag of format 2\.0"):
        evcrisp.open(path)


def test_cut_bag_gives_the_messages_before_the_cut(ros1, make_events, tmp_path):
    events = make_events(1000)
    path = ros1.write(tmp_path / "a.bag", arrays(ros1, events, 10))
    whole = path.read_bytes()
    kept = []
    for cut in range(5000, len(whole), 997):
        path.write_bytes(whole[:cut])
        with pytest.raises(FormatError, match=r"ends|no topic of events"):
            evcrisp.read(path)
        try:
            with evcrisp.open(path, on_error="truncate", resolution=(346, 260)) as opened:
                read = opened.read()
        except FormatError:
            continue  # cut before the first message
        assert read.equals(events[: len(read)])
        kept.append(len(read))
    assert kept == sorted(kept)
    assert {100, 200, 500, 900, 1000} <= set(kept)


def test_cut_bag_of_many_chunks_loses_only_its_end(ros1, make_events, tmp_path):
    events = make_events(300)
    filler = ("/filler", ros1.image(1, np.zeros((700, 1000), np.uint8), "mono8"))
    messages = [m for array in arrays(ros1, events, 6) for m in (array, filler, filler)]
    path = ros1.write(tmp_path / "a.bag", messages)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) * 2 // 3])
    with evcrisp.open(path, on_error="truncate") as opened:
        read = opened.read()
        assert opened.damage.offset > 1_000_000
        assert "ends within a chunk" in opened.damage.reason
    assert read.equals(events[: len(read)])
    assert 100 < len(read) < 300


def test_unclosed_bag_is_read_and_then_reported(ros1, make_events, tmp_path):
    events = make_events(100)
    path = ros1.write(tmp_path / "a.bag", arrays(ros1, events))
    data = bytearray(path.read_bytes())
    at = data.index(b"index_pos=") + 10
    (index,) = struct.unpack_from("<Q", data, at)
    data[at : at + 8] = bytes(8)
    path.write_bytes(data[:index])
    with pytest.raises(FormatError, match="never closed.*after 100 events"):
        evcrisp.read(path)
    with evcrisp.open(path, on_error="truncate") as opened:
        assert opened.read().equals(events)


def test_missing_message_is_reported(ros1, make_events, tmp_path):
    path = ros1.write(tmp_path / "a.bag", arrays(ros1, make_events(100)))
    data = bytearray(path.read_bytes())
    # The counts of the chunk are the last eight bytes: connection, number of messages.
    assert struct.unpack("<II", data[-8:])[1] == 5
    data[-4] = 6
    path.write_bytes(data)
    with pytest.raises(FormatError, match="found 5 messages, but the index states 6"):
        evcrisp.read(path)


@pytest.mark.parametrize("packing", ["lz4", "bz2"])
def test_chunk_with_an_impossible_size_is_not_allocated(ros1, make_events, tmp_path, packing):
    path = ros1.write(tmp_path / "a.bag", arrays(ros1, make_events(100)), packing=packing)
    data = bytearray(path.read_bytes())
    at = data.index(b"size=") + 5
    data[at : at + 4] = struct.pack("<I", 0xFFFFFFF0)
    path.write_bytes(data)
    with pytest.raises(
        FormatError, match="a chunk states an impossible size of 4,294,967,280 bytes"
    ):
        evcrisp.read(path)


def test_count_of_events_beyond_the_message_is_refused(ros1, make_events, tmp_path):
    kind, message = ros1.event_array(make_events(10))
    body = bytearray(ros1.serialize(kind, message))
    at = len(body) - 130 - 4
    body[at : at + 4] = struct.pack("<I", 2**32 - 1)
    path = ros1.write(tmp_path / "a.bag", [("/e", (kind, bytes(body)))])
    with pytest.raises(FormatError, match=r"ends within a field \(message 0 of /e\)"):
        evcrisp.read(path)


def test_flipped_bytes_give_events_or_a_format_error(ros1, make_events, tmp_path, caplog):
    caplog.set_level(logging.CRITICAL)
    messages = arrays(ros1, make_events(200), 4)
    messages += [("/dvs/imu", ros1.imu(1, np.zeros(3), np.ones(3)))]
    rng = np.random.default_rng(3)
    for packing in ("none", "lz4", "bz2"):
        path = ros1.write(tmp_path / f"{packing}.bag", messages, packing=packing)
        whole = path.read_bytes()
        n_refused = 0
        for _ in range(60):
            data = bytearray(whole)
            data[int(rng.integers(0, len(whole)))] ^= int(rng.integers(1, 256))
            path.write_bytes(data)
            for on_error in ("raise", "truncate"):
                try:
                    with evcrisp.open(path, on_error=on_error, format="ros1") as opened:
                        opened.read(), opened.imu()
                except FormatError:
                    n_refused += 1
        assert 0 < n_refused < 120


def test_messages_agree_with_rosbags(ros1, make_events, tmp_path):
    rosbag1 = pytest.importorskip("rosbags.rosbag1", reason="rosbags is the independent reader")
    path = ros1.write(tmp_path / "a.bag", arrays(ros1, make_events(300), 20), packing="lz4")
    with rosbag1.Reader(path) as reader:
        theirs = [raw for _, _, raw in reader.messages()]
    assert [bytes(message.data) for message in RosBag1(path).messages("/dvs/events")] == theirs


def test_events_agree_with_eventcv(ros1, make_events, tmp_path):
    eventcv = pytest.importorskip("eventcv", reason="eventcv is the independent reader")
    events = make_events(500)
    path = ros1.write(tmp_path / "a.bag", arrays(ros1, events))
    theirs = eventcv.load(str(path), topic="/dvs/events").numpy()
    ours = evcrisp.read(path)
    np.testing.assert_array_equal(theirs[:, 0], ours.x)
    np.testing.assert_array_equal(theirs[:, 1], ours.y)
    np.testing.assert_array_equal(theirs[:, 3] > 0, ours.p)
    assert np.ptp(theirs[:, 2]) > 0


def test_cut_bag_keeps_the_imu_samples_before_the_cut(ros1, make_events, tmp_path):
    messages = [("/dvs/events", ros1.event_array(make_events(20)))]
    messages += [("/dvs/imu", ros1.imu(1000 * n, np.zeros(3), np.ones(3))) for n in range(400)]
    path = ros1.write(tmp_path / "a.bag", messages)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with evcrisp.open(path, on_error="truncate") as opened:
        kept = opened.imu()
    assert 50 < len(kept) < 400
    assert kept.t.tolist() == [1000 * n for n in range(len(kept))]
    with evcrisp.open(path) as opened, pytest.raises(FormatError):
        opened.imu()


def test_one_bit_of_the_index_hides_no_events(ros1, make_events, tmp_path, caplog):
    caplog.set_level(logging.CRITICAL)
    events = make_events(60)
    path = ros1.write(tmp_path / "a.bag", arrays(ros1, events, 2))
    whole = path.read_bytes()
    (index,) = struct.unpack_from("<Q", whole, whole.index(b"index_pos=") + 10)
    n_damaged = 0
    for at in range(index, len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1 :])
        with evcrisp.open(path, on_error="truncate", format="ros1") as opened:
            assert opened.read().equals(events), at
            n_damaged += opened.damage is not None
    assert n_damaged > 50
