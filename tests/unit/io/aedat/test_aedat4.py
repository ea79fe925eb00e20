"""AEDAT4: round trips, layouts, streams and options."""

import logging
import struct
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import evcrisp
from evcrisp import Events
from evcrisp.core.sensor_data import Frame, Imu, TriggerKind, Triggers
from evcrisp.io.aedat import aedat4_writer
from evcrisp.io.aedat.aedat4_writer import build_header, build_xml
from evcrisp.io.protocol import finishing

EVENT_STREAM = ((0, "EVTS", "events"),)
COMPRESSIONS = ("lz4", "zstd", "none")


def records(events):
    data = np.zeros(
        len(events),
        np.dtype(
            {
                "names": list("txyp"),
                "formats": ["<i8", "<u2", "<u2", "u1"],
                "offsets": [0, 8, 10, 12],
                "itemsize": 16,
            }
        ),
    )
    for name in "txyp":
        data[name] = getattr(events, name)
    return data.tobytes()


def event_packet(events, padding=0):
    """Return a packet of events whose records start ``padding`` bytes later than DV's."""
    body = records(events)
    head = struct.pack("<I4s2x3Hi", 16, b"EVTS", 6, 8, 4, 6) + struct.pack("<I", 4 + padding)
    head += bytes(padding) + struct.pack("<I", len(events))
    return struct.pack("<I", len(head) + len(body)) + head + body


def write_raw(path, packets, streams=EVENT_STREAM, resolution=(346, 260), camera="cam"):
    """Write an uncompressed file without data table from (stream, content) pairs."""
    xml = build_xml(streams, resolution, camera=camera, compression="NONE")
    parts = [struct.pack("<ii", stream, len(data)) + data for stream, data in packets]
    path.write_bytes(build_header(0, xml, -1) + b"".join(parts))


def an_imu(n=2500, seed=3):
    rng = np.random.default_rng(seed)
    return Imu(
        t=np.arange(n) * 1000,
        gyro_rad_s=rng.normal(size=(n, 3)),
        accel_m_s2=rng.normal(size=(n, 3)),
        temperature_c=rng.normal(20, 1, n),
        magnetic_ut=rng.normal(size=(n, 3)),
    )


def write_with_sensor_data(path, events, *, imu=None, triggers=None, frames=(), **options):
    writer = aedat4_writer.Aedat4Writer(**options)
    with finishing(writer.open(path, events.resolution)) as sink:
        sink.write(events)
        if imu is not None:
            sink.write_imu(imu)
        if triggers is not None:
            sink.write_triggers(triggers)
        sink.write_frames(iter(frames))


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("n", [0, 1, 16_383, 16_384, 16_385, 100_000])
def test_round_trip_keeps_the_events(compression, n, make_events, tmp_path):
    events = make_events(n)
    evcrisp.write(tmp_path / "a.aedat4", events, compression=compression)
    with evcrisp.open(tmp_path / "a.aedat4") as opened:
        assert opened.format == "aedat4"
        assert opened.read().equals(events)
        assert opened.read().equals(events)
        assert sum(len(chunk) for chunk in opened.chunks()) == n
        assert opened._source.n_events == n
        assert opened.imu() is None
        assert opened.triggers() is None
        assert list(opened.frames()) == []


def test_large_files_read_in_threads_give_the_same_events(make_events, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "evcrisp.io.aedat.aedat4.os.sched_getaffinity", lambda _: set(range(5)), raising=False
    )
    monkeypatch.setattr("evcrisp.io.aedat.aedat4.os.cpu_count", lambda: 5)
    events = make_events(600_000, duration_us=10_000)
    evcrisp.write(tmp_path / "a.aedat4", events)
    assert evcrisp.read(tmp_path / "a.aedat4").equals(events)


def test_bytes_do_not_depend_on_the_chunks(make_events, tmp_path):
    events = make_events(20_000)
    evcrisp.write(tmp_path / "whole.aedat4", events)
    parts = (events[:3], events[3:3], events[3:9000], events[9000:])
    evcrisp.write(tmp_path / "parts.aedat4", parts)
    assert (tmp_path / "whole.aedat4").read_bytes() == (tmp_path / "parts.aedat4").read_bytes()


