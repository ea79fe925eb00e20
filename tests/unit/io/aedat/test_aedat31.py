"""AEDAT 3.1: files built from the published layout."""

import math
import struct

import numpy as np
import pytest

import evcrisp
from evcrisp import FormatError
from evcrisp.core.sensor_data import TriggerKind

SPECIAL, POLARITY, FRAME, IMU6, IMU9 = 0, 1, 2, 3, 4


def header(device="DAVIS240C", coding="RAW"):
    lines = [
        "#!AER-DAT3.1",
        f"#Format: {coding}",
        f"#Source 1: {device}",
        "#-Source 0: DVS128",
        "#Start-Time: 2016-05-01 12:00:00 (TZ+0200)",
        "#!END-HEADER",
    ]
    return "".join(line + "\r\n" for line in lines).encode()


def packet(kind, events, *, source=1, overflow=0, t_offset=4, n_valid=None, size=None, n=None):
    size = len(events[0]) if size is None else size
    n = len(events) if n is None else n
    n_valid = sum(event[0] & 1 for event in events) if n_valid is None else n_valid
    head = struct.pack("<hhiiiiii", kind, source, size, t_offset, overflow, n, n, n_valid)
    return head + b"".join(events)


def polarity(t, x, y, p, valid=1):
    return struct.pack("<Ii", x << 17 | y << 2 | p << 1 | valid, t)


def special(t, code, valid=1):
    return struct.pack("<Ii", code << 1 | valid, t)


def imu6(t, accel, gyro, temperature, extra=()):
    return struct.pack(f"<Ii{7 + len(extra)}f", 1, t, *accel, *gyro, temperature, *extra)


def frame(times, size, position, pixels, channels=1):
    return struct.pack("<I8i", channels << 1 | 1, *times, *size, *position) + pixels


def read(tmp_path, content, **options):
    (tmp_path / "a.aedat").write_bytes(content)
    return evcrisp.read(tmp_path / "a.aedat", **options)


def test_polarity_packets_become_events(tmp_path):
    rows = [(10, 0, 0, 1), (11, 239, 179, 0), (12, 5, 100, 1)]
    content = header() + packet(POLARITY, [polarity(*row) for row in rows])
    events = read(tmp_path, content)
    assert events.resolution == (240, 180)
    assert list(zip(events.t, events.x, events.y, events.p, strict=True)) == rows
    with evcrisp.open(tmp_path / "a.aedat") as opened:
        assert opened.format == "aedat31"
        assert opened.metadata["device"] == "DAVIS240C"
        assert opened.metadata["date"] == "2016-05-01 12:00:00 (TZ+0200)"
        assert opened.imu() is None
        assert opened.triggers() is None


@pytest.mark.parametrize(
    ("device", "size"),
    [
        ("DVS128", (128, 128)),
        ("DAVIS346B", (346, 260)),
        ("DAVIS640", (640, 480)),
        ("Processor", (128, 128)),  # guessed from the event
    ],
)
def test_device_name_determines_the_sensor_size(tmp_path, device, size):
    events = read(tmp_path, header(device) + packet(POLARITY, [polarity(1, 120, 127, 1)]))
    assert events.resolution == size


def test_events_that_are_marked_invalid_are_left_out(tmp_path):
    rows = [polarity(1, 1, 1, 1), polarity(2, 2, 2, 1, valid=0), polarity(3, 3, 3, 1)]
    assert read(tmp_path, header() + packet(POLARITY, rows)).t.tolist() == [1, 3]


def test_overflow_counter_extends_time_by_31_bits(tmp_path):
    content = header() + packet(POLARITY, [polarity(2**31 - 1, 1, 1, 1)])
    content += packet(POLARITY, [polarity(0, 1, 1, 1)], overflow=1)
    content += packet(POLARITY, [polarity(7, 1, 1, 1)], overflow=2**20)
    assert read(tmp_path, content).t.tolist() == [2**31 - 1, 2**31, 2**51 + 7]


