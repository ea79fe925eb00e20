"""Clocks that start over, followed from block to block."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evcrisp
from evcrisp import Events
from evcrisp.io.looping_clock import LoopingClock, last_block_before
from evcrisp.io.prophesee import dat, evt

BITS = 10
STEP = 2**BITS // 64  # from which on steps are refused


@given(start=st.integers(0, 2**BITS - 1), steps=st.lists(st.integers(0, STEP - 1)))
def test_short_steps_give_the_true_times(start, steps):
    times = np.cumsum([start, *steps])
    clock = LoopingClock(BITS)
    assert [clock.advance(int(t) % 2**BITS) for t in times] == times.tolist()


@pytest.mark.parametrize("step", [STEP, 2**BITS - 1, 2**BITS // 2])
def test_long_steps_and_steps_back_are_refused(step):
    clock = LoopingClock(BITS)
    assert clock.advance(7) == 7
    assert clock.advance((7 + step) % 2**BITS) is None


@given(
    data=st.data(),
    steps=st.lists(st.integers(1, STEP - 1), min_size=1, max_size=300),
)
def test_block_before_a_time_is_the_last_one(data, steps):
    times = np.cumsum([5, *steps])
    t = data.draw(st.integers(0, int(times[-1]) + 9))
    block, loops = last_block_before(t, times.size, lambda b: int(times[b]) % 2**BITS, BITS)
    assert block == max(int(np.searchsorted(times, t)) - 1, 0)
    assert loops == times[block] // 2**BITS * 2**BITS


def test_blocks_without_a_time_are_passed_over_except_the_first():
    times = [10, None, 20, None, 30]
    assert last_block_before(25, 5, times.__getitem__, BITS) == (2, 0)
    assert last_block_before(25, 5, [None, *times].__getitem__, BITS) == (0, 0)


def sparse_events(n, step_us, pause_us=0):
    """Return events at a constant rate, with a pause in the middle."""
    t = 3 * 10**9 + step_us * np.arange(n)
    t[n // 2 :] += pause_us
    return Events(x=t % 300, y=t % 200, t=t, p=t % 2, resolution=(346, 260))


@pytest.mark.parametrize("pause_us", [0, 2**30 + 5, 2**31 - 10])
@pytest.mark.parametrize("start", [0.2, 0.49, 0.51, 0.9])
def test_parts_of_dat_files_beyond_the_32_bit_clock(start, pause_us, tmp_path, monkeypatch):
    monkeypatch.setattr(dat, "_BLOCK_EVENTS", 4)
    events = sparse_events(2000, 10_000_000, pause_us)  # 5.6 hours, four loops
    evcrisp.write(tmp_path / "a.dat", events)
    start_us = int(start * events.duration_us)
    t_start = int(events.t[0]) + start_us
    part = evcrisp.read(tmp_path / "a.dat", start_us=start_us, duration_us=10**9)
    assert part.equals(events.between(t_start, t_start + 10**9))
    assert len(part) == 100 or pause_us


@pytest.mark.parametrize("start", [0.2, 0.51, 0.9])
def test_parts_of_evt2_files_beyond_the_34_bit_clock(start, tmp_path, monkeypatch):
    monkeypatch.setattr(evt, "_BLOCK_BYTES", 8 * 4)
    monkeypatch.setattr(evt, "_SAMPLE_BYTES", (2 * 4, 8 * 4))
    events = sparse_events(2000, 40_000_000)  # 22 hours, four loops
    evcrisp.write(tmp_path / "a.raw", events, format="evt2")
    start_us = int(start * events.duration_us)
    t_start = int(events.t[0]) + start_us
    part = evcrisp.read(tmp_path / "a.raw", start_us=start_us, duration_us=10**9)
    assert part.equals(events.between(t_start, t_start + 10**9))
    assert len(part) == 25


def test_parts_of_evt21_files_skip_blocks(tmp_path, monkeypatch):
    """EVT 2.1 words of 64 bits: a time every 64 us, and two pixels at each."""
    monkeypatch.setattr(evt, "_BLOCK_BYTES", 64 * 8)
    monkeypatch.setattr(evt, "_SAMPLE_BYTES", (2 * 8, 8 * 8))
    words = []
    for high in range(1000):
        words += [0x8 << 60 | high << 32, 0x1 << 60 | 5 << 54 | 32 << 43 | 7 << 32 | 0b11]
    header = b"% evt 2.1\n% format EVT21;height=480;width=640;endianness=little\n% end\n"
    (tmp_path / "a.raw").write_bytes(header + np.array(words, "<u8").tobytes())
    whole = evcrisp.read(tmp_path / "a.raw")
    assert whole.t.tolist() == [64 * high + 5 for high in range(1000) for _ in range(2)]
    with evcrisp.open(tmp_path / "a.raw", start_us=51_200, duration_us=128) as opened:
        assert opened.read().equals(whole.between(51_205, 51_333))
        byte, loops = opened._part()._start()
    assert (byte - len(header), loops) == (1600 // 64 * 64 * 8 - 64 * 8 * (1600 % 64 == 0), 0)


def test_clock_of_dat_is_sampled_and_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(dat, "_BLOCK_EVENTS", 64)
    events = sparse_events(2000, 1000)
    evcrisp.write(tmp_path / "a.dat", events)
    starts = []
    real = dat.read_records
    monkeypatch.setattr(
        dat, "read_records", lambda path, start, n: starts.append(start) or real(path, start, n)
    )
    evcrisp.read(tmp_path / "a.dat", start_us=1_500_000)
    assert len(starts) == 2  # for the first event, and for the part
    assert starts[1] - starts[0] == 1500 // 64 * 64 * 8


def test_evt3_is_decoded_from_the_start_because_its_clock_is_short(tmp_path, monkeypatch):
    monkeypatch.setattr(evt, "_BLOCK_BYTES", 64 * 2)
    events = sparse_events(2000, 50_000)  # 100 s, six loops
    evcrisp.write(tmp_path / "a.raw", events, format="evt3")
    t_start = int(events.t[0]) + 70_000_000
    part = evcrisp.read(tmp_path / "a.raw", start_us=70_000_000, duration_us=10**6)
    assert part.equals(events.between(t_start, t_start + 10**6))
    with evcrisp.open(tmp_path / "a.raw", start_us=70_000_000) as opened:
        assert opened._part()._start() == (opened._source.start, 0)


def test_triggers_of_a_part_end_with_it(tmp_path):
    """EVT 2.0 words: a time every 64 us, an event and a trigger at each."""
    words = []
    for high in range(1000):
        words += [0x8 << 28 | high, 0x1 << 28 | 5 << 11 | 7, 0xA << 28 | 1 << 22 | 3 << 8 | 1]
    header = b"% evt 2.0\n% format EVT2;height=480;width=640\n% end\n"
    (tmp_path / "a.raw").write_bytes(header + np.array(words, "<u4").tobytes())
    with evcrisp.open(tmp_path / "a.raw", start_us=640, duration_us=192) as opened:
        assert opened.read().t.tolist() == [640, 704, 768]
        assert opened.triggers().t.tolist() == [641, 705, 769]
        assert opened.triggers().channel.tolist() == [3, 3, 3]
