"""ECD text: exact time, notations of numbers, damage with line and byte."""

import gzip
import logging

import numpy as np
import pytest

import evcrisp
from evcrisp import Events, FormatError
from evcrisp.io import byte_blocks as _bytes
from evcrisp.io.text import ecd
from evcrisp.io.text import event_text as _text

SIZE = (240, 180)


def read_text(tmp_path, text, name="events.txt", **options):
    path = tmp_path / name
    path.write_bytes(text)
    return evcrisp.read(path, resolution=options.pop("resolution", SIZE), **options)


def test_lines_become_events_with_exact_time(tmp_path):
    events = read_text(tmp_path, b"2.097134001 162 27 0\n2.09714 77 45 1\n2.0971405 108 160 1\n")
    expected = Events(
        x=[162, 77, 108],
        y=[27, 45, 160],
        t=[2097134, 2097140, 2097141],
        p=[0, 1, 1],
        resolution=SIZE,
    )
    assert events.equals(expected)


@pytest.mark.parametrize(
    ("time", "microseconds"),
    [
        ("0.000001", 1),
        ("1.5e-05", 15),
        ("1.000000000000000000e+00", 1_000_000),
        ("1468939993.067416019", 1_468_939_993_067_416),
        ("9007199254.740993", 2**53 + 1),
        ("0.0000005", 1),
        ("0.00000049", 0),
    ],
)
def test_seconds_are_rounded_at_the_seventh_decimal(tmp_path, time, microseconds):
    events = read_text(tmp_path, f"{time} 1 2 1\n".encode())
    assert events.t.tolist() == [microseconds]
    assert ecd.microseconds(time) == microseconds


def test_comments_blank_lines_and_line_ends_are_handled(tmp_path):
    text = b"# t x y p\r\n\r\n0.5 1 2 1\r\n  \n% more\n0.6\t3  4 -1"
    events = read_text(tmp_path, text)
    assert events.t.tolist() == [500_000, 600_000]
    assert events.p.tolist() == [True, False]


def test_numbers_written_by_savetxt_are_read(tmp_path):
    rows = np.array([[0.25, 7, 9, 1], [0.5, 239, 179, 0]])
    np.savetxt(tmp_path / "events.txt", rows)
    events = evcrisp.read(tmp_path / "events.txt", resolution=SIZE)
    assert events.x.tolist() == [7, 239]
    assert events.t.tolist() == [250_000, 500_000]


def test_first_line_with_the_sensor_size_is_read(tmp_path):
    path = tmp_path / "events.txt"
    path.write_bytes(b"240 180\n0.5 1 2 1\n")
    with evcrisp.open(path) as opened:
        assert opened.resolution == (240, 180)
        assert opened.resolution_source == "file"
        assert len(opened.read()) == 1


def test_default_size_is_that_of_the_data_set(tmp_path, caplog):
    caplog.set_level(logging.WARNING)
    path = tmp_path / "events.txt"
    path.write_bytes(b"0.5 1 2 1\n")
    assert evcrisp.read(path).resolution == (240, 180)
    assert "does not state its sensor size" in caplog.text


def test_five_columns_are_refused_with_line_and_byte(tmp_path):
    text = b"# header\n24.000000 336.9168 31.9293 2.7 1\n"
    message = r"line 2 has 5 columns; expected 4 \(t x y p\); got '24.000000 336.*byte 9, after 0"
    with pytest.raises(FormatError, match=message):
        read_text(tmp_path, text)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"0.5 1.5 2 1", "x must be a whole number; got '0.5 1.5 2 1'"),
        (b"0.5 70000 2 1", r"x must be in 0..65535"),
        (b"0.5 1 -2 1", r"y must be in 0..65535"),
        (b"0.5 1 2 3", r"p must be 0/1 or -1/\+1"),
        (b"nan 1 2 1", "t must be a number"),
        (b"0.5x 1 2 1", "t must be a number"),
        (b"1e300 1 2 1", "t must be seconds within 64 bits"),
        (b"0.5 1 2", "line 3 has 3 columns"),
        (b"\x00\x01\xff\n\n", r"line 3 has 1 column.*got '\\x00\\x01\\xff'"),
    ],
)
def test_wrong_line_is_reported_after_the_events_before_it(tmp_path, line, message):
    text = b"0.1 1 2 1\n0.2 3 4 0\n" + line + b"\n0.9 1 2 1\n"
    with pytest.raises(FormatError, match=f"{message}.*byte 20, after 2 events") as caught:
        read_text(tmp_path, text)
    assert caught.value.offset == 20
    assert len(read_text(tmp_path, text, on_error="truncate")) == 2


