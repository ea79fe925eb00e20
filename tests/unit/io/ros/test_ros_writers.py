"""Bags that evcrisp writes, read back by rosbags, mcap and evcrisp."""

import errno
import logging
import os
import subprocess
import sys
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from tests.oracles.io import evt3 as evt3_oracle
from tests.sensor_data import GivenData

import evcrisp
from evcrisp import ConfigError, Events, OutputError
from evcrisp.core.sensor_data import Frame, Imu, TriggerKind, Triggers
from evcrisp.io.ros import container, definitions, sink
from evcrisp.pipeline.convert import convert_recording

NS = 1000
EPOCH = 1_700_000_000_000_000
#: Name of the output, options.
KINDS = {
    "mcap": ("a.mcap", {}),
    "mcap lz4": ("a.mcap", {"compression": "lz4"}),
    "mcap zstd": ("a.mcap", {"compression": "zstd"}),
    "db3": ("a.db3", {}),
    "folder": ("a", {"format": "ros2"}),
    "folder db3": ("a", {"format": "ros2", "storage": "sqlite3"}),
    "bag": ("a.bag", {}),
    "bag lz4": ("a.bag", {"compression": "lz4"}),
}


def some_data(t_start=0, seed=5):
    """Return IMU samples, triggers and frames from 1 ms before to 20 ms after ``t_start``."""
    rng = np.random.default_rng(seed)
    samples = Imu(
        t=t_start + np.arange(0, 20_000, 500),
        gyro_rad_s=rng.normal(size=(40, 3)),
        accel_m_s2=rng.normal(size=(40, 3)),
    )
    edges = Triggers(
        t=t_start + np.sort(rng.integers(0, 30_000, 31)),
        kind=rng.choice([TriggerKind.RISING_EDGE, TriggerKind.FALLING_EDGE], 31).astype(np.uint8),
        channel=rng.integers(0, 16, 31).astype(np.uint8),
    )
    shapes = [((6, 9), np.uint8), ((6, 9, 3), np.uint8), ((6, 9), np.uint16)]
    images = [
        Frame(t=t_start + 3000 * i, image=rng.integers(0, 200, shape).astype(dtype))
        for i, (shape, dtype) in enumerate(shapes)
    ]
    return GivenData(samples, edges, tuple(images))


def written(folder, kind, events, **options):
    name, more = KINDS[kind]
    evcrisp.write(folder / name, events, **{**more, **options})
    return folder / name


def oracle_messages(path):
    """Return (topic, log time in ns, message) of all messages, read by rosbags."""
    highlevel = pytest.importorskip("rosbags.highlevel", reason="rosbags reads the bags")
    typesys = pytest.importorskip("rosbags.typesys", reason="rosbags reads the bags")
    store = typesys.get_typestore(typesys.Stores.EMPTY)
    with highlevel.AnyReader([path], default_typestore=store) as reader:
        return [
            (connection.topic, time, reader.deserialize(data, connection.msgtype))
            for connection, time, data in reader.messages()
        ]


def stamp(message):
    time = message.header.stamp
    return time.sec * 1_000_000_000 + time.nanosec


def decoded(messages):
    """Return the events and triggers of EVT 3.0 messages, one after the other."""
    words = np.concatenate([np.frombuffer(message.events.tobytes(), "<u2") for message in messages])
    events, triggers, n_lost = evt3_oracle.decode_evt3(words)
    assert n_lost == 0
    return events, triggers


def as_tuples(events):
    columns = (column.tolist() for column in (events.x, events.y, events.t, events.p))
    return list(zip(*columns, strict=True))


def same_data(opened, data):
    imu, triggers, frames = opened.imu(), opened.triggers(), list(opened.frames())
    np.testing.assert_array_equal(imu.t, data.samples.t)
    np.testing.assert_array_equal(imu.gyro_rad_s, data.samples.gyro_rad_s)
    np.testing.assert_array_equal(imu.accel_m_s2, data.samples.accel_m_s2)
    for name in ("t", "kind", "channel"):
        np.testing.assert_array_equal(getattr(triggers, name), getattr(data.edges, name))
    assert [frame.t for frame in frames] == [frame.t for frame in data.images]
    for frame, expected in zip(frames, data.images, strict=True):
        assert frame.image.dtype == expected.image.dtype
        np.testing.assert_array_equal(frame.image, expected.image)