def test_imu_samples_of_both_kinds_are_read(tmp_path):
    content = header() + packet(IMU6, [imu6(5, (1, 0, -1), (180, 0, -90), 30.5)])
    content += packet(POLARITY, [polarity(6, 1, 1, 1)])
    content += packet(IMU9, [imu6(7, (0, 1, 0), (0, 0, 0), 31.5, extra=(1, 2, 3))])
    (tmp_path / "a.aedat").write_bytes(content)
    with evcrisp.open(tmp_path / "a.aedat") as opened:
        imu = opened.imu()
        assert len(opened.read()) == 1
    assert imu.t.tolist() == [5, 7]
    np.testing.assert_allclose(imu.accel_m_s2, np.array([[1, 0, -1], [0, 1, 0]]) * 9.80665)
    np.testing.assert_allclose(imu.gyro_rad_s[0], [math.pi, 0, -math.pi / 2])
    assert imu.temperature_c.tolist() == [30.5, 31.5]


def test_special_events_become_triggers(tmp_path):
    codes = [0, 1, 2, 3, 4, 5, 7, 14, 17, 99]
    content = header() + packet(SPECIAL, [special(t, code) for t, code in enumerate(codes)])
    (tmp_path / "a.aedat").write_bytes(content)
    with evcrisp.open(tmp_path / "a.aedat") as opened:
        triggers = opened.triggers()
    assert triggers.t.tolist() == [1, 2, 3, 4, 6, 7, 8]
    assert triggers.kind.tolist() == [
        TriggerKind.TIMESTAMP_RESET,
        TriggerKind.RISING_EDGE,
        TriggerKind.FALLING_EDGE,
        TriggerKind.PULSE,
        TriggerKind.FALLING_EDGE,
        TriggerKind.FRAME_START,
        TriggerKind.EXPOSURE_END,
    ]
    assert triggers.channel.tolist() == [0, 0, 0, 0, 1, 0, 0]


def test_frames_are_read_with_their_times_and_place(tmp_path):
    gray = np.arange(6, dtype="<u2").reshape(2, 3)
    color = np.arange(12, dtype="<u2").reshape(2, 2, 3)
    padded = gray.tobytes() + bytes(12)  # all frames of a packet have the size of the largest
    frames = [
        frame((1, 40, 10, 31), (3, 2), (7, 8), padded),
        frame((50, 90, 60, 80), (2, 2), (0, 0), color.tobytes(), channels=3),
    ]
    (tmp_path / "a.aedat").write_bytes(header() + packet(FRAME, frames, t_offset=8, overflow=1))
    with evcrisp.open(tmp_path / "a.aedat") as opened:
        first, second = opened.frames()
    np.testing.assert_array_equal(first.image, gray)
    assert (first.t, first.exposure_start, first.exposure_end) == (
        2**31 + 20,
        2**31 + 10,
        2**31 + 31,
    )
    assert first.position == (7, 8)
    np.testing.assert_array_equal(second.image, color[:, :, ::-1])


def test_frame_that_does_not_fit_its_packet_is_refused(tmp_path):
    bad = frame((1, 4, 2, 3), (3000, 2), (0, 0), bytes(12))
    (tmp_path / "a.aedat").write_bytes(header() + packet(FRAME, [bad], t_offset=8))
    message = "a frame of 3000x2 px with 1 channels does not fit"
    with evcrisp.open(tmp_path / "a.aedat") as opened, pytest.raises(FormatError, match=message):
        list(opened.frames())


def test_first_of_several_sources_is_read_with_a_warning(tmp_path, caplog):
    content = header() + packet(POLARITY, [polarity(5, 1, 1, 1)], source=1)
    content += packet(POLARITY, [polarity(1, 2, 2, 1)], source=2) * 2
    content += packet(POLARITY, [polarity(6, 3, 3, 1)], source=1)
    assert read(tmp_path, content).t.tolist() == [5, 6]
    assert caplog.text.count("several sources; reading 1 only") == 1


def test_packets_of_unknown_kinds_are_skipped(tmp_path):
    content = header() + packet(77, [bytes(20)], t_offset=4)
    assert len(read(tmp_path, content + packet(POLARITY, [polarity(1, 1, 1, 1)]))) == 1


