"""ROS 2 bags: folders, MCAP and SQLite files, and the encodings of event packets."""

import logging
import os
import shutil
import sqlite3
import struct
from itertools import pairwise

import numpy as np
import pytest
from tests.oracles.io import libcaer as oracle

import evcrisp
from evcrisp import Events, FormatError
from evcrisp.io import detect
from evcrisp.io.protocol import PACKET_EVENTS

TOPIC = "/event_camera/events"


def evt3(events):
    """Return events as EVT 3.0 words, four words each."""
    words = []
    for x, y, t, p in zip(events.x, events.y, events.t, events.p, strict=True):
        high, low = divmod(int(t) % (1 << 24), 4096)
        words += [0x8000 | high, 0x6000 | low, int(y), 0x2000 | int(p) << 11 | int(x)]
    return np.array(words, "<u2")


def packets(bags, events, n_messages=5):
    bounds = np.linspace(0, len(events), n_messages + 1).astype(int)
    parts = [evt3(events[a:b]).tobytes() for a, b in pairwise(bounds)]
    size = events.resolution
    return [(TOPIC, bags.event_packet(part, encoding="evt3", resolution=size)) for part in parts]


def only_file(folder):
    (file,) = (path for path in folder.iterdir() if path.name != "metadata.yaml")
    return file


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
@pytest.mark.parametrize("what", ["folder", "file", "folder without metadata"])
def test_evt3_packets_are_read(ros2, make_events, tmp_path, storage, what):
    events = make_events(500, resolution=(640, 480))
    folder = ros2.write(tmp_path / "a", packets(ros2, events), storage=storage)
    if what == "folder without metadata":
        (folder / "metadata.yaml").unlink()
    path = only_file(folder) if what == "file" else folder
    assert detect(path).name == "ros2"
    with evcrisp.open(path) as opened:
        assert opened.read().equals(events)
        assert opened.metadata["encoding"] == "evt3"
        assert opened.metadata["clock"] == "sensor"
        assert len(opened.triggers()) == 0


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
@pytest.mark.parametrize("packing", ["message", "storage"])
def test_zstd_compression_is_read(ros2, make_events, tmp_path, storage, packing):
    pytest.importorskip("zstandard", reason="zstandard unpacks zstd")
    if (storage, packing) == ("sqlite3", "storage"):
        pytest.skip("SQLite has no packing of its own")
    events = make_events(500)
    folder = ros2.write(tmp_path / "a", packets(ros2, events), storage=storage, packing=packing)
    assert evcrisp.read(folder).equals(events)


def test_compressed_bag_files_are_refused_with_advice(ros2, make_events, tmp_path):
    folder = ros2.write(
        tmp_path / "a", packets(ros2, make_events(50)), storage="sqlite3", packing="file"
    )
    with pytest.raises(FormatError, match="is a compressed file; unpack it with `zstd -d`"):
        evcrisp.open(folder)


@pytest.mark.parametrize("frame", ["", "a", "abc", "camera_link"])
@pytest.mark.parametrize("n", [0, 1, 2, 77])
def test_event_arrays_in_cdr_are_read(ros2, make_events, tmp_path, frame, n):
    events = make_events(n, t_start=1_500_000_000_123_456)
    messages = [("/dvs/events", ros2.event_array(events, frame=frame))]
    assert evcrisp.read(ros2.write(tmp_path / "a", messages)).equals(events)


def test_imu_and_frames_are_read(ros2, make_events, tmp_path):
    pixels = np.random.default_rng(2).integers(0, 256, (5, 9, 3)).astype(np.uint8)
    messages = packets(ros2, make_events(10), 1)
    messages += [("/event_camera/imu", ros2.imu(5, (1, 2, 3), (4, 5, 6)))]
    messages += [("/event_camera/image_raw", ros2.image(6, pixels, "bgr8"))]
    with evcrisp.open(ros2.write(tmp_path / "a", messages)) as opened:
        imu, (frame,) = opened.imu(), opened.frames()
    assert imu.gyro_rad_s.tolist() == [[1, 2, 3]]
    assert imu.accel_m_s2.tolist() == [[4, 5, 6]]
    assert imu.t.tolist() == [5]
    assert frame.t == 6
    np.testing.assert_array_equal(frame.image, pixels)


