"""Parts and topics of ROS bags."""

from itertools import pairwise

import numpy as np
import pytest

import evcrisp
from evcrisp import UnknownNameError
from evcrisp.io.ros import mcap, rosbag1

T0 = 1_500_000_000_000_000
N_MESSAGES = 40


def interleaved(bags, left, right):
    """Return messages of two event topics, IMU and images, in the order of time."""
    messages = []
    bounds = np.linspace(0, len(left), N_MESSAGES + 1).astype(int)
    other = np.linspace(0, len(right), N_MESSAGES + 1).astype(int)
    for number, ((a, b), (c, d)) in enumerate(zip(pairwise(bounds), pairwise(other), strict=True)):
        t = T0 + number * 250_000
        messages += [
            ("/left/events", bags.event_array(left[a:b])),
            ("/right/events", bags.event_array(right[c:d])),
            ("/left/imu", bags.imu(t, (number, 0, 0), (0, 0, 9.8))),
            ("/left/image_raw", bags.image(t, np.full((260, 346), number, np.uint8), "mono8")),
        ]
    return messages


KINDS = ("ros1", "ros1-lz4", "mcap", "mcap-chunks", "sqlite3", "two")


@pytest.fixture(params=KINDS)
def bag(request, make_events, tmp_path, ros1, ros2, monkeypatch):
    """Return a bag of ten seconds with two event topics, its kind, and its events."""
    left = make_events(4000, seed=1, t_start=T0, duration_us=10_000_000)
    right = make_events(3000, seed=2, t_start=T0, duration_us=10_000_000)
    folder, kind = tmp_path, request.param
    monkeypatch.setattr("evcrisp.io.ros.bag._ENOUGH", 1)  # packets are not joined
    bags = ros1 if kind.startswith("ros1") else ros2
    messages = interleaved(bags, left, right)
    if kind == "mcap-chunks":
        path = write_chunks(folder / "a.mcap", bags, messages)
    elif kind == "two":
        path = folder / "two"
        path.mkdir()
        half = len(messages) // 2
        write_chunks(path / "a_0.mcap", bags, messages[:half])
        write_chunks(path / "a_1.mcap", bags, messages[half:])
    else:
        packing = "lz4" if kind == "ros1-lz4" else "none"
        storage = "sqlite3" if kind == "sqlite3" else "mcap"
        path = bags.write(
            folder / ("a.bag" if bags is ros1 else "a"),
            messages,
            packing=packing,
            storage=storage,
            chunk_bytes=1 << 16,
        )
    return kind, path, left, right


def write_chunks(path, bags, messages):
    """Write a file in small chunks with the package mcap."""
    writer_module = pytest.importorskip("mcap.writer", reason="mcap writes the chunks")
    with path.open("wb") as file:
        writer = writer_module.Writer(file, chunk_size=1 << 16)
        writer.start("ros2")
        channels = {}
        for number, (topic, (kind, message)) in enumerate(messages):
            if topic not in channels:
                schema = writer.register_schema(kind, "ros2msg", b"")
                channels[topic] = writer.register_channel(topic, "cdr", schema)
            stamp = 10**9 + number
            writer.add_message(channels[topic], stamp, bags.serialize(kind, message), stamp)
        writer.finish()
    return path


def test_part_equals_the_same_part_of_all_events(bag):
    _, path, left, right = bag
    for topic, events in (("/left/events", left), ("/right/events", right)):
        t_first = int(events.t[0])
        for start, duration in ((0, 1000), (5_000_000, 700_000), (9_900_000, None), (1, 9_000_000)):
            end = 2**62 if duration is None else t_first + start + duration
            expected = events.between(t_first + start, end)
            with evcrisp.open(path, stream=topic, start_us=start, duration_us=duration) as opened:
                assert opened.read().equals(expected)
                assert sum(map(len, opened.chunks())) == len(expected)


def test_part_has_the_imu_samples_and_images_of_its_time(bag):
    _, path, left, _ = bag
    t_first = int(left.t[0])
    cut = {"start_us": 5_000_000, "duration_us": 1_000_000, "roi": (10, 20, 30, 40)}
    with evcrisp.open(path, stream="/left/events", **cut) as opened:
        imu, frames = opened.imu(), list(opened.frames())
        assert opened.triggers() is None
    expected = [
        t for t in range(T0, T0 + 10_000_000, 250_000) if 0 <= t - t_first - 5_000_000 < 10**6
    ]
    assert len(expected) == 4
    assert imu.t.tolist() == [frame.t for frame in frames] == expected
    assert imu.gyro_rad_s[:, 0].tolist() == [frame.image[0, 0] for frame in frames]
    assert frames[0].image.shape == (40, 30)


