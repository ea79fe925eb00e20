"""Prophesee RAW files: headers, decoding rules, damage."""

import contextlib

import numpy as np
import pytest

import evcrisp
from evcrisp import FormatError
from evcrisp.io.prophesee.evt import Evt3Reader
from evcrisp.io.prophesee.evt_header import parse_header
from evcrisp.io.protocol import PACKET_EVENTS

HEADER = "% evt 3.0\n% format EVT3;height=720;width=1280\n% end\n"


def raw_file(folder, words, header=HEADER, dtype="<u2", name="a.raw", tail=b""):
    path = folder / name
    path.write_bytes(header.encode("latin-1") + np.array(words, dtype).tobytes() + tail)
    return path


def rows(events):
    columns = (events.x, events.y, events.t, events.p.astype(int))
    return list(zip(*(column.tolist() for column in columns), strict=True))


# ---------------------------------------------------------------- headers


@pytest.mark.parametrize(
    ("text", "name", "size"),
    [
        ("% evt 3.0\n", "EVT3", None),
        ("% evt 2.0\n% geometry 640x480\n", "EVT2", (640, 480)),
        ("% format EVT21;endianness=little;height=320;width=320\n", "EVT21", (320, 320)),
        ("% evt 2.0\r\n% format EVT3;width=1280;height=720\r\n% end\r\n", "EVT3", (1280, 720)),
        ("% Format EVT2.1;height=10;width=20\n", "EVT21", (20, 10)),
        ("% format EVT3;height=720;width=1280\n% geometry 1280x720\n", "EVT3", (1280, 720)),
        ("% format EVT3;height=720;width=1280\n% geometry 640x480\n", "EVT3", None),
        ("% evt 3.0\n% geometry 0x720\n", "EVT3", None),
        ("% evt 3.0\n% geometry 99999x720\n", "EVT3", None),
        ("% evt 3.0\n% geometry widexhigh\n", "EVT3", None),
        ("% evt 3.0\n% system_ID 48\n", "EVT3", (1280, 720)),
        ("% evt 2.0\n% integrator_name Prophesee\n% system_ID 21\n", "EVT2", (640, 480)),
        ("% evt 2.0\n% integrator_name Other\n% system_ID 21\n", "EVT2", None),
        ("% evt 3.0\n% system_ID 4711\n", "EVT3", None),
        ("% Date 2020-09-25\n", None, None),
        ("", None, None),
    ],
)
def test_header_states_format_and_size(text, name, size):
    header = parse_header(text.encode() + b"\x00\x80\x05\x60")
    assert (header.format_name, header.resolution, header.size) == (name, size, len(text))


@pytest.mark.parametrize("data", [b"%\x20\x05\x80", b"% \x01\x80\x0a\x00", b"%" + b" " * 5000])
def test_data_that_starts_with_a_percent_sign_is_not_header(data):
    assert parse_header(b"% evt 3.0\n" + data).size == 10


@pytest.mark.parametrize(
    ("text", "legacy"),
    [
        ("% format EVT21;endianness=legacy\n", True),
        ("% format EVT21;endianness=little\n% system_ID 49\n", False),
        ("% format EVT21\n% endianness legacy\n", True),
        ("% evt 2.1\n% system_ID 49\n", True),
        ("% evt 2.1\n% system_ID 55\n", False),
        ("% evt 2.1\n% system_ID 49\n% plugin_integrator_name Other\n", False),
        ("% evt 2.1\n", False),
    ],
)
def test_header_states_the_order_of_halves(text, legacy):
    assert parse_header(text.encode()).has_legacy_halves is legacy


def test_header_is_kept_as_metadata(tmp_path):
    header = "% evt 3.0\n% serial_number 00000307\n% geometry 1280x720\n"
    with evcrisp.open(raw_file(tmp_path, [], header)) as recording:
        assert recording.metadata["serial_number"] == "00000307"
        assert recording.resolution_source == "file"


# ---------------------------------------------------------------- which format


def test_header_determines_the_format_for_any_suffix(tmp_path):
    path = raw_file(tmp_path, [0x8001, 0x6002, 0x0003, 0x2004], name="odd.bin")
    with evcrisp.open(path) as recording:
        assert recording.format == "evt3"
        assert rows(recording.read()) == [(4, 3, 4098, 0)]


@pytest.mark.parametrize("header", ["", "% Date 2020-09-25\n", "% evt 9.0\n% end\n"])
def test_raw_file_without_format_is_refused_with_a_remedy(tmp_path, header):
    path = raw_file(tmp_path, [0x8001, 0x6002, 0x0003, 0x2004], header)
    with pytest.raises(FormatError, match="name evt3, evt2 or evt21 with `format`"):
        evcrisp.open(path)