# ---------------------------------------------------------------- round trips


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("t_start", [0, 16_777_000, EPOCH])
def test_events_and_sensor_data_are_read_back(tmp_path, make_events, kind, t_start, caplog):
    events = make_events(5000, t_start=t_start + 700)
    data = some_data(t_start)
    path = written(tmp_path, kind, events, sensor_data_from=data)
    with evcrisp.open(path) as opened:
        assert opened.resolution == events.resolution
        assert opened.resolution_source == "file"
        assert opened.read().equals(events)
        same_data(opened, data)
        assert opened.metadata["clock"] == ("ros" if t_start == EPOCH else "sensor")
    assert not caplog.records


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("t_start", [0, EPOCH])
def test_rosbags_reads_the_same(tmp_path, make_events, kind, t_start):
    events, data = make_events(3000, t_start=t_start + 700), some_data(t_start)
    path = written(tmp_path, kind, events, sensor_data_from=data)
    messages = oracle_messages(path)
    assert all(time == stamp(message) for _, time, message in messages)
    by_topic = {
        topic.name: []
        for topic in (container.EVENT_TOPIC, container.IMU_TOPIC, container.IMAGE_TOPIC)
    }
    for topic, _, message in messages:
        by_topic[topic].append(message)
    packets, samples, images = by_topic.values()
    origin = min(int(events.t[0]), int(data.edges.t[0])) if t_start == EPOCH else 0
    found, triggers = decoded(packets)
    assert [(x, y, t + origin, p) for x, y, t, p in found] == as_tuples(events)
    rising = (data.edges.kind == TriggerKind.RISING_EDGE).tolist()
    expected = zip(data.edges.t.tolist(), rising, data.edges.channel.tolist(), strict=True)
    assert [(t + origin, *more) for t, *more in triggers] == list(expected)
    for number, packet in enumerate(packets):
        assert (packet.width, packet.height) == events.resolution
        assert (packet.encoding, packet.is_bigendian) == ("evt3", False)
        assert (packet.seq, packet.time_base) == (number, origin * NS)
        assert packet.header.frame_id == "event_camera"
    assert [stamp(sample) for sample in samples] == (data.samples.t * NS).tolist()
    gyro = [(s.angular_velocity.x, s.angular_velocity.y, s.angular_velocity.z) for s in samples]
    np.testing.assert_array_equal(gyro, data.samples.gyro_rad_s)
    accel = [s.linear_acceleration for s in samples]
    np.testing.assert_array_equal([(a.x, a.y, a.z) for a in accel], data.samples.accel_m_s2)
    assert all(sample.orientation_covariance[0] == -1 for sample in samples)
    assert [image.encoding for image in images] == ["mono8", "bgr8", "mono16"]
    for image, frame in zip(images, data.images, strict=True):
        assert image.data.tobytes() == frame.image.tobytes()
        assert image.step * image.height == frame.image.nbytes
        assert stamp(image) == frame.t * NS


@pytest.mark.parametrize("kind", ["mcap", "db3", "bag"])
def test_each_message_has_the_events_from_its_stamp_on(tmp_path, make_events, kind):
    events, data = make_events(4000, t_start=2_000_000), some_data(2_000_000)
    messages = oracle_messages(written(tmp_path, kind, events, sensor_data_from=data))
    packets = [message for topic, _, message in messages if topic == container.EVENT_TOPIC.name]
    assert len(packets) > 3
    for packet in packets:
        found, triggers = decoded([packet])  # on its own
        times = [t for _, _, t, _ in found] + [t for t, *_ in triggers]
        assert min(times) == stamp(packet) // NS
        slots = {t // sink.SLOT_US for _, _, t, _ in found}
        assert len(slots) == 1


@pytest.mark.parametrize("kind", ["mcap", "db3", "bag"])
def test_messages_are_in_the_order_of_time(tmp_path, make_events, kind, monkeypatch):
    monkeypatch.setattr(container, "CHUNK_BYTES", 2000)
    path = written(tmp_path, kind, make_events(3000), sensor_data_from=some_data())
    times = [time for _, time, _ in oracle_messages(path)]
    assert times == sorted(times)
    assert len(times) > 50


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [0, 1])
def test_few_events_keep_the_sensor_size(tmp_path, make_events, kind, n):
    events = make_events(n, resolution=(640, 480))
    path = written(tmp_path, kind, events)
    with evcrisp.open(path) as opened:
        assert opened.read().equals(events)
        assert opened.resolution == (640, 480)
        assert opened.imu() is None
        assert len(opened.triggers()) == 0
    assert len(oracle_messages(path)) == 1