def test_messages_before_the_part_are_not_unpacked(bag, monkeypatch):
    kind, path, _, _ = bag
    unpacked, parsed = [], []
    for module in (rosbag1, mcap):
        real = module._unpacked
        monkeypatch.setattr(
            module, "_unpacked", lambda chunk, real=real: unpacked.append(1) or real(chunk)
        )
    from evcrisp.io.ros import messages

    real_array = messages.event_array
    monkeypatch.setattr(
        messages, "event_array", lambda cursor: parsed.append(1) or real_array(cursor)
    )

    def read(**cut):
        unpacked.clear(), parsed.clear()
        with evcrisp.open(path, stream="/left/events", **cut) as opened:
            n = sum(map(len, opened.chunks()))
        return n, len(unpacked), len(parsed)

    n, n_chunks, n_messages = read()
    assert (n, n_messages) == (4000, N_MESSAGES + 1)  # and one when the bag is opened
    n, n_chunks_cut, n_messages_cut = read(start_us=8_000_000, duration_us=100_000)
    assert n > 0
    if kind == "mcap":  # the package rosbags writes no chunks
        assert n_messages_cut < N_MESSAGES
        return
    # The first one, a search by halves, and those of the part.
    assert n_messages_cut <= 14
    if kind != "sqlite3":
        assert n_chunks > 20
        assert n_chunks_cut <= n_chunks / 2


def test_topics_are_chosen_and_listed(bag, caplog):
    _, path, left, right = bag
    assert evcrisp.read(path).equals(left)
    assert "2 streams of events (/left/events, /right/events); reading /left/events." in caplog.text
    caplog.clear()
    for name in ("/right/events", "right/events", "right"):
        with evcrisp.open(path, stream=name) as opened:
            assert opened.read().equals(right)
            assert opened.stream == opened.metadata["topic"] == "/right/events"
            assert opened.metadata["imu_topic"] == "/left/imu"  # there is no other
            assert [(s.name, s.kind) for s in opened.streams] == [
                ("/left/events", "events"),
                ("/left/image_raw", "frames"),
                ("/left/imu", "imu"),
                ("/right/events", "events"),
            ]
    assert not caplog.records
    with pytest.raises(
        UnknownNameError, match="'/left/imu' .* holds imu, not events. Known: /left"
    ):
        evcrisp.open(path, stream="/left/imu")
    with pytest.raises(UnknownNameError, match="'/up'. Known: /left/events, /right/events."):
        evcrisp.open(path, stream="/up")


def test_part_of_a_cut_bag_is_read_without_its_index(ros1, make_events, tmp_path):
    events = make_events(2000, t_start=T0, duration_us=1_000_000)
    parts = [("/dvs/events", ros1.event_array(events[i : i + 100])) for i in range(0, 2000, 100)]
    path = ros1.write(tmp_path / "a.bag", parts)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) - 4000])
    t_first = int(events.t[0])
    part = evcrisp.read(path, start_us=500_000, duration_us=100_000)
    assert part.equals(events.between(t_first + 500_000, t_first + 600_000))


def test_sensor_data_of_a_sensor_clock_are_cut_in_ros_time(ros2, make_events, tmp_path):
    """Times of `mono` count from the start of the sensor; those of the IMU are ROS time."""
    t = np.arange(0, 10_000, 100)  # us
    words = t.astype(np.uint64) * 1000 | np.uint64(5) << np.uint64(32)
    packet = ros2.event_packet(words.astype("<u8").tobytes(), encoding="mono", time_base=0)
    kind, message = packet
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(T0 * 1000, 10**9)
    imu = [("/imu", ros2.imu(T0 + 1000 * i, (i, 0, 0), (0, 0, 9))) for i in range(10)]
    path = ros2.write(tmp_path / "a", [("/events", (kind, message)), *imu])
    with evcrisp.open(path, start_us=2_000, duration_us=3_000) as opened:
        assert opened.metadata["clock"] == "sensor"
        assert opened.read().t.tolist() == list(range(2_000, 5_000, 100))
        assert opened.imu().gyro_rad_s[:, 0].tolist() == [2, 3, 4]