def test_raw_file_without_header_is_read_with_a_given_format(tmp_path):
    path = raw_file(tmp_path, [0x8001, 0x6002, 0x0003, 0x2004], header="")
    events = evcrisp.read(path, format="evt3", resolution=(1280, 720))
    assert rows(events) == [(4, 3, 4098, 0)]


def test_format_raw_uses_the_header(tmp_path):
    path = raw_file(tmp_path, [0x8001, 0x6002, 0x0003, 0x2004])
    assert rows(evcrisp.read(path, format="raw")) == [(4, 3, 4098, 0)]


def test_given_format_other_than_the_header_is_an_error(tmp_path):
    path = raw_file(tmp_path, [0x8001])
    with pytest.raises(FormatError, match="the header states format EVT3, not EVT2"):
        evcrisp.read(path, format="evt2")


def test_file_without_size_gets_a_standard_one(tmp_path):
    path = raw_file(tmp_path, [0x8001, 0x6002, 330, 0x2004], "% evt 3.0\n")
    with evcrisp.open(path) as recording:
        assert recording.read().resolution == (640, 480)
        assert recording.resolution_source == "guessed"


# ---------------------------------------------------------------- EVT 3.0 rules


def test_evt3_vectors_continue_after_the_last_one(tmp_path):
    words = [0x8001, 0x6002, 0x0003, 0x3808, 0x4801, 0x4001, 0x5081, 0x5001]
    x = [8, 19, 20, 32, 39, 40]
    assert rows(evcrisp.read(raw_file(tmp_path, words))) == [(x, 3, 4098, 1) for x in x]


def test_evt3_repeated_time_low_changes_nothing(tmp_path):
    words = [0x8001, 0x6010, 0x0003, 0x2004, 0x601A, 0x6011, 0x2005]
    events = evcrisp.read(raw_file(tmp_path, words))
    assert events.t.tolist() == [4096 + 0x10, 4096 + 0x11]


def test_evt3_new_time_high_starts_at_low_zero_and_a_repeated_one_keeps_low(tmp_path):
    words = [0x8001, 0x6FF0, 0x0003, 0x2001, 0x8001, 0x2002, 0x8002, 0x2003]
    events = evcrisp.read(raw_file(tmp_path, words))
    assert events.t.tolist() == [4096 + 0xFF0, 4096 + 0xFF0, 8192]


def test_evt3_time_continues_after_a_loop_of_the_clock(tmp_path):
    words = [0x0003, *(w for high in (4095, 0, 2047, 4095, 0) for w in (0x8000 | high, 0x2001))]
    events = evcrisp.read(raw_file(tmp_path, words))
    loop = 1 << 24
    assert events.t.tolist() == [
        4095 << 12,
        loop,
        loop + (2047 << 12),
        loop + (4095 << 12),
        2 * loop,
    ]


def test_evt3_small_step_back_of_time_high_is_damage(tmp_path):
    words = [0x8005, 0x6000, 0x0003, 0x2001, 0x8004, 0x2002]
    path = raw_file(tmp_path, words)
    with pytest.raises(FormatError, match="time decreases from 20480 to 16384 us"):
        evcrisp.read(path)
    assert rows(evcrisp.read(path, on_error="truncate")) == [(1, 3, 20480, 0)]


def test_evt3_other_words_are_skipped(tmp_path, caplog):
    words = [0x8001, 0x6002, 0x0003, 0xE014, 0xF123, 0xF456, 0x7007, 0x2004]
    assert rows(evcrisp.read(raw_file(tmp_path, words))) == [(4, 3, 4098, 0)]
    assert not caplog.records


def test_reserved_words_are_counted_and_logged_once(tmp_path, caplog):
    path = raw_file(tmp_path, [0x8001, 0x6002, 0x0003, 0x9014, 0xB123, 0x2004])
    with evcrisp.open(path) as recording:
        assert len(recording.read()) == len(recording.read()) == 1
        assert recording.metadata["n_reserved_words"] == 2
    assert caplog.text.count("skipped 2 words of a type that the format does not document") == 1


def test_events_before_the_first_time_are_counted_and_logged_once(tmp_path, caplog):
    words = [0x2009, 0x0001, 0x3005, 0x4003, 0x2008, 0x8001, 0x2004]
    path = raw_file(tmp_path, words)
    with evcrisp.open(path) as recording:
        assert rows(recording.read()) == rows(recording.read()) == [(4, 1, 4096, 0)]
        assert recording.metadata["n_events_without_time"] == 4
    assert caplog.text.count("4 events before the first time stamp") == 1