@pytest.mark.parametrize("kind", ["mcap", "bag"])
def test_triggers_without_events_are_kept(tmp_path, kind):
    data = some_data(EPOCH)
    path = written(tmp_path, kind, Events.empty((64, 48)), sensor_data_from=data)
    with evcrisp.open(path) as opened:
        assert len(opened.read()) == 0
        same_data(opened, data)


@pytest.mark.parametrize("kind", KINDS)
def test_bytes_do_not_depend_on_the_chunks(tmp_path, make_events, kind, monkeypatch):
    monkeypatch.setattr(container, "CHUNK_BYTES", 5000)
    monkeypatch.setattr(sink, "MAX_EVENTS", 300)
    events, data = make_events(5000), some_data()
    contents = []
    for n_parts in (1, 7, 600):
        bounds = np.linspace(0, len(events), n_parts + 1).astype(int)
        parts = [events[a:b] for a, b in pairwise(bounds)]
        path = written(tmp_path, kind, parts, sensor_data_from=data, overwrite=n_parts > 1)
        files = sorted(path.iterdir()) if path.is_dir() else [path]
        contents.append([(file.name, file.read_bytes()) for file in files])
    assert contents[0] == contents[1] == contents[2]
    assert evcrisp.read(path).equals(events)


def test_many_waiting_samples_do_not_nest(tmp_path, make_events):
    n = 20_000
    zeros = np.zeros((1, 3))
    late = GivenData(Imu(t=np.array([10**11]), gyro_rad_s=zeros, accel_m_s2=zeros))
    t = np.arange(n) * sink.SLOT_US
    events = Events(x=[1] * n, y=[1] * n, t=t, p=[1] * n, resolution=(64, 48))
    path = written(tmp_path, "mcap", events, sensor_data_from=late)
    with evcrisp.open(path) as opened:
        assert opened.read().equals(events)
        assert len(opened.imu()) == 1


def test_memory_is_bounded(tmp_path):
    def chunks():
        rng = np.random.default_rng(1)
        for k in range(40):
            n = 50_000
            t = k * 1_000_000 + np.sort(rng.integers(0, 1_000_000, n))
            x, y = rng.integers(0, 640, n), rng.integers(0, 480, n)
            yield Events(x=x, y=y, t=t, p=x % 2, resolution=(640, 480))

    written(tmp_path, "mcap", next(chunks()))  # compiles
    for kind in ("mcap", "bag", "db3"):
        tracemalloc.start()
        try:
            path = written(tmp_path, kind, chunks(), overwrite=True)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert path.stat().st_size > 12e6
        assert peak < 12e6


# ---------------------------------------------------------------- containers