def test_large_packets_come_in_bounded_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr("evcrisp.io.aedat.aedat31.PACKET_EVENTS", 10)
    content = header() + packet(POLARITY, [polarity(t, 1, 1, 1) for t in range(35)])
    (tmp_path / "a.aedat").write_bytes(content)
    source = evcrisp.io.READERS["aedat31"].open(tmp_path / "a.aedat")
    assert [p.t.size for p in source.packets()] == [10, 10, 10, 5]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"size": -8}, "the header of a packet is impossible"),
        ({"size": 0}, "the header of a packet is impossible"),
        ({"size": 12}, "events of kind 1 have the wrong size of 12 bytes"),
        ({"n": -1}, "the header of a packet is impossible"),
        ({"n_valid": 5}, "the header of a packet is impossible"),
        ({"overflow": -1}, "the header of a packet is impossible"),
        ({"t_offset": 7}, "events of kind 1 have the wrong size of 8 bytes"),
        ({"n": 2**31 - 1}, "the file ends within a packet"),
    ],
)
def test_damaged_packet_header_is_an_error_after_the_packets_before(tmp_path, fields, message):
    content = header() + packet(POLARITY, [polarity(1, 1, 1, 1)])
    with pytest.raises(FormatError, match=f"{message}.*after (1 event|2 events)"):
        read(tmp_path, content + packet(POLARITY, [polarity(2, 1, 1, 1)], **fields))


def test_huge_event_size_takes_no_memory(tmp_path):
    content = header() + packet(FRAME, [bytes(40)], size=2**31 - 1)
    (tmp_path / "a.aedat").write_bytes(content)
    message = "the wrong size of 2,147,483,647 bytes"
    with evcrisp.open(tmp_path / "a.aedat") as opened, pytest.raises(FormatError, match=message):
        list(opened.frames())


def test_file_cut_at_any_byte_gives_a_prefix_or_an_error(tmp_path):
    content = header() + packet(IMU6, [imu6(0, (0, 0, 1), (0, 0, 0), 20)])
    for first in (0, 4, 8):
        content += packet(POLARITY, [polarity(first + k, k, k, 1) for k in range(4)])
    n_header = len(header())
    for n in range(n_header, len(content)):
        kept = read(tmp_path, content[:n], on_error="truncate")
        assert kept.t.tolist() == list(range(len(kept)))
        n_whole = sum(n >= n_header + 64 + 60 * (k // 4) + 28 + 8 * (k % 4 + 1) for k in range(12))
        assert len(kept) == n_whole


def test_flipped_bits_give_events_or_a_format_error(tmp_path):
    content = header() + packet(POLARITY, [polarity(k, k, k, 1) for k in range(20)])
    content += packet(SPECIAL, [special(3, 2)]) + packet(IMU6, [imu6(0, (0, 0, 1), (0, 0, 0), 20)])
    rng = np.random.default_rng(0)
    path = tmp_path / "a.aedat"
    for _ in range(300):
        damaged = bytearray(content)
        damaged[rng.integers(len(damaged))] ^= 1 << rng.integers(8)
        path.write_bytes(damaged)
        try:
            with evcrisp.open(path, format="aedat31", on_error="truncate") as opened:
                opened.read(), opened.imu(), opened.triggers(), list(opened.frames())
        except FormatError as error:
            message = str(error)  # only what keeps it from being opened may pass
        else:
            message = "a.aedat"
        assert "a.aedat" in message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (header(coding="Serial-TS"), "the format 'Serial-TS' is not read; expected RAW"),
        (b"#!AER-DAT3.1\r\n#Format: RAW\r\n", "the header has no line '#!END-HEADER'"),
        (b"#!AER-DAT3.1\r\n" + bytes(100), "the header has no line '#!END-HEADER'"),
        (b"#!AER-DAT3.0\r\n", "the file must start with '#!AER-DAT3.1'"),
    ],
)
def test_unreadable_headers_are_refused(tmp_path, content, message):
    (tmp_path / "a.aedat").write_bytes(content)
    with pytest.raises(FormatError, match=message):
        evcrisp.read(tmp_path / "a.aedat", format="aedat31")