def test_libcaer_cmp_time_is_relative_to_the_message_base(ros2, tmp_path):
    rng = np.random.default_rng(4)
    messages, expected = [], []
    for number in range(3):
        kinds = rng.choice([2, 3, 4, 5], 300)
        words = (kinds << 12 | rng.integers(0, 4096, 300)).astype("<u2")
        words = np.concatenate([np.array([0x2005, 0x4800], "<u2"), words])
        words[100], words[200] = 0x1010, 0x0003  # times 16 and 3 * 4096 + 16
        base_us = 1_700_000_000_000_000 + number * 50_000
        expected += oracle.decode_libcaer(words.tolist(), base_us)
        messages.append((words.tobytes(), base_us * 1000 + 999))
    bag = [
        (TOPIC, ros2.event_packet(d, encoding="libcaer_cmp", time_base=b, resolution=(2048, 2304)))
        for d, b in messages
    ]
    events = evcrisp.read(ros2.write(tmp_path / "a", bag))
    columns = (column.tolist() for column in (events.x, events.y, events.t, events.p))
    assert list(zip(*columns, strict=True)) == expected


def test_libcaer_time_continues_after_a_wrap_within_a_message(ros2, tmp_path):
    t = np.array([2**31 - 3, 2**31 - 1, 2, 9])
    x, y, p = np.array([1, 2, 3, 4]), np.array([5, 6, 7, 8]), np.array([1, 0, 0, 1])
    words = np.zeros(8, "<u4")
    words[0::2] = x << 17 | y << 2 | p << 1 | 1
    words[1::2] = t
    message = ros2.event_packet(words.tobytes(), encoding="libcaer", time_base=10**18 + 18)
    events = evcrisp.read(ros2.write(tmp_path / "a", [(TOPIC, message)]))
    expected = 10**15 + np.array([2**31 - 3, 2**31 - 1, 2**31 + 2, 2**31 + 9])
    assert events.equals(Events(x=x, y=y, t=expected, p=p, resolution=(346, 260)))


@pytest.mark.parametrize("fall", [1, 2**30 - 1])
def test_libcaer_small_step_back_in_time_is_damage(ros2, tmp_path, fall):
    words = np.zeros(6, "<u4")
    words[1::2] = 2**30, 2**30 + 5, 2**30 + 5 - fall
    message = ros2.event_packet(words.tobytes(), encoding="libcaer")
    with pytest.raises(FormatError, match=f"time decreases from {2**30 + 5} to.*after 2 events"):
        evcrisp.read(ros2.write(tmp_path / "a", [(TOPIC, message)]))


def test_mono_of_the_older_message_name(ros2, tmp_path):
    x, y, p = np.array([1, 345]), np.array([2, 259]), np.array([0, 1])
    words = (p << 63).astype(np.uint64) | (y << 48 | x << 32 | np.array([0, 1001])).astype("<u8")
    message = ros2.event_packet(
        words.tobytes(), encoding="mono", time_base=5999, kind="event_array_msgs/msg/EventArray"
    )
    events = evcrisp.read(ros2.write(tmp_path / "a", [("/e", message)]))
    assert events.equals(Events(x=x, y=y, t=[5, 7], p=p, resolution=(346, 260)))


def test_big_endian_payload(ros2, make_events, tmp_path):
    events = make_events(20)
    data = evt3(events).astype(">u2").tobytes()
    message = ros2.event_packet(data, encoding="evt3", big_endian=True)
    assert evcrisp.read(ros2.write(tmp_path / "a", [(TOPIC, message)])).equals(events)


def test_triggers_among_the_events(ros2, tmp_path):
    words = np.array([0x8001, 0x6005, 0xA301, 0x6009, 0xA300], "<u2")
    message = ros2.event_packet(words.tobytes(), encoding="evt3")
    with evcrisp.open(ros2.write(tmp_path / "a", [(TOPIC, message)])) as opened:
        triggers = opened.triggers()
    assert triggers.t.tolist() == [4101, 4105]
    assert triggers.kind.tolist() == [1, 2]
    assert triggers.channel.tolist() == [3, 3]