def test_cut_last_line_is_an_error(tmp_path):
    text = b"0.1 1 2 1\n0.2 3 4"
    with pytest.raises(FormatError, match=r"line 2 is cut short by the end of the text: '0.2 3 4'"):
        read_text(tmp_path, text)
    assert len(read_text(tmp_path, text, on_error="truncate")) == 1


def test_whole_numbers_as_time_are_refused(tmp_path):
    with pytest.raises(FormatError, match="time must be in seconds.*read the file as format 'csv'"):
        read_text(tmp_path, b"1000 1 2 1\n2000 1 2 0\n", format="ecd")


def test_lines_across_two_blocks_are_complete(tmp_path, monkeypatch, make_events):
    events = make_events(500, resolution=SIZE)
    evcrisp.write(tmp_path / "a.txt", events)
    for block in (1, 7, 64):
        monkeypatch.setattr(_bytes, "BLOCK_BYTES", block)
        assert evcrisp.read(tmp_path / "a.txt", resolution=SIZE).equals(events)


def test_packets_are_bounded_with_correct_offsets(tmp_path, monkeypatch, make_events):
    monkeypatch.setattr(_text, "PACKET_EVENTS", 100)
    monkeypatch.setattr(_bytes, "BLOCK_BYTES", 1000)
    events = make_events(250, resolution=SIZE)
    evcrisp.write(tmp_path / "a.txt", events)
    content = (tmp_path / "a.txt").read_bytes()
    packets = list(ecd.EcdReader().open(tmp_path / "a.txt").packets())
    assert [packet.t.size for packet in packets] == [100, 100, 50]
    for packet in packets:
        line = content[packet.offset :].split(b"\n")[0]
        assert ecd.microseconds(line.split()[0].decode()) == packet.t[0]


def test_endless_line_takes_no_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(_bytes, "BLOCK_BYTES", 1 << 16)
    text = b"0.1 1 2 1\n" + b"7" * (1 << 20)
    with pytest.raises(FormatError, match="line 2 is longer than 65536 bytes.*after 1 event"):
        read_text(tmp_path, text, format="ecd")


def test_gzip_is_read_and_written_with_the_same_bytes_each_time(tmp_path, make_events):
    events = make_events(3000, resolution=SIZE)
    evcrisp.write(tmp_path / "a.txt.gz", events)
    evcrisp.write(tmp_path / "b.txt.gz", events)
    evcrisp.write(tmp_path / "a.txt", events)
    assert (tmp_path / "a.txt.gz").read_bytes() == (tmp_path / "b.txt.gz").read_bytes()
    assert (
        gzip.decompress((tmp_path / "a.txt.gz").read_bytes()) == (tmp_path / "a.txt").read_bytes()
    )
    assert evcrisp.read(tmp_path / "a.txt.gz", resolution=SIZE).equals(events)


def test_several_gzip_streams_in_a_row_are_one_text(tmp_path):
    text = gzip.compress(b"0.1 1 2 1\n0.2 3") + gzip.compress(b" 4 0\n")
    assert len(read_text(tmp_path, text, "events.txt.gz")) == 2