def test_round_trip_keeps_extreme_values(tmp_path):
    big = 2**62
    events = Events(
        x=[0, 32767, 5],
        y=[32767, 0, 5],
        t=[-big, 0, big - 1],
        p=[1, 0, 1],
        resolution=(32768, 32768),
    )
    evcrisp.write(tmp_path / "a.aedat4", events)
    assert evcrisp.read(tmp_path / "a.aedat4").equals(events)


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_round_trip_keeps_imu_triggers_and_frames(compression, make_events, tmp_path):
    rng = np.random.default_rng(5)
    imu = an_imu()
    kinds = np.arange(len(TriggerKind), dtype=np.uint8)
    triggers = Triggers(t=np.arange(10) * 7, kind=kinds, channel=np.zeros(10, np.uint8))
    images = [
        rng.integers(0, 256, shape).astype(dtype)
        for shape, dtype in (
            ((20, 30), np.uint8),
            ((20, 30, 3), np.uint8),
            ((20, 30, 4), np.uint8),
            ((3, 5), np.uint16),
            ((3, 5, 2), np.float32),
            ((1, 1), np.float64),
            ((0, 0), np.uint8),
        )
    ]
    frames = [
        Frame(t=100 + i, image=image, exposure_start=50, exposure_end=90 + i, position=(i, -2))
        for i, image in enumerate(images)
    ]
    frames.append(Frame(t=7, image=images[0]))
    path = tmp_path / "a.aedat4"
    events = make_events(100)
    write_with_sensor_data(
        path, events, imu=imu, triggers=triggers, frames=frames, compression=compression
    )
    with evcrisp.open(path) as opened:
        assert opened.read().equals(events)
        assert_imu_equal(opened.imu(), imu)
        back = opened.triggers()
        assert np.array_equal(back.t, triggers.t)
        assert np.array_equal(back.kind, triggers.kind)
        found = list(opened.frames())
    assert len(found) == len(frames)
    for mine, theirs in zip(found, frames, strict=True):
        assert mine.image.dtype == theirs.image.dtype
        assert np.array_equal(mine.image, theirs.image)
        assert (mine.t, mine.position) == (theirs.t, theirs.position)
        assert (mine.exposure_start, mine.exposure_end) == (
            theirs.exposure_start,
            theirs.exposure_end,
        )


def assert_imu_equal(mine, theirs):
    assert np.array_equal(mine.t, theirs.t)
    for name in ("gyro_rad_s", "accel_m_s2", "temperature_c", "magnetic_ut"):
        expected = getattr(theirs, name)
        if expected is None:
            assert getattr(mine, name) is None
        else:
            # The file has 32-bit floats.
            np.testing.assert_allclose(getattr(mine, name), expected, rtol=2e-7)


def test_missing_imu_quantities_stay_missing(make_events, tmp_path):
    full = an_imu(10)
    imu = Imu(t=full.t, gyro_rad_s=full.gyro_rad_s, accel_m_s2=full.accel_m_s2)
    write_with_sensor_data(tmp_path / "a.aedat4", make_events(5), imu=imu)
    with evcrisp.open(tmp_path / "a.aedat4") as opened:
        assert_imu_equal(opened.imu(), imu)


def test_copy_of_a_copy_has_the_same_bytes(make_events, tmp_path):
    frames = [Frame(t=5, image=np.zeros((4, 6), np.uint8), exposure_start=1, exposure_end=4)]
    write_with_sensor_data(tmp_path / "a.aedat4", make_events(9000), imu=an_imu(40), frames=frames)
    for source, target in (("a", "b"), ("b", "c")):
        with evcrisp.open(tmp_path / f"{source}.aedat4") as opened:
            evcrisp.write(tmp_path / f"{target}.aedat4", opened)
    assert (tmp_path / "b.aedat4").read_bytes() == (tmp_path / "c.aedat4").read_bytes()
    assert (tmp_path / "a.aedat4").read_bytes() == (tmp_path / "b.aedat4").read_bytes()


def test_metadata_names_camera_compression_and_streams(make_events, tmp_path):
    write_with_sensor_data(
        tmp_path / "a.aedat4", make_events(5), imu=an_imu(3), camera="DAVIS <&> é"
    )
    with evcrisp.open(tmp_path / "a.aedat4") as opened:
        facts = opened.metadata
        assert opened.resolution_source == "file"
    assert facts["source"] == "DAVIS <&> é"
    assert facts["compression"] == "LZ4"
    assert facts["data_table"] is True
    assert facts["event_streams"] == [0]
    assert [stream["type"] for stream in facts["streams"]] == ["EVTS", "IMUS"]