def test_mcap_index_and_checksums_are_right(tmp_path, make_events, monkeypatch):
    reader = pytest.importorskip("mcap.reader", reason="mcap is the independent reader")
    streams = pytest.importorskip("mcap.stream_reader", reason="mcap is the independent reader")
    records = pytest.importorskip("mcap.records", reason="mcap is the independent reader")
    monkeypatch.setattr(container, "CHUNK_BYTES", 4000)
    for kind in ("mcap", "mcap lz4", "mcap zstd"):
        path = written(
            tmp_path, kind, make_events(3000), sensor_data_from=some_data(), overwrite=True
        )
        with path.open("rb") as file:
            all_records = list(streams.StreamReader(file, validate_crcs=True).records)
        with path.open("rb") as file:
            indexed = list(reader.make_reader(file, validate_crcs=True).iter_messages())
        with path.open("rb") as file:
            summary = reader.make_reader(file).get_summary()
        n_messages = sum(isinstance(record, records.Message) for record in all_records)
        assert len(indexed) == n_messages == summary.statistics.message_count > 50
        assert summary.statistics.chunk_count == len(summary.chunk_indexes) > 5
        counts = {
            channel.topic: summary.statistics.channel_message_counts[number]
            for number, channel in summary.channels.items()
        }
        assert counts[container.IMU_TOPIC.name] == 40
        times = [message.log_time for _, _, message in indexed]
        assert times == sorted(times)
        span = summary.statistics.message_start_time, summary.statistics.message_end_time
        assert span == (times[0], times[-1])
        assert {schema.encoding for schema in summary.schemas.values()} == {"ros2msg"}
        with path.open("rb") as file:
            samples = list(
                reader.make_reader(file).iter_messages(topics=[container.IMU_TOPIC.name])
            )
        expected = [m for _, channel, m in indexed if channel.topic == container.IMU_TOPIC.name]
        assert [message for *_, message in samples] == expected


def test_definitions_and_digests_are_those_of_ros(ros1, ros2):
    for kind in (definitions.EVENT_PACKET, definitions.IMU, definitions.IMAGE):
        text, md5 = ros1.store.generate_msgdef(kind.ros2_name)
        assert (kind.definition(is_ros2=False), kind.md5) == (text, md5)
        text, _ = ros2.store.generate_msgdef(kind.ros2_name, ros_version=2)
        assert kind.definition(is_ros2=True) == text
        assert kind.type_hash == ros2.store.hash_rihs01(kind.ros2_name)


def test_connections_of_ros1_have_their_digests(tmp_path, make_events):
    rosbag1 = pytest.importorskip("rosbags.rosbag1", reason="rosbags reads the bags")
    path = written(tmp_path, "bag", make_events(100), sensor_data_from=some_data())
    with rosbag1.Reader(path) as reader:
        found = {c.topic: (c.msgtype, c.digest, c.msgcount) for c in reader.connections}
        assert reader.message_count == sum(count for *_, count in found.values())
    assert found[container.IMU_TOPIC.name] == ("sensor_msgs/msg/Imu", definitions.IMU.md5, 40)


@pytest.mark.parametrize("kind", ["folder", "folder db3"])
def test_folder_is_described_by_its_metadata(tmp_path, make_events, kind):
    yaml = pytest.importorskip("ruamel.yaml", reason="ruamel.yaml reads the metadata")
    path = written(tmp_path, kind, make_events(3000, t_start=0), sensor_data_from=some_data())
    content = yaml.YAML(typ="safe").load(path / "metadata.yaml")["rosbag2_bagfile_information"]
    messages = oracle_messages(path)
    times = [time for _, time, _ in messages]
    suffix, storage = (".mcap", "mcap") if kind == "folder" else (".db3", "sqlite3")
    assert content["storage_identifier"] == storage
    assert content["relative_file_paths"] == [f"evcrisp_0{suffix}"]
    assert content["message_count"] == len(messages)
    assert content["starting_time"]["nanoseconds_since_epoch"] == times[0]
    assert content["duration"]["nanoseconds"] == times[-1] - times[0]
    counts = {
        topic["topic_metadata"]["name"]: topic["message_count"]
        for topic in content["topics_with_message_count"]
    }
    assert counts[container.IMU_TOPIC.name] == 40
    assert sum(counts.values()) == len(messages)
    assert {file.name for file in path.iterdir()} == {"metadata.yaml", f"evcrisp_0{suffix}"}


# ---------------------------------------------------------------- outputs


def test_own_folder_is_replaced_and_others_are_not(tmp_path, make_events):
    path = written(tmp_path, "folder", make_events(10))
    with pytest.raises(OutputError, match="exists already"):
        written(tmp_path, "folder", make_events(20))
    written(tmp_path, "folder db3", make_events(20), overwrite=True)
    assert len(evcrisp.read(path)) == 20
    assert not (path / "evcrisp_0.mcap").exists()
    (path / "evcrisp_0.db3").rename(path / "recorded_0.db3")
    with pytest.raises(OutputError, match="holds other files"):
        written(tmp_path, "folder", make_events(20), overwrite=True)
    assert (path / "recorded_0.db3").exists()