def test_file_without_any_time_is_damaged(tmp_path):
    path = raw_file(tmp_path, [0x0001, 0x2004, 0x2005])
    with pytest.raises(FormatError, match="no event of 2 has a time"):
        evcrisp.read(path)
    assert len(evcrisp.read(path, on_error="truncate")) == 0


def test_evt3_triggers_are_read(tmp_path):
    words = [0x8001, 0x6002, 0xA101, 0x0003, 0x2004, 0x6005, 0xA100, 0xAF01]
    with evcrisp.open(raw_file(tmp_path, words)) as recording:
        triggers = recording.triggers()
    assert triggers.t.tolist() == [4098, 4101, 4101]
    assert triggers.kind.tolist() == [1, 2, 1]
    assert triggers.channel.tolist() == [1, 1, 15]


def test_file_without_triggers_has_none(tmp_path):
    with evcrisp.open(raw_file(tmp_path, [0x8001, 0x0003, 0x2004])) as recording:
        assert recording.triggers() is None


def test_header_t0_is_added_to_events_and_triggers(tmp_path):
    header = "% evt 3.0\n% geometry 1280x720\n% t0 1700000000000000\n"
    with evcrisp.open(raw_file(tmp_path, [0x8001, 0x0003, 0x2004, 0xA000], header)) as recording:
        assert recording.read().t.tolist() == [1_700_000_000_004_096]
        assert recording.triggers().t.tolist() == [1_700_000_000_004_096]


def test_impossible_t0_is_an_error(tmp_path):
    with pytest.raises(FormatError, match="states the impossible time"):
        evcrisp.open(raw_file(tmp_path, [], "% evt 3.0\n% t0 99999999999999999999\n"))


# ---------------------------------------------------------------- EVT 2.0 and 2.1


def test_evt2_words_are_read(tmp_path):
    def event(p, t, x, y):
        return p << 28 | (t & 63) << 22 | x << 11 | y

    words = [0x80000002, event(1, 130, 639, 479), 0xA0C00301, 0xE0000014, 0xF0000001]
    words += [0x8FFFFFFF, event(0, 63, 1, 2), 0x80000000, event(1, 5, 3, 4)]
    header = "% evt 2.0\n% geometry 640x480\n% end\n"
    with evcrisp.open(raw_file(tmp_path, words, header, "<u4")) as recording:
        assert recording.format == "evt2"
        assert rows(recording.read()) == [
            (639, 479, 130, 1),
            (1, 2, (1 << 34) - 1, 0),
            (3, 4, (1 << 34) + 5, 1),
        ]
        triggers = recording.triggers()
    assert (triggers.t.tolist(), triggers.kind.tolist()) == ([131], [1])
    assert triggers.channel.tolist() == [3]


