"""Event Stream: known bytes, limits of the format, damage."""

import struct
from itertools import pairwise

import numpy as np
import pytest
from tests.oracles.io import es as oracle

import evcrisp
from evcrisp import EventDataError, Events, FormatError
from evcrisp.io.other import es

HEADER = b"Event Stream" + struct.pack("<4BHH", 2, 0, 0, 1, 320, 240)


def read(tmp_path, content, **options):
    (tmp_path / "a.es").write_bytes(content)
    return evcrisp.read(tmp_path / "a.es", **options)


def event(dt, x, row_from_bottom, p):
    return struct.pack("<BHH", dt << 1 | p, x, row_from_bottom)


def test_bytes_become_events_with_row_0_at_the_top(tmp_path):
    body = (
        event(5, 1, 239, 1) + b"\xff\xff" + event(3, 319, 0, 0) + b"\xfe" * 5 + event(0, 2, 100, 1)
    )
    events = read(tmp_path, HEADER + body)
    expected = Events(
        x=[1, 319, 2], y=[0, 239, 139], t=[5, 262, 262], p=[1, 0, 1], resolution=(320, 240)
    )
    assert events.equals(expected)


def test_known_events_give_known_bytes(tmp_path):
    events = Events(x=[1, 319], y=[0, 239], t=[5, 5 + 126], p=[1, 0], resolution=(320, 240))
    evcrisp.write(tmp_path / "a.es", events)
    assert (tmp_path / "a.es").read_bytes() == HEADER + event(5, 1, 239, 1) + event(126, 319, 0, 0)
    later = Events(x=[1], y=[0], t=[127 * 3], p=[0], resolution=(320, 240))
    evcrisp.write(tmp_path / "b.es", later)
    assert (tmp_path / "b.es").read_bytes() == HEADER + b"\xff" * 3 + event(0, 1, 239, 0)


def test_time_continues_between_chunks(tmp_path, make_events, monkeypatch):
    monkeypatch.setattr(es, "_WRITE_EVENTS", 100)
    events = make_events(1000, duration_us=10_000_000)
    evcrisp.write(tmp_path / "a.es", [events[:333], events[333:]])
    assert evcrisp.read(tmp_path / "a.es").equals(events)


def test_events_across_two_blocks_are_complete(tmp_path, make_events, monkeypatch):
    events = make_events(300, duration_us=1_000_000)
    evcrisp.write(tmp_path / "a.es", events)
    for block in (1, 3, 5, 64):
        monkeypatch.setattr(es, "_BLOCK_BYTES", block)
        assert evcrisp.read(tmp_path / "a.es").equals(events)


def test_round_trip_keeps_no_events_and_the_largest_sensor(tmp_path):
    for resolution in ((1, 1), (65_535, 65_535)):
        corner = Events(
            x=[resolution[0] - 1], y=[resolution[1] - 1], t=[0], p=[1], resolution=resolution
        )
        evcrisp.write(tmp_path / "a.es", corner, overwrite=True)
        assert evcrisp.read(tmp_path / "a.es").equals(corner)
        evcrisp.write(tmp_path / "a.es", corner[:0], overwrite=True)
        assert evcrisp.read(tmp_path / "a.es").equals(corner[:0])


def test_events_outside_the_format_are_refused_without_a_file(tmp_path):
    early = Events(x=[0], y=[0], t=[-1], p=[1], resolution=(4, 4))
    late = Events(x=[0], y=[0], t=[2**53], p=[1], resolution=(4, 4))
    wide = Events.empty((65_536, 4))
    with pytest.raises(EventDataError, match="has no time before 0; got t=-1 us"):
        evcrisp.write(tmp_path / "a.es", early)
    message = "a byte per 127 us.*first event at 9007199254740992 us. Shift.*--start-at-zero"
    with pytest.raises(EventDataError, match=message):
        evcrisp.write(tmp_path / "a.es", late)
    with pytest.raises(EventDataError, match="sides up to 65535 px; got 65536x4"):
        evcrisp.write(tmp_path / "a.es", wide)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("n_parts", [1, 2])
def test_long_pause_is_refused(tmp_path, n_parts):
    events = Events(x=[0, 0], y=[0, 0], t=[5, 2**40], p=[1, 1], resolution=(4, 4))
    parts = [events] if n_parts == 1 else [events[:1], events[1:]]
    message = f"the pause of {2**40 - 5} us after the event at 5 us. Split the recording there"
    with pytest.raises(EventDataError, match=message):
        evcrisp.write(tmp_path / "a.es", parts)