def test_messages_beyond_the_size_of_packets_are_split(ros2, tmp_path):
    n = 2 * PACKET_EVENTS
    words = np.full(n // 8, 0x50FF, "<u2")  # eight events each
    words = np.concatenate([np.array([0x2001, 0x4000], "<u2"), np.tile(words[:30], 1)])
    many = np.tile(words, n // 8 // 30 + 1)
    message = ros2.event_packet(many.tobytes(), encoding="libcaer_cmp")
    with evcrisp.open(ros2.write(tmp_path / "a", [(TOPIC, message)])) as opened:
        sizes = [packet.t.size for packet in opened._source.packets()]
    assert sum(sizes) >= n
    assert max(sizes) <= 2 * PACKET_EVENTS


@pytest.mark.parametrize(
    ("encoding", "data", "message"),
    [
        ("evt4", bytes(8), "unknown encoding 'evt4' of events; known: evt3"),
        ("evt3", bytes(3), "the size of evt3 must be a multiple of 2; got 3 bytes"),
        ("libcaer", bytes(12), "the size of libcaer must be a multiple of 8; got 12 bytes"),
        ("mono", bytes(4), "the size of mono must be a multiple of 8; got 4 bytes"),
        ("libcaer_cmp", b"\x00\xf0", "unknown libcaer_cmp word 0xf000"),
    ],
)
def test_impossible_payloads_are_refused(ros2, tmp_path, encoding, data, message):
    bag = [(TOPIC, ros2.event_packet(data, encoding=encoding))]
    with pytest.raises(FormatError, match=message):
        evcrisp.read(ros2.write(tmp_path / "a", bag))


@pytest.mark.parametrize("encoding", ["libcaer", "mono", "libcaer_cmp"])
def test_impossible_time_base_is_refused(ros2, tmp_path, encoding):
    bag = [(TOPIC, ros2.event_packet(bytes(8), encoding=encoding, time_base=2**64 - 1))]
    with pytest.raises(FormatError, match="time base of a message is impossible"):
        evcrisp.read(ros2.write(tmp_path / "a", bag))


@pytest.mark.parametrize("head", [b"\x00\x07\x00\x00", b"\x01", b""])
def test_other_serializations_are_refused(ros2, tmp_path, head):
    bag = [(TOPIC, ("event_camera_msgs/msg/EventPacket", head + bytes(40 if head else 0)))]
    with pytest.raises(FormatError, match="not plain CDR"):
        evcrisp.read(ros2.write(tmp_path / "a", bag))


def test_big_endian_cdr(ros2, make_events, tmp_path):
    events = make_events(9)
    kind, message = ros2.event_array(events)
    body = bytes(ros2.store.serialize_cdr(message, kind, little_endian=False))
    assert body[1] == 0
    assert evcrisp.read(ros2.write(tmp_path / "a", [("/e", (kind, body))])).equals(events)


def split_bag(ros2, events, folder, storage):
    """Write a bag of three files; the last one has number 10."""
    folder.mkdir()
    names = []
    for number, part in zip((1, 2, 10), (events[:100], events[100:200], events[200:]), strict=True):
        piece = ros2.write(folder / f"piece{number}", packets(ros2, part), storage=storage)
        file = only_file(piece)
        names.append(f"a_{number}{file.suffix}")
        shutil.move(file, folder / names[-1])
        shutil.rmtree(piece)
    return names


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
@pytest.mark.parametrize("listed", [True, False])
def test_files_of_a_split_bag_are_read_in_order(ros2, make_events, tmp_path, storage, listed):
    events = make_events(300)
    folder = tmp_path / "a"
    names = split_bag(ros2, events, folder, storage)
    if listed:
        lines = ["rosbag2_bagfile_information:", "  relative_file_paths:"]
        lines += [f"    - a/{name}" for name in names] + ["  duration:"]
        (folder / "metadata.yaml").write_text("\n".join(lines))
    assert evcrisp.read(folder).equals(events)


def test_missing_file_of_a_split_bag_ends_the_events(ros2, make_events, tmp_path):
    events = make_events(300)
    folder = tmp_path / "a"
    names = split_bag(ros2, events, folder, "mcap")
    lines = ["  relative_file_paths:", *(f"  - '{name}'" for name in names)]
    (folder / "metadata.yaml").write_text("\n".join(lines))
    (folder / names[1]).unlink()
    with pytest.raises(FormatError, match="lists the file a_2.mcap, which is missing.*100 events"):
        evcrisp.read(folder)
    with evcrisp.open(folder, on_error="truncate") as opened:
        assert opened.read().equals(events[:100])


def test_other_folders_and_files_are_refused(tmp_path):
    (tmp_path / "b").mkdir()
    with pytest.raises(FormatError, match=r"no \.mcap or \.db3 file"):
        evcrisp.open(tmp_path / "b", format="ros2")
    (tmp_path / "b" / "a.db3").write_bytes(b"nonsense, of course")
    with pytest.raises(FormatError, match="neither MCAP nor SQLite"):
        evcrisp.open(tmp_path / "b")
    with sqlite3.connect(tmp_path / "c.db3") as database:
        database.execute("CREATE TABLE people (name TEXT)")
    database.close()
    with pytest.raises(FormatError, match="is not a ROS 2 bag"):
        evcrisp.open(tmp_path / "c.db3")


def test_views_in_place_of_tables_are_not_read(tmp_path):
    with sqlite3.connect(tmp_path / "a.db3") as database:
        database.execute("CREATE TABLE topics (id, name, type, serialization_format)")
        endless = (
            "WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id FROM n"
        )
        database.execute(f"CREATE VIEW messages AS {endless}")
    database.close()
    with pytest.raises(FormatError, match="has no topics or messages"):
        evcrisp.open(tmp_path / "a.db3")


@pytest.mark.parametrize("kind", ["VIRTUAL", "STORED"])
def test_generated_columns_are_not_read(tmp_path, kind):
    with sqlite3.connect(tmp_path / "a.db3") as database:
        database.execute("CREATE TABLE topics (id, name, type, serialization_format)")
        computed = f"data GENERATED ALWAYS AS (zeroblob(9)) {kind}"
        database.execute(f"CREATE TABLE messages (id, topic_id, timestamp, {computed})")
    database.close()
    with pytest.raises(FormatError, match="it computes messages.data"):
        evcrisp.open(tmp_path / "a.db3")


def test_reading_does_not_change_the_database(ros2, make_events, tmp_path):
    events = make_events(50)
    folder = ros2.write(tmp_path / "a", packets(ros2, events), storage="sqlite3")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    folder.chmod(0o555)
    try:
        assert evcrisp.read(folder).equals(events)
    finally:
        folder.chmod(0o755)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_database_of_more_than_2_gib_is_read(ros2, make_events, tmp_path):
    events = make_events(50)
    folder = ros2.write(tmp_path / "a", packets(ros2, events), storage="sqlite3")
    os.truncate(only_file(folder), (1 << 31) + (1 << 20))  # a sparse file
    assert evcrisp.read(folder).equals(events)


def test_messages_in_the_log_of_sqlite_are_read(ros2, make_events, tmp_path):
    events = make_events(50)
    folder = ros2.write(tmp_path / "a", packets(ros2, events), storage="sqlite3")
    recorder = sqlite3.connect(only_file(folder))
    recorder.execute("PRAGMA journal_mode = WAL")
    more = ros2.serialize(*ros2.event_packet(evt3(events[-1:]).tobytes(), encoding="evt3"))
    recorder.execute("INSERT INTO messages (topic_id, timestamp, data) VALUES (1, 1, ?)", (more,))
    recorder.commit()
    (folder / "metadata.yaml").unlink()
    assert len(evcrisp.read(only_file_of(folder))) == 51
    recorder.close()


def only_file_of(folder):
    (file,) = folder.glob("*.db3")
    return file


def test_cut_mcap_gives_the_chunks_before_the_cut(ros2, make_events, tmp_path):
    events = make_events(400)
    filler = ("/filler", ros2.image(1, np.zeros((600, 1000), np.uint8), "mono8"))
    messages = [m for packet in packets(ros2, events, 8) for m in (packet, filler)]
    file = only_file(ros2.write(tmp_path / "a", messages))
    whole = file.read_bytes()
    kept = set()
    for cut in np.linspace(100, len(whole) - 1, 25).astype(int):
        file.write_bytes(whole[:cut])
        with pytest.raises(FormatError, match="end|no topic of events"):
            evcrisp.read(file)
        try:
            with evcrisp.open(file, on_error="truncate") as opened:
                read = opened.read()
        except FormatError:
            continue
        assert read.equals(events[: len(read)])
        kept.add(len(read))
    assert len(kept) >= 7  # also the messages at the beginning of a chunk that was cut
    assert max(kept) == 400


def test_checksums_and_statistics_of_mcap_are_checked(make_events, tmp_path):
    writer_module = pytest.importorskip("mcap.writer", reason="mcap writes checksums")
    words = evt3(make_events(30)).tobytes()
    body = b"\0\1\0\0" + struct.pack("<iII", 0, 0, 1) + b"\0\0\0\0" + struct.pack("<II", 260, 346)
    body += bytes(-(len(body) - 4) % 8) + struct.pack("<QQI", 0, 0, 5) + b"evt3\0" + b"\0"
    body += bytes(-(len(body) - 4) % 4) + struct.pack("<I", len(words)) + words
    path = tmp_path / "a.mcap"
    with path.open("wb") as file:
        writer = writer_module.Writer(file, compression=writer_module.CompressionType.NONE)
        writer.start(profile="ros2")
        schema = writer.register_schema("event_camera_msgs/msg/EventPacket", "ros2msg", b"")
        channel = writer.register_channel(TOPIC, "cdr", schema)
        writer.add_message(channel, 1, body, 1)
        writer.finish()
    assert len(evcrisp.read(path)) == 30
    data = bytearray(path.read_bytes())
    data[data.index(words) + 6] ^= 1
    path.write_bytes(data)
    with pytest.raises(FormatError, match="checksum of a chunk is wrong"):
        evcrisp.read(path)


def test_ros1_messages_in_an_mcap_are_read(ros1, make_events, tmp_path):
    writer_module = pytest.importorskip("mcap.writer", reason="mcap writes any serialization")
    events = make_events(40)
    body = ros1.serialize(*ros1.event_array(events))
    path = tmp_path / "a.mcap"
    for wire, error in (("ros1", None), ("json", "serialized as 'json'; expected cdr")):
        with path.open("wb") as file:
            writer = writer_module.Writer(file)
            writer.start()
            schema = writer.register_schema("dvs_msgs/EventArray", "ros1msg", b"")
            writer.add_message(writer.register_channel("/e", wire, schema), 1, body, 1)
            writer.finish()
        if error is None:
            assert evcrisp.read(path).equals(events)
        else:
            with pytest.raises(FormatError, match=error):
                evcrisp.read(path)


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_damaged_files_give_events_or_a_format_error(ros2, make_events, tmp_path, storage, caplog):
    caplog.set_level(logging.CRITICAL)
    file = only_file(ros2.write(tmp_path / "a", packets(ros2, make_events(200)), storage=storage))
    whole = file.read_bytes()
    rng = np.random.default_rng(8)
    n_refused = 0
    for number in range(120):
        data = bytearray(whole)
        if number % 4 == 0:
            data = data[: int(rng.integers(16, len(whole)))]
        else:
            data[int(rng.integers(16, len(whole)))] ^= int(rng.integers(1, 256))
        file.write_bytes(data)
        for on_error in ("raise", "truncate"):
            try:
                with evcrisp.open(file, on_error=on_error, resolution=(2048, 2048)) as opened:
                    opened.read(), opened.triggers()
            except FormatError:
                n_refused += 1
    assert 0 < n_refused < 240


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_messages_agree_with_rosbags(ros2, make_events, tmp_path, storage):
    rosbag2 = pytest.importorskip("rosbags.rosbag2", reason="rosbags is the independent reader")
    from evcrisp.io.ros.readers import RosBag2

    folder = ros2.write(tmp_path / "a", packets(ros2, make_events(300), 20), storage=storage)
    with rosbag2.Reader(folder) as reader:
        theirs = [bytes(raw) for _, _, raw in reader.messages()]
    assert [bytes(message.data) for message in RosBag2(folder).messages(TOPIC)] == theirs


def test_one_bit_of_the_summary_of_mcap_hides_no_events(ros2, make_events, tmp_path, caplog):
    caplog.set_level(logging.CRITICAL)
    events = make_events(60)
    path = only_file(ros2.write(tmp_path / "bag", packets(ros2, events, 2), storage="mcap"))
    whole = path.read_bytes()
    (summary,) = struct.unpack_from("<Q", whole, len(whole) - 28)
    n_damaged = 0
    for at in range(summary, len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1 :])
        with evcrisp.open(path, on_error="truncate", format="ros2") as opened:
            assert opened.read().equals(events), at
            n_damaged += opened.damage is not None
    assert n_damaged > 50