def evt21_bytes(events, legacy):
    """Encode events in the documented layout, one word per row of 32 pixels."""
    data = b""
    high = None
    groups = {}
    for x, y, t, p in events:
        groups.setdefault((t, y, p, x // 32 * 32), []).append(x)
    for (t, y, p, x), columns in groups.items():
        words = [] if high == t // 64 else [(0x8 << 28 | t // 64, 0)]
        high = t // 64
        words.append((p << 28 | t % 64 << 22 | x << 11 | y, sum(1 << (c - x) for c in columns)))
        for first, second in words:
            halves = [first.to_bytes(4, "little"), second.to_bytes(4, "little")]
            # GenX320 sends the whole word least significant byte first, IMX636 half by half.
            data += b"".join(halves if legacy else halves[::-1])
    return data


@pytest.mark.parametrize("legacy", [False, True])
def test_evt21_file_is_read(tmp_path, legacy):
    events = [(x, 7, 1000, 1) for x in (0, 3, 31)] + [(x, 8, 1000, 0) for x in (32, 33)]
    events += [(319, 319, 70_000, 1)]
    order = "legacy" if legacy else "little"
    header = f"% format EVT21;endianness={order};height=320;width=320\n% end\n"
    path = tmp_path / "a.raw"
    path.write_bytes(header.encode() + evt21_bytes(events, legacy))
    with evcrisp.open(path) as recording:
        assert recording.format == "evt21"
        assert rows(recording.read()) == events


# ---------------------------------------------------------------- damage and bounds


def test_odd_last_byte_is_damage_after_all_events(tmp_path):
    path = raw_file(tmp_path, [0x8001, 0x6002, 0x0003, 0x2004], tail=b"\x05")
    n_bytes = path.stat().st_size
    with pytest.raises(FormatError, match=f"within a word of 2 bytes .byte {n_bytes - 1}, after 1"):
        evcrisp.read(path)
    with evcrisp.open(path, on_error="truncate") as recording:
        assert len(recording.read()) == 1


def test_triggers_before_damage_are_kept(tmp_path):
    path = raw_file(tmp_path, [0x8001, 0xA101], tail=b"\x05")
    with evcrisp.open(path, on_error="truncate") as recording:
        assert len(recording.triggers()) == 1


def test_header_only_is_an_empty_recording(tmp_path):
    events = evcrisp.read(raw_file(tmp_path, []))
    assert (len(events), events.resolution) == (0, (1280, 720))


def test_event_outside_the_sensor_is_damage(tmp_path):
    path = raw_file(tmp_path, [0x8001, 0x0003, 0x2004, 0x2000 | 1280])
    with pytest.raises(FormatError, match="x=1280, y=3 lies outside"):
        evcrisp.read(path)


def test_vector_beyond_the_format_is_damage_without_a_known_size(tmp_path):
    path = raw_file(tmp_path, [0x8001, 0x0003, 0x2004, 0x37FF, 0x4002], "% evt 3.0\n")
    with pytest.raises(
        FormatError, match="a vector reaches x=2048; x ends at 2047 .*after 1 event"
    ):
        evcrisp.read(path)
    assert rows(evcrisp.read(path, on_error="truncate")) == [(4, 3, 4096, 0)]


def test_packets_stay_bounded_when_every_word_is_a_full_vector(tmp_path):
    n_words = 1 << 18
    words = np.full(n_words, 0x4FFF, np.uint16)
    words[:2] = 0x8001, 0x0003
    words[2::50] = 0x3000
    source = Evt3Reader().open(raw_file(tmp_path, words))
    sizes = [packet.t.size for packet in source.packets()]
    assert sum(sizes) == 12 * (n_words - 2 - len(words[2::50]))
    assert max(sizes) <= 4 * PACKET_EVENTS


@pytest.fixture(params=["evt3", "evt2", "evt21"])
def sample(request, tmp_path, make_events):
    """Return a file of 300 events, its events, and its bytes."""
    events = make_events(300, resolution=(640, 480), duration_us=20_000, seed=4)
    path = tmp_path / "sample.raw"
    if request.param == "evt21":
        header = b"% format EVT21;height=480;width=640\n% end\n"
        path.write_bytes(header + evt21_bytes(rows(events), legacy=False))
        events = evcrisp.read(path)
        assert len(events) == 300
    else:
        evcrisp.write(path, events, format=request.param)
    return path, events, path.read_bytes()


def test_truncated_file_gives_the_events_before_the_cut(sample):
    path, events, data = sample
    start = data.index(b"% end\n") + 6
    for size in range(start, len(data), 7):
        path.write_bytes(data[:size])
        with evcrisp.open(path, on_error="truncate") as recording:
            part = recording.read()
            is_damaged = recording.damage is not None
        assert part.equals(events[: len(part)])
        if is_damaged:
            with pytest.raises(FormatError, match="ends within a word"):
                evcrisp.read(path)
        else:
            assert evcrisp.read(path).equals(part)


def test_header_cut_anywhere_is_an_error_or_an_empty_recording(sample):
    path, _, data = sample
    for size in range(1, data.index(b"% end\n") + 6):
        path.write_bytes(data[:size])
        with contextlib.suppress(FormatError):
            assert len(evcrisp.read(path)) == 0


@pytest.mark.parametrize("on_error", ["raise", "truncate"])
def test_flipped_bytes_give_events_or_a_format_error(sample, on_error):
    path, _, data = sample
    rng = np.random.default_rng(5)
    for position in rng.integers(0, len(data), 300):
        damaged = bytearray(data)
        damaged[position] ^= int(rng.integers(1, 256))
        path.write_bytes(damaged)
        try:
            with evcrisp.open(path, on_error=on_error) as recording:
                assert recording.read().resolution is not None
                recording.triggers()
        except FormatError:
            pass


@pytest.mark.parametrize("name", ["evt2", "evt21", "evt3"])
def test_random_bytes_give_events_or_a_format_error(tmp_path, name):
    path = tmp_path / "noise.raw"
    for seed in range(20):
        path.write_bytes(np.random.default_rng(seed).bytes(20_001))
        with evcrisp.open(path, format=name, on_error="truncate") as recording:
            recording.read()
            assert recording.damage is not None