def test_decreasing_time_does_not_write_past_the_buffer(tmp_path):
    t = np.array([0, 5_000_000, 3, 5_000_000, 3, 5_000_000, 10])
    column = np.zeros(7, np.uint16)
    wrong = Events.trusted(column, column, t, np.ones(7, bool), (4, 4))
    sink = es.EsWriter().open(tmp_path / "a.es", (4, 4))
    with pytest.raises(EventDataError, match="Time must not decrease; it falls by 4999997 us"):
        sink.write(wrong)
    sink.abort()


@pytest.mark.parametrize("n_parts", [2, 7, 300])
def test_bytes_do_not_depend_on_the_chunks(tmp_path, make_events, n_parts):
    events = make_events(1000, duration_us=10_000_000)
    bounds = np.linspace(0, 1000, n_parts + 1).astype(int)
    evcrisp.write(tmp_path / "whole.es", events)
    evcrisp.write(tmp_path / "parts.es", [events[a:b] for a, b in pairwise(bounds)])
    assert (tmp_path / "parts.es").read_bytes() == (tmp_path / "whole.es").read_bytes()


def test_slow_recording_with_hours_per_part_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(es, "MAX_GAP_US", 1000)
    events = Events(x=[0] * 50, y=[0] * 50, t=np.arange(50) * 900, p=[1] * 50, resolution=(4, 4))
    evcrisp.write(tmp_path / "a.es", events)
    assert evcrisp.read(tmp_path / "a.es").equals(events)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (HEADER[:12] + bytes([1, 0, 0]) + HEADER[15:], "version 1.0.0 is not read; expected 2"),
        (HEADER[:15] + b"\x00", "of type generic; only DVS is read"),
        (HEADER[:15] + b"\x02" + HEADER[16:], "of type ATIS; only DVS is read"),
        (HEADER[:15] + b"\x04" + HEADER[16:], "of type color; only DVS is read"),
        (HEADER[:15] + b"\x09" + HEADER[16:], "of type number 9"),
        (HEADER[:14], "the file ends within the header"),
        (HEADER[:18], "the file ends within the header"),
        (HEADER[:16] + bytes(4), "impossible sensor size 0x0"),
        (b"Event Scream", "does not start with 'Event Stream'"),
    ],
)
def test_unreadable_headers_are_refused(tmp_path, content, message):
    with pytest.raises(FormatError, match=message):
        read(tmp_path, content, format="es")


def test_pixels_outside_the_sensor_are_reported(tmp_path):
    for wrong in (event(1, 320, 0, 1), event(1, 0, 240, 1)):
        with pytest.raises(
            FormatError, match="lies outside the sensor of 320x240 px.*after 1 event"
        ):
            read(tmp_path, HEADER + event(1, 2, 3, 1) + wrong)


def test_file_cut_at_any_byte_gives_a_prefix_or_an_error(tmp_path, make_events):
    events = make_events(30, t_start=0, duration_us=3000)
    evcrisp.write(tmp_path / "whole.es", events)
    content = (tmp_path / "whole.es").read_bytes()
    for n in range(20, len(content)):
        kept = read(tmp_path, content[:n], on_error="truncate")
        assert kept.equals(events[: len(kept)])
    with pytest.raises(FormatError, match="the file ends within an event.*after 29 events"):
        read(tmp_path, content[:-2])


def test_kernels_match_the_oracle(make_events):
    from evcrisp.kernels.io.es import decode_dvs, encode_dvs

    for seed in range(20):
        events = make_events(
            200, resolution=(1280, 720), seed=seed, t_start=seed * 50, duration_us=9000
        )
        out = np.zeros(20_000, np.uint8)
        n = encode_dvs(events.x, events.y, events.t, events.p, 720, 0, out)
        rows = list(zip(events.x, events.y, events.t, events.p, strict=True))
        assert oracle.decode_dvs(out[:n].tobytes(), 720) == (rows, n)
        x, y = np.zeros(201, np.uint16), np.zeros(201, np.uint16)
        t, p, state = np.zeros(201, np.int64), np.zeros(201, bool), np.zeros(3, np.int64)
        decode_dvs(out[:n], 720, x, y, t, p, state)
        assert state.tolist() == [n, 200, events.t[-1]]
        assert list(zip(x, y, t, p, strict=True))[:200] == rows