@pytest.mark.parametrize("n_lost", [1, 4, 9, 200, 5000])
def test_cut_gzip_gives_the_events_before_the_cut(tmp_path, make_events, n_lost):
    events = make_events(3000, resolution=SIZE)
    evcrisp.write(tmp_path / "a.txt.gz", events)
    text = (tmp_path / "a.txt.gz").read_bytes()[:-n_lost]
    with pytest.raises(FormatError, match="the gzip stream is cut short"):
        read_text(tmp_path, text, "cut.txt.gz")
    kept = read_text(tmp_path, text, "cut.txt.gz", on_error="truncate")
    assert len(kept) > (2990 if n_lost < 10 else 1000)
    assert kept.equals(events[: len(kept)])


def test_damaged_gzip_gives_the_events_before_the_damage(tmp_path, make_events):
    events = make_events(3000, resolution=SIZE)
    evcrisp.write(tmp_path / "a.txt.gz", events)
    data = bytearray((tmp_path / "a.txt.gz").read_bytes())
    at = 3 * len(data) // 4
    data[at : at + 64] = b"\xff" * 64
    with pytest.raises(FormatError):
        read_text(tmp_path, data, "b.txt.gz")
    kept = read_text(tmp_path, data, "b.txt.gz", on_error="truncate")
    assert len(kept) > 1800
    assert kept[:1800].equals(events[:1800])


def test_other_bytes_after_the_gzip_stream_are_an_error(tmp_path):
    text = gzip.compress(b"0.1 1 2 1\n") + b"extra"
    with pytest.raises(FormatError, match="other data follows the gzip stream"):
        read_text(tmp_path, text, "events.txt.gz")
    assert len(read_text(tmp_path, gzip.compress(b"0.1 1 2 1\n") + bytes(512), "b.txt.gz")) == 1


def test_gzip_bomb_takes_the_memory_of_a_block(tmp_path):
    text = gzip.compress(b"0.1 1 2 1\n" + b"0" * (64 << 20))
    assert len(text) < 100_000
    with pytest.raises(FormatError, match="line 2 is longer"):
        read_text(tmp_path, text, "bomb.txt.gz")


def test_folder_with_events_imu_and_calibration_is_a_recording(tmp_path):
    folder = tmp_path / "boxes"
    folder.mkdir()
    (folder / "events.txt").write_bytes(b"0.5 1 2 1\n")
    (folder / "imu.txt").write_bytes(
        b"# t ax ay az gx gy gz\n0.000001 0 0 9.8 1e-3 -2 3\n1.5 1 2 3 4 5 6"
    )
    (folder / "calib.txt").write_bytes(b"199.1 198.8 132.2 110.7 -0.37 0.15 -0.0003 -0.0008 0.0\n")
    with evcrisp.open(folder) as opened:
        assert opened.format == "ecd"
        imu = opened.imu()
        assert opened.metadata["calib"][0] == 199.1
        assert len(opened.read()) == 1
    assert imu.t.tolist() == [1, 1_500_000]
    assert imu.accel_m_s2.tolist() == [[0, 0, 9.8], [1, 2, 3]]
    assert imu.gyro_rad_s.tolist() == [[0.001, -2, 3], [4, 5, 6]]


@pytest.mark.parametrize(
    ("name", "has_camera"), [("events.txt", True), ("events.txt.gz", True), ("other.txt", False)]
)
def test_events_of_a_sequence_have_the_calibration_beside_them(tmp_path, name, has_camera):
    content = b"0.5 1 2 1\n"
    data = gzip.compress(content) if name.endswith(".gz") else content
    (tmp_path / name).write_bytes(data)
    (tmp_path / "calib.txt").write_bytes(
        b"199.1 198.8 132.2 110.7 -0.37 0.15 -0.0003 -0.0008 0.0\n"
    )
    with evcrisp.open(tmp_path / name) as opened:
        assert (opened.camera() is not None) == has_camera
        assert not has_camera or opened.camera().fx == 199.1