def test_file_without_packets_has_no_events(tmp_path):
    assert len(read(tmp_path, header())) == 0


def test_header_of_a_million_lines_is_refused_quickly(tmp_path):
    path = tmp_path / "a.aedat"
    path.write_bytes(b"#!AER-DAT3.1\r\n" + b"#\n" * (1 << 20))
    with pytest.raises(FormatError, match="the header has no line '#!END-HEADER'") as caught:
        evcrisp.read(path)
    assert caught.value.offset <= (1 << 20) + 2


def test_part_is_found_by_the_first_events_of_packets(tmp_path, monkeypatch):
    content, wrong = header(), packet(POLARITY, [polarity(5_000, 1, 1, 1)], overflow=-1)
    for t in range(0, 100_000, 1000):
        content += packet(POLARITY, [polarity(t + dt, 1, 2, 1) for dt in range(0, 1000, 100)])
        content += packet(IMU6, [imu6(t, (0, 0, 1), (0, 0, 0), 20)])
        content += packet(SPECIAL, [special(t + 1, 2)])
    cut = {"start_us": 90_050, "duration_us": 2_000}
    events = read(tmp_path, content + wrong, **cut)  # the damage is after the end
    assert events.t.tolist() == list(range(90_100, 92_050, 100))
    with evcrisp.open(tmp_path / "a.aedat", **cut) as opened:
        assert opened.imu().t.tolist() == [91_000, 92_000]
        assert opened.triggers().t.tolist() == [91_001, 92_001]
    split = []
    real = evcrisp.io.aedat.aedat31._split
    monkeypatch.setattr(
        "evcrisp.io.aedat.aedat31._split", lambda *args: split.append(1) or real(*args)
    )
    evcrisp.read(tmp_path / "a.aedat", **cut)
    # One for the first event of all, then those of the span and the one after it.
    assert len(split) <= 5


def test_part_starts_right_although_an_event_has_a_wrong_time(tmp_path):
    packets = [
        packet(
            POLARITY, [polarity(0 if t == 30 else t, 1, 1, 1, valid=t != 30), polarity(t, 1, 1, 1)]
        )
        for t in (10, 20, 30, 40)
    ]
    events = read(tmp_path, header() + b"".join(packets), start_us=15)
    assert events.t.tolist() == [30, 40, 40]


def two_devices():
    """Return a file of two declared devices, with events and IMU samples of both."""
    declared = header().replace(
        b"#Source 1: DAVIS240C\r\n", b"#Source 1: DAVIS240C\r\n#Source 2: DVS128\r\n"
    )
    content = declared + packet(POLARITY, [polarity(1, 2, 2, 1)], source=2)
    content += packet(POLARITY, [polarity(5, 200, 1, 1)], source=1)
    content += packet(IMU6, [imu6(6, (0, 0, 1), (0, 0, 0), 20)], source=1)
    content += packet(POLARITY, [polarity(7, 3, 3, 1)], source=2)
    return content + packet(POLARITY, [polarity(8, 201, 3, 1)], source=1)


@pytest.mark.parametrize(
    ("stream", "t", "size"),
    [("1", [5, 8], (240, 180)), (2, [1, 7], (128, 128)), ("DVS128", [1, 7], (128, 128))],
)
def test_one_of_two_declared_devices_is_chosen(tmp_path, caplog, stream, t, size):
    events = read(tmp_path, two_devices(), stream=stream)
    assert (events.t.tolist(), events.resolution) == (t, size)
    assert not caplog.records
    with evcrisp.open(tmp_path / "a.aedat", stream=stream) as opened:
        assert (opened.imu() is None) == (t == [1, 7])


def test_first_declared_device_is_the_default(tmp_path, caplog):
    assert read(tmp_path, two_devices()).t.tolist() == [5, 8]
    assert "2 streams of events (1 (DAVIS240C), 2 (DVS128)); reading 1." in caplog.text
    assert read(tmp_path, two_devices(), stream="2", start_us=3).t.tolist() == [7]