@pytest.mark.parametrize("padding", [0, 1, 4, 8, 12])
def test_other_layouts_of_a_packet_are_read_too(padding, make_events, tmp_path):
    events = make_events(50)
    packets = [(0, event_packet(events[:20], padding)), (0, event_packet(events[20:], padding))]
    write_raw(tmp_path / "a.aedat4", packets)
    assert evcrisp.read(tmp_path / "a.aedat4").equals(events)


def test_packet_larger_than_a_batch_is_split(make_events, tmp_path):
    events = make_events(200_000)
    write_raw(tmp_path / "a.aedat4", [(0, event_packet(events[:5])), (0, event_packet(events[5:]))])
    with evcrisp.open(tmp_path / "a.aedat4") as opened:
        sizes = [len(chunk) for chunk in opened.chunks()]
        assert max(sizes) <= 1 << 18
        assert opened.read().equals(events)


def test_first_of_several_event_streams_is_read(make_events, tmp_path, caplog):
    mine, other = make_events(30, seed=1), make_events(40, seed=2)
    streams = ((4, "EVTS", "events"), (0, "EVTS", "events"), (7, "BBOX", "boxes"))
    packets = [(0, event_packet(other)), (4, event_packet(mine)), (7, b"whatever")]
    write_raw(tmp_path / "a.aedat4", packets, streams)
    with caplog.at_level(logging.WARNING), evcrisp.open(tmp_path / "a.aedat4") as opened:
        assert opened.read().equals(mine)
        assert opened.metadata["event_streams"] == [4, 0]
        assert opened.metadata["event_stream_read"] == 4
    assert caplog.text.count("2 streams of events") == 1


@pytest.mark.parametrize(("stream", "expected"), [(0, 40), ("0", 40), (4, 30), ("4", 30)])
def test_stream_is_chosen_by_its_number(make_events, tmp_path, caplog, stream, expected):
    mine, other = make_events(30, seed=1), make_events(40, seed=2)
    streams = ((4, "EVTS", "events"), (0, "EVTS", "events"), (7, "IMUS", "imu"))
    write_raw(tmp_path / "a.aedat4", [(0, event_packet(other)), (4, event_packet(mine))], streams)
    with evcrisp.open(tmp_path / "a.aedat4", stream=stream) as opened:
        assert len(opened.read()) == expected
        assert opened.metadata["event_stream_read"] == int(stream)
        assert opened.stream == str(stream)
        assert [(s.name, s.kind) for s in opened.streams] == [
            ("4", "events"),
            ("0", "events"),
            ("imu", "imu"),
        ]
    assert not caplog.records
    with pytest.raises(evcrisp.UnknownNameError, match=r"'9'. Known: 4 \(cam\), 0 \(cam\)."):
        evcrisp.open(tmp_path / "a.aedat4", stream=9)


def test_stream_is_chosen_by_its_name_or_camera_with_its_sensor_data(make_events, tmp_path):
    left, right = make_events(30, seed=1), make_events(40, seed=2)
    streams = (
        (0, "EVTS", "events"), (1, "IMUS", "imu"), (2, "EVTS", "events2"), (3, "IMUS", "imu2"),
    )  # fmt: skip
    packets = [(0, event_packet(left)), (2, event_packet(right))]
    write_raw(tmp_path / "a.aedat4", packets, streams, camera="A")
    data = (tmp_path / "a.aedat4").read_bytes()
    source = b'<attr key="source" type="string">A<'
    assert data.count(source) == 4
    first, *rest = data.split(source)
    other = source.replace(b">A<", b">B<")
    (tmp_path / "a.aedat4").write_bytes(
        first + source + rest[0] + source + rest[1] + other + rest[2] + other + rest[3]
    )
    for name in ("events2", "B", "2"):
        with evcrisp.open(tmp_path / "a.aedat4", stream=name) as opened:
            assert opened.read().equals(right)
            assert opened.stream == "events2"
            assert opened.metadata["source"] == "B"
            assert opened._source.header.chosen("IMUS").id == 3
    assert evcrisp.read(tmp_path / "a.aedat4", stream="A").equals(left)


def test_table_tells_the_number_of_elements(make_events, tmp_path):
    write_with_sensor_data(tmp_path / "a.aedat4", make_events(20_000), imu=an_imu())
    with evcrisp.open(tmp_path / "a.aedat4") as opened:
        known = {stream.name: stream.n_elements for stream in opened.streams}
    assert known["events"] == 20_000
    assert known["imu"] == 2500


