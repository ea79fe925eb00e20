"""DAT files: both versions, time, damage, and an independent reader."""

import contextlib

import numpy as np
import pytest

import evcrisp
from evcrisp import Events, FormatError, OutputError
from evcrisp.io.prophesee.dat import DatReader

HEADER = b"% Data file containing CD events.\n% Version 2\n% Height 240\n% Width 304\n"


def dat_file(folder, pairs, header=HEADER, kind=12, tail=b""):
    path = folder / "a_td.dat"
    data = np.array(pairs, "<u4").reshape(-1, 2).tobytes()
    path.write_bytes(header + bytes((kind, 8)) + data + tail)
    return path


def rows(events):
    columns = (events.x, events.y, events.t, events.p.astype(int))
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_version_2_is_read(tmp_path):
    pairs = [(10, 1 << 28 | 5 << 14 | 303), (11, 239 << 14)]
    with evcrisp.open(dat_file(tmp_path, pairs)) as recording:
        assert recording.format == "dat"
        assert recording.resolution_source == "file"
        events = recording.read()
    assert events.resolution == (304, 240)
    assert rows(events) == [(303, 5, 10, 1), (0, 239, 11, 0)]


def test_version_1_is_read(tmp_path):
    header = b"% Version 1\n% Height 240\n% Width 304\n"
    pairs = [(10, 1 << 17 | 5 << 9 | 303), (11, 239 << 9)]
    assert rows(evcrisp.read(dat_file(tmp_path, pairs, header, kind=0))) == [
        (303, 5, 10, 1),
        (0, 239, 11, 0),
    ]


@pytest.mark.parametrize("end", [b"", b"% end\n"])
def test_header_may_have_an_end_and_no_version(tmp_path, end):
    header = b"% Height 240\n% Width 304\n" + end
    assert rows(evcrisp.read(dat_file(tmp_path, [(10, 5 << 14 | 7)], header))) == [(7, 5, 10, 0)]


def test_unknown_version_is_an_error(tmp_path):
    with pytest.raises(FormatError, match="DAT of version 3; only 1 and 2 are read"):
        evcrisp.open(dat_file(tmp_path, [], b"% Version 3\n"))


def test_time_continues_after_a_loop_of_the_clock(tmp_path):
    pairs = [(0xFFFF_FFF0, 0), (4, 0), (0xFFFF_FFFF, 0), (0, 0)]
    events = evcrisp.read(dat_file(tmp_path, pairs))
    loop = 1 << 32
    assert events.t.tolist() == [0xFFFF_FFF0, loop + 4, loop + 0xFFFF_FFFF, 2 * loop]


def test_small_step_back_in_time_is_damage(tmp_path):
    with pytest.raises(FormatError, match="time decreases from 50 to 49 us"):
        evcrisp.read(dat_file(tmp_path, [(50, 0), (49, 0)]))


def test_header_t0_is_added(tmp_path):
    header = HEADER + b"% T0 1700000000000000\n"
    assert evcrisp.read(dat_file(tmp_path, [(5, 0)], header)).t.tolist() == [1_700_000_000_000_005]


def test_triggers_file_has_triggers_and_no_events(tmp_path):
    path = dat_file(tmp_path, [(10, 1 | 3 << 26), (0xFFFF_FFFF, 0), (7, 1)], kind=14)
    with evcrisp.open(path) as recording:
        triggers = recording.triggers()
        assert len(recording.read()) == 0
    assert triggers.t.tolist() == [10, 0xFFFF_FFFF, (1 << 32) + 7]
    assert triggers.kind.tolist() == [1, 2, 1]
    assert triggers.channel.tolist() == [3, 0, 0]


def test_number_of_events_is_known_from_the_size(tmp_path):
    assert DatReader().open(dat_file(tmp_path, [(1, 2), (3, 4)])).n_events == 2


# ---------------------------------------------------------------- damage


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (b"12345678", "must have a header of lines that start with '%'"),
        (b"% Version 2\n", "the file ends after its header"),
        (b"% Version 2\n\x0c", "the file ends after its header"),
        (b"% Version 2\n\x0c\x10" + bytes(16), "events of 16 bytes; expected 8"),
        (b"% Version 2\n\x28\x08" + bytes(16), "events of type 40"),
    ],
)
def test_other_content_is_an_error(tmp_path, data, match):
    path = tmp_path / "a.dat"
    path.write_bytes(data)
    with pytest.raises(FormatError, match=match):
        evcrisp.open(path)


def test_truncated_file_gives_the_events_before_the_cut(tmp_path, make_events):
    events = make_events(100)
    path = tmp_path / "a.dat"
    evcrisp.write(path, events)
    data = path.read_bytes()
    start = len(data) - 800
    for size in range(start, len(data), 3):
        path.write_bytes(data[:size])
        n_whole = (size - start) // 8
        assert evcrisp.read(path, on_error="truncate").equals(events[:n_whole])
        if (size - start) % 8:
            match = f"within an event .byte {start + 8 * n_whole}, after {n_whole} events?"
            with pytest.raises(FormatError, match=match):
                evcrisp.read(path)