FULL_DISK = """
import resource, signal, sys
import numpy as np, evcrisp
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
n = 40_000
rng = np.random.default_rng(0)
events = evcrisp.Events(x=rng.integers(0, 346, n), y=rng.integers(0, 260, n),
    t=np.arange(n) * 7, p=rng.integers(0, 2, n), resolution=(346, 260))
try:
    evcrisp.write(sys.argv[1], events, format=sys.argv[2])
except evcrisp.OutputError as error:
    print(error)
"""


@pytest.mark.parametrize("name", ["a.db3", "a.mcap", "a.bag", "a"])
def test_full_disk_is_an_error_that_names_the_output(tmp_path, name):
    path = tmp_path / name
    command = [sys.executable, "-c", FULL_DISK, path, "ros1" if name == "a.bag" else "ros2"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr[-2000:]
    code = errno.EIO if name == "a.db3" else errno.EFBIG
    assert result.stdout.strip() == f"{path} could not be written: {os.strerror(code)}."
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["mcap", "db3", "bag", "folder"])
def test_failure_leaves_nothing(tmp_path, make_events, kind):
    def failing():
        yield make_events(1000)
        raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        written(tmp_path, kind, failing())
    assert not list(tmp_path.iterdir())


def test_impossible_times_and_sizes_are_refused(tmp_path):
    def at(t, size=(64, 48)):
        return Events(x=[1], y=[1], t=[t], p=[1], resolution=size)

    for kind, end in (("mcap", 2**31), ("bag", 2**32)):
        with pytest.raises(OutputError, match="no time before 0; the first event is at -5 us"):
            written(tmp_path, kind, at(-5))
        with pytest.raises(OutputError, match=f"no time from {end}000000 us on; an event is at"):
            written(tmp_path, kind, at(end * 1_000_000))
        with pytest.raises(OutputError, match="up to 2048x2048 px; got 4000x3000"):
            written(tmp_path, kind, at(0, (4000, 3000)))
        last = at(end * 1_000_000 - 1)
        assert evcrisp.read(written(tmp_path, kind, last)).equals(last)


def test_wrong_options_are_explained(tmp_path, make_events):
    with pytest.raises(ConfigError, match="with the storage mcap only"):
        written(tmp_path, "db3", make_events(3), compression="zstd")
    with pytest.raises(evcrisp.UnknownNameError, match="Unknown storage 'sqlite'"):
        written(tmp_path, "folder", make_events(3), storage="sqlite")
    with pytest.raises(evcrisp.UnknownNameError, match="Unknown compression 'zstd'"):
        written(tmp_path, "bag", make_events(3), compression="zstd")
    assert not list(tmp_path.iterdir())


def test_data_that_a_bag_cannot_hold_is_named(tmp_path, make_events, caplog):
    zeros, celsius = np.zeros((3, 3)), np.full(3, 20.0)
    t = np.array([-2, -1, 5])
    samples = Imu(t=t, gyro_rad_s=zeros, accel_m_s2=zeros, temperature_c=celsius)
    images = [
        Frame(t=-1, image=np.zeros((2, 2), np.uint8)),
        Frame(t=1, image=np.zeros((2, 2), np.float32)),
        Frame(t=2, image=np.zeros((2, 2, 4), np.uint8)),
        Frame(t=3, image=np.zeros((2, 2), np.uint8), exposure_start=1, exposure_end=3),
    ]
    caplog.set_level(logging.WARNING)
    data = GivenData(samples, None, tuple(images))
    with evcrisp.open(written(tmp_path, "mcap", make_events(9), sensor_data_from=data)) as opened:
        assert opened.imu().t.tolist() == [5]
        assert [frame.t for frame in opened.frames()] == [3]
    for text in (
        "has no time before 0; left out: 2 IMU samples",
        "no temperature and no magnetic field",
        "from time 0 on; left out: 3 other frames",
        "no exposure times and no positions",
    ):
        assert text in caplog.text