def test_part_has_the_sensor_data_of_its_time(make_events, tmp_path):
    events = make_events(50_000, t_start=0, duration_us=2_000_000)
    triggers = Triggers(
        t=np.arange(0, 2_000_000, 1000), kind=np.ones(2000, "u1"), channel=np.zeros(2000, "u1")
    )
    frames = [
        Frame(t=t, image=np.full((260, 346), t // 10_000, "u1"))
        for t in range(0, 2_000_000, 50_000)
    ]
    write_with_sensor_data(
        tmp_path / "a.aedat4", events, imu=an_imu(), triggers=triggers, frames=frames
    )
    t_first = int(events.t[0])
    start, end = t_first + 1_000_000, t_first + 1_100_000
    cut = {"start_us": 1_000_000, "duration_us": 100_000, "roi": (6, 10, 40, 30)}
    with (
        evcrisp.open(tmp_path / "a.aedat4") as whole,
        evcrisp.open(tmp_path / "a.aedat4", **cut) as part,
    ):
        for name in ("imu", "triggers"):
            all_of, some = getattr(whole, name)(), getattr(part, name)()
            inside = (all_of.t >= start) & (all_of.t < end)
            assert inside.sum() == 100
            assert np.array_equal(some.t, all_of.t[inside])
        assert np.array_equal(part.imu().magnetic_ut, whole.imu().magnetic_ut[part.imu().t // 1000])
        shown = [frame for frame in whole.frames() if start <= frame.t < end]
        cropped = list(part.frames())
        assert [frame.t for frame in cropped] == [frame.t for frame in shown] != []
        assert all(frame.image.shape == (30, 40) for frame in cropped)


def test_part_of_a_file_without_table_is_found_by_reading(make_events, tmp_path):
    events = make_events(5000)
    packets = [(0, event_packet(events[i : i + 100])) for i in range(0, 5000, 100)]
    write_raw(tmp_path / "a.aedat4", packets)
    t_first = int(events.t[0])
    part = evcrisp.read(tmp_path / "a.aedat4", start_us=50_000, duration_us=10_000)
    assert part.equals(events.between(t_first + 50_000, t_first + 60_000))


def test_damaged_packet_is_reported_only_in_parts_that_need_it(make_events, tmp_path):
    events = make_events(100_000)
    evcrisp.write(tmp_path / "a.aedat4", events, compression="none")
    data = bytearray((tmp_path / "a.aedat4").read_bytes())
    record = data.index(records(events[20_000:20_001]))
    data[record + 12] = 7  # polarity
    (tmp_path / "a.aedat4").write_bytes(data)
    t_first, t_bad = int(events.t[0]), int(events.t[20_000])
    with pytest.raises(evcrisp.FormatError):
        evcrisp.read(tmp_path / "a.aedat4")
    after = {"start_us": t_bad - t_first + 50_000}
    assert evcrisp.read(tmp_path / "a.aedat4", **after).equals(
        events.between(t_bad + 50_000, 2**62)
    )
    before = {"duration_us": 10_000}
    assert evcrisp.read(tmp_path / "a.aedat4", **before).equals(
        events.between(t_first, t_first + 10_000)
    )


def test_sensor_data_of_the_first_of_two_cameras_is_read(make_events, tmp_path):
    streams = ((0, "EVTS", "events"), (1, "EVTS", "events"), (2, "IMUS", "imu"))
    write_raw(tmp_path / "a.aedat4", [(0, event_packet(make_events(5)))], streams)
    with evcrisp.open(tmp_path / "a.aedat4") as opened:
        assert len(opened.imu()) == 0
    data = (tmp_path / "a.aedat4").read_bytes()
    last = data.rindex(b">cam<")
    (tmp_path / "a.aedat4").write_bytes(data[:last] + b">two<" + data[last + 5 :])
    with evcrisp.open(tmp_path / "a.aedat4") as opened:
        assert opened.imu() is None
        assert opened.triggers() is None


def test_file_that_was_moved_after_opening_is_still_read(make_events, tmp_path, monkeypatch):
    events = make_events(1000)
    monkeypatch.chdir(tmp_path)
    evcrisp.write("a.aedat4", events)
    with evcrisp.open("a.aedat4") as opened:
        (tmp_path / "a.aedat4").rename(tmp_path / "b.aedat4")
        assert opened.read().equals(events)


def test_file_without_events_still_has_a_size_and_frames(tmp_path, make_events):
    write_with_sensor_data(
        tmp_path / "a.aedat4", make_events(0), frames=[Frame(t=1, image=np.ones((2, 3), np.uint8))]
    )
    with evcrisp.open(tmp_path / "a.aedat4") as opened:
        assert len(opened.read()) == 0
        assert len(list(opened.frames())) == 1
    write_raw(tmp_path / "b.aedat4", [], ((0, "FRME", "frames"),))
    with evcrisp.open(tmp_path / "b.aedat4") as opened:
        assert opened.resolution == (346, 260)
        assert len(opened.read()) == 0


def test_two_iterations_over_one_file_can_alternate(make_events, tmp_path):
    events = make_events(150_000)
    frames = [Frame(t=i, image=np.full((9, 9), i, np.uint8)) for i in range(5)]
    write_with_sensor_data(tmp_path / "a.aedat4", events, frames=frames, imu=an_imu(2000))
    with evcrisp.open(tmp_path / "a.aedat4") as opened:
        pairs = list(zip(opened.chunks(10_000), opened.frames(), strict=False))
        assert len(opened.imu()) == 2000
    assert [int(frame.image[0, 0]) for _, frame in pairs] == list(range(5))
    assert Events.concatenate([chunk for chunk, _ in pairs]).equals(events[: 10_000 * 5])


def test_lost_trigger_channels_cause_a_warning(make_events, tmp_path, caplog):
    triggers = Triggers(t=np.arange(2), kind=np.ones(2, np.uint8), channel=np.ones(2, np.uint8))
    write_with_sensor_data(tmp_path / "a.aedat4", make_events(2), triggers=triggers)
    assert "no trigger channels" in caplog.text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"compression": "lz5"}, "Unknown compression 'lz5'. Did you mean 'lz4'"),
        ({"level": 17}, "`level` must be a whole number in 0..16; got 17"),
        ({"compression": "zstd", "level": 0}, "`level` must be a whole number in 1..22; got 0"),
        ({"compression": "none", "level": 1}, "`level` is not possible without compression"),
        ({"camera": "a\nb"}, "`camera` must have printable characters"),
    ],
)
def test_wrong_options_are_explained(options, message, make_events, tmp_path):
    with pytest.raises(evcrisp.EvError, match=message):
        evcrisp.write(tmp_path / "a.aedat4", make_events(2), **options)