@pytest.mark.parametrize("on_error", ["raise", "truncate"])
def test_flipped_bytes_give_events_or_a_format_error(tmp_path, make_events, on_error):
    path = tmp_path / "a.dat"
    evcrisp.write(path, make_events(60))
    data = path.read_bytes()
    rng = np.random.default_rng(5)
    for position in range(len(data)):
        damaged = bytearray(data)
        damaged[position] ^= int(rng.integers(1, 256))
        path.write_bytes(damaged)
        with contextlib.suppress(FormatError):
            assert len(evcrisp.read(path, on_error=on_error)) <= len(data) // 8


# ---------------------------------------------------------------- writing


@pytest.mark.parametrize("resolution", [(346, 260), (1, 1), (16_384, 16_384)])
@pytest.mark.parametrize("n", [0, 1, 3000])
def test_round_trip_keeps_the_events(tmp_path, make_events, resolution, n):
    events = make_events(n, resolution=resolution)
    path = tmp_path / "a.dat"
    evcrisp.write(path, iter([events[: n // 2], events[n // 2 :]]))
    back = evcrisp.read(path)
    assert back.equals(events)
    assert back.resolution == resolution


def test_time_beyond_32_bits_is_kept_with_a_warning(tmp_path, caplog):
    t = [5, (1 << 32) - 7, (1 << 32) + 3, (2 << 32) - 1, 2 << 32]
    events = Events(x=[0] * 5, y=[0] * 5, t=t, p=[1] * 5, resolution=(8, 4))
    path = tmp_path / "a.dat"
    evcrisp.write(path, iter([events[:2], events[2:]]))
    assert evcrisp.read(path).equals(events)
    assert caplog.text.count("which starts over after 71.6 minutes") == 1


def test_start_beyond_32_bits_goes_to_the_header(tmp_path, caplog):
    t = np.array([0, 10, 40_000_000]) + 1_700_000_000_123_456
    events = Events(x=[0] * 3, y=[0] * 3, t=t, p=[1] * 3, resolution=(8, 4))
    path = tmp_path / "a.dat"
    evcrisp.write(path, events)
    assert b"% T0 1700000000123456\n" in path.read_bytes()
    assert "In other programs the recording starts at 0" in caplog.text
    assert evcrisp.read(path).equals(events)


@pytest.mark.parametrize("split", [1, 2])
def test_pause_longer_than_a_clock_loop_is_refused(tmp_path, split):
    events = Events(x=[0] * 2, y=[0] * 2, t=[5, 1 << 32], p=[1] * 2, resolution=(8, 4))
    parts = iter([events]) if split == 1 else iter([events[:1], events[1:]])
    with pytest.raises(OutputError, match="does not keep a pause of 4294967291 us"):
        evcrisp.write(tmp_path / "a.dat", parts)


def test_negative_time_is_refused(tmp_path):
    events = Events(x=[1], y=[1], t=[-5], p=[1], resolution=(64, 48))
    with pytest.raises(OutputError, match="no time before 0"):
        evcrisp.write(tmp_path / "a.dat", events)


def test_too_large_sensor_is_refused(tmp_path):
    with pytest.raises(OutputError, match="up to 16384x16384 px"):
        evcrisp.write(tmp_path / "a.dat", Events.empty((20_000, 10)))


def test_eventcv_reads_the_same(tmp_path, make_events):
    eventcv = pytest.importorskip("eventcv", reason="eventcv is the independent reader")
    events = make_events(5000, resolution=(1280, 720), t_start=3_000_000_000)
    path = tmp_path / "a.dat"
    evcrisp.write(path, events)
    stream = eventcv.load(str(path))
    assert tuple(stream.sensor_size) == events.resolution
    x, y, t, p = stream.numpy().astype(np.int64).T
    assert Events(x=x, y=y, t=t, p=p, resolution=events.resolution).equals(events)


@pytest.mark.parametrize(
    ("right", "bottom", "resolution"),
    [(53, 60, (54, 61)), (53, 200, (304, 240)), (160, 60, (304, 240)), (303, 239, (304, 240))],
)
def test_a_file_without_size_is_a_crop_if_its_events_fill_little(
    tmp_path, right, bottom, resolution
):
    address = np.array([0, right | bottom << 14], "<u4")
    words = np.stack((np.array([10, 20], "<u4"), address), axis=1)
    path = tmp_path / "crop.dat"
    path.write_bytes(b"% Version 2\n% end\n" + bytes((0, 8)) + words.tobytes())
    assert evcrisp.read(path).resolution == resolution