@pytest.mark.parametrize(
    "line", [b"0.2 1 2 3", b"0.2 1 2 3 4 5 x", b"1e200 1 2 3 4 5 6", b"9" * 5000]
)
def test_damaged_imu_text_keeps_the_samples_before(tmp_path, line):
    folder = tmp_path / "boxes"
    folder.mkdir()
    (folder / "events.txt").write_bytes(b"0.5 1 2 1\n")
    (folder / "imu.txt").write_bytes(b"0.1 1 2 3 4 5 6\n" + line + b"\n0.3 1 2 3 4 5 6\n")
    with (
        evcrisp.open(folder) as opened,
        pytest.raises(FormatError, match=r"imu.txt (line 2|has a)"),
    ):
        opened.imu()
    with evcrisp.open(folder, on_error="truncate") as opened:
        assert opened.imu().t.tolist() == [100_000]


def test_numpy_reads_written_text(tmp_path, make_events):
    events = make_events(100, resolution=SIZE)
    evcrisp.write(tmp_path / "a.txt", events)
    rows = np.loadtxt(tmp_path / "a.txt")
    np.testing.assert_array_equal(np.rint(rows[:, 0] * 1e6), events.t)
    np.testing.assert_array_equal(rows[:, 1:], np.stack([events.x, events.y, events.p], axis=1))


def test_size_line_is_written_on_request(tmp_path, make_events):
    events = make_events(10, resolution=SIZE)
    evcrisp.write(tmp_path / "a.txt", events, size_line=True)
    assert (tmp_path / "a.txt").read_bytes().startswith(b"240 180\n")
    assert evcrisp.read(tmp_path / "a.txt").equals(events)


def test_round_trip_keeps_no_events_and_extreme_times(tmp_path):
    empty = Events.empty((1, 1))
    evcrisp.write(tmp_path / "empty.txt", empty)
    assert evcrisp.read(tmp_path / "empty.txt", resolution=(1, 1)).equals(empty)
    t = [-(2**53), -1, 0, 1, 2**53, 2**62 - 1]
    events = Events(x=[0] * 6, y=[0] * 6, t=t, p=[1] * 6, resolution=(1, 1))
    evcrisp.write(tmp_path / "far.txt", events)
    assert evcrisp.read(tmp_path / "far.txt", resolution=(1, 1)).equals(events)


def n_before_damage(path):
    """Return the number of events before the damage, or None without damage."""
    try:
        evcrisp.read(path, resolution=SIZE, format="ecd")
    except FormatError as error:
        return error.n_before
    return None


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_flipped_bits_give_events_or_a_format_error(tmp_path, make_events, name):
    path = tmp_path / name
    evcrisp.write(path, make_events(200, resolution=SIZE))
    content = path.read_bytes()
    rng = np.random.default_rng(1)
    for _ in range(150):
        damaged = bytearray(content)
        damaged[rng.integers(len(damaged))] ^= 1 << rng.integers(8)
        path.write_bytes(damaged)
        n_before = n_before_damage(path)
        kept = evcrisp.read(path, resolution=SIZE, format="ecd", on_error="truncate")
        assert n_before is None or len(kept) == n_before


@pytest.mark.parametrize(
    ("resolution", "options", "n_warnings"),
    [((346, 260), {}, 1), ((346, 260), {"size_line": True}, 0), ((240, 180), {}, 0)],
)
def test_lost_sensor_size_is_logged_once(
    tmp_path, make_events, caplog, resolution, options, n_warnings
):
    events = make_events(50, resolution=resolution)
    evcrisp.write(tmp_path / "a.txt", [events[:20], events[20:]], **options)
    told = [record.getMessage() for record in caplog.records if "size_line" in record.getMessage()]
    assert len(told) == n_warnings
    if told:
        assert "does not keep the sensor size of 346x260 px" in told[0]