def test_values_outside_the_format_are_refused(make_events, tmp_path):
    wide = Events(x=[40_000], y=[0], t=[0], p=[0], resolution=(50_000, 10))
    with pytest.raises(
        evcrisp.ConfigError, match="coordinates up to 32767; got a sensor of 50000x10"
    ):
        evcrisp.write(tmp_path / "a.aedat4", wide)
    for frame in (
        Frame(t=0, image=np.zeros((2, 2), np.int64)),
        Frame(t=0, image=np.zeros((2, 2, 5), np.uint8)),
        Frame(t=0, image=np.zeros(4, np.uint8)),
    ):
        with pytest.raises(evcrisp.ConfigError, match="A frame for AEDAT4 must have shape"):
            write_with_sensor_data(tmp_path / "a.aedat4", make_events(1), frames=[frame])
    far = Frame(t=0, image=np.zeros((2, 2), np.uint8), position=(40_000, 0))
    with pytest.raises(evcrisp.ConfigError, match="`position` must fit into 16 bits"):
        write_with_sensor_data(tmp_path / "a.aedat4", make_events(1), frames=[far])


def test_higher_levels_make_smaller_files(make_events, tmp_path):
    events = make_events(50_000)
    for level in (0, 9):
        evcrisp.write(tmp_path / f"{level}.aedat4", events, level=level)
        assert evcrisp.read(tmp_path / f"{level}.aedat4").equals(events)
    sizes = [(tmp_path / f"{level}.aedat4").stat().st_size for level in (0, 9)]
    assert sizes[1] < sizes[0]


def test_missing_zstandard_names_the_extra(make_events, tmp_path, monkeypatch):
    evcrisp.write(tmp_path / "a.aedat4", make_events(5), compression="zstd")
    monkeypatch.setitem(__import__("sys").modules, "zstandard", None)
    with pytest.raises(evcrisp.MissingExtraError, match=r"evcrisp\[zstd\]"):
        evcrisp.read(tmp_path / "a.aedat4")


def test_threads_read_one_recording_at_once(make_events, tmp_path):
    events = make_events(200_000)
    evcrisp.write(tmp_path / "a.aedat4", events)
    with evcrisp.open(tmp_path / "a.aedat4") as opened, ThreadPoolExecutor(4) as pool:
        passes = [pool.submit(lambda: list(opened.chunks(5_000))) for _ in range(8)]
        for done in passes:
            assert Events.concatenate(done.result()).equals(events)