def test_base_of_other_writers_is_not_used(ros2, tmp_path):
    words = np.array([0x8000, 0x6000, 0x0001, 0x2001], "<u2")
    for time_base, stamp_us in ((5000, 5), (5000, 6)):
        message = ros2.event_packet(words.tobytes(), encoding="evt3", time_base=time_base)
        message[1].header = ros2.header(stamp_us)
        path = ros2.write(tmp_path / str(stamp_us), [("/event_camera/events", message)])
        assert evcrisp.read(path).t.tolist() == [5 if stamp_us == 5 else 0]


@pytest.mark.parametrize("kind", ["mcap", "db3", "bag"])
@pytest.mark.parametrize("shift", [False, True])
def test_relation_of_the_clocks_of_a_bag_is_kept(ros2, tmp_path, kind, shift, monkeypatch):
    """Events of drivers have the sensor's clock; stamps and IMU samples have ROS time."""
    monkeypatch.setattr(sink, "SLOT_US", 1000)
    messages = []
    for k, late_us in enumerate((4000, 300, 900)):
        words = np.array([0x8000 | 2 + k, 0x6000, 0x0001, 0x2001 + k], "<u2")
        packet = ros2.event_packet(words.tobytes(), encoding="evt3")
        packet[1].header = ros2.header(EPOCH + (2 + k) * 4096 + late_us)
        messages.append(("/event_camera/events", packet))
    messages.append(("/event_camera/imu", ros2.imu(EPOCH + 9000, (1, 2, 3), (4, 5, 6))))
    source = ros2.write(tmp_path / "source", messages)
    target = tmp_path / KINDS[kind][0]
    convert_recording(source, target, start_at_zero=shift)
    zero = 8192 if shift else 0
    with evcrisp.open(target) as opened:
        assert opened.read().t.tolist() == [8192 - zero, 12_288 - zero, 16_384 - zero]
        assert opened.metadata["stamp_offset_us"] == EPOCH + 300
        assert opened.imu().t.tolist() == [EPOCH + 9000 - zero]
    found = [(topic, time) for topic, time, _ in oracle_messages(target)]
    t_events = [EPOCH + 300 + t - zero for t in (8192, 12_288, 16_384)]
    expected = [(container.EVENT_TOPIC.name, t * NS) for t in t_events]
    expected.insert(1, (container.IMU_TOPIC.name, (EPOCH + 9000 - zero) * NS))
    assert found == expected


@pytest.mark.parametrize("command", ["convert", "filter"])
@pytest.mark.parametrize("name", ["a.mcap", "a.db3", "a.bag"])
def test_command_line_writes_bags(tmp_path, make_events, command, name):
    evcrisp.write(tmp_path / "a.npz", make_events(500))
    arguments = [sys.executable, "-m", "evcrisp", command, tmp_path / "a.npz", tmp_path / name]
    subprocess.run(arguments, check=True, capture_output=True)
    assert len(evcrisp.read(tmp_path / name)) > 0


def test_sensor_data_of_another_clock_gets_that_of_the_events_in_other_formats(ros2, tmp_path):
    words = np.array([0x8002, 0x6000, 0x0001, 0x2001], "<u2")
    packet = ros2.event_packet(words.tobytes(), encoding="evt3")
    packet[1].header = ros2.header(EPOCH + 2 * 4096 + 300)
    messages = [
        ("/event_camera/events", packet),
        ("/event_camera/imu", ros2.imu(EPOCH + 9000, (1, 2, 3), (4, 5, 6))),
    ]
    source = ros2.write(tmp_path / "source", messages)
    convert_recording(source, tmp_path / "a.aedat4")
    evcrisp.live(source, tmp_path / "live.aedat4", "raw", speed="max")
    for name in ("a.aedat4", "live.aedat4"):
        with evcrisp.open(tmp_path / name) as opened:
            assert opened.read().t.tolist() == [8192]
            assert opened.imu().t.tolist() == [9000 - 300]
