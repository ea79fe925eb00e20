"""Overload and damage: bounded memory, the newest events are kept, counts are true."""

import importlib
import io
import itertools
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evcrisp
from evcrisp import Events
from evcrisp.io.protocol import Columns
from evcrisp.streaming.aedat4_wire import packets_of, stream_start
from evcrisp.streaming.bounded_queue import BoundedQueue
from evcrisp.streaming.checked_stream import CheckedStream
from evcrisp.streaming.protocol import SourceCounts
from evcrisp.streaming.sources.stdin import StdinSource


@given(st.lists(st.integers(1, 20), max_size=50), st.integers(1, 60))
def test_queue_keeps_the_newest(sizes, max_size):
    queue = BoundedQueue(max_size)
    for number, size in enumerate(sizes):
        queue.put(number, size)
    queue.end()
    kept = list(queue)
    assert kept == list(range(len(sizes) - len(kept), len(sizes)))
    kept_size = sum(sizes[number] for number in kept)
    assert queue.dropped_size == sum(sizes) - kept_size
    assert kept_size <= max_size or len(kept) == 1


class Burst:
    """A source that sends a burst while the worker is busy, and more when it is free again."""

    name, can_wait = "burst", False

    def __init__(self, events):
        self.counts, self.events = SourceCounts(), events
        self.is_busy, self.is_sent = threading.Event(), threading.Event()
        self.is_free = threading.Event()

    def open(self):
        return self.events.resolution

    def chunks(self):
        yield self.events[:100]
        assert self.is_busy.wait(60)
        for first in range(100, 9000, 100):
            yield self.events[first : first + 100]
        self.is_sent.set()
        assert self.is_free.wait(60)
        yield self.events[9000:]

    def close(self):
        self.is_free.set()


def test_overload_drops_the_oldest_and_recovers(make_events):
    events = make_events(10_000, resolution=(80, 60))
    source, parts = Burst(events), []

    def work(part):
        parts.append(part.events)
        if len(parts) == 1:
            source.is_busy.set()
            assert source.is_sent.wait(60)
        if sum(map(len, parts)) == 1100:
            source.is_free.set()

    summary = evcrisp.live(source, method="raw", max_waiting_events=1000, on_part=work)
    expected = Events.concatenate([events[:100], events[8000:9000], events[9000:]])
    assert Events.concatenate(parts).equals(expected)
    assert (summary.n_events, summary.n_dropped, summary.n_labeled) == (10_000, 7900, 2100)


def damaged(packet, how):
    changed = bytearray(packet)
    at = 8 + 32  # of the first event
    if how == "content":
        changed[8 + 8 : 8 + 12] = b"XXXX"
    elif how == "outside":
        changed[at + 8 : at + 10] = b"\xff\x7f"
    elif how == "polarity":
        changed[at + 12] = 7
    elif how == "time":
        changed[at : at + 8] = b"\xff\xff\xff\xff\xff\xff\xff\x3f"
    elif how == "stream":
        changed[:4] = b"\x09\0\0\0"
    return bytes(changed)


@pytest.mark.parametrize("how", ["content", "outside", "polarity", "time", "stream"])
def test_damaged_packet_is_counted_and_skipped(make_events, how):
    events = make_events(30_000, resolution=(80, 60))
    first, second, third = (packet for packet, _ in packets_of(events))
    data = stream_start(events.resolution) + first + damaged(second, how) + third
    parts = []
    source = StdinSource(file=io.BytesIO(data))
    summary = evcrisp.live(source, method="raw", on_part=parts.append)
    expected = Events.concatenate([events[:10_000], events[20_000:]])
    assert summary.n_damaged == 1
    assert Events.concatenate([part.kept for part in parts]).equals(expected)


@given(st.data())
def test_any_bytes_never_crash(data):
    events = Events(x=[1, 2], y=[0, 1], t=[5, 9], p=[0, 1], resolution=(8, 4))
    good = stream_start((8, 4)) + b"".join(packet for packet, _ in packets_of(events)) * 3
    n = data.draw(st.integers(0, len(good)))
    changed = bytearray(good[:n])
    for _ in range(data.draw(st.integers(0, 3)) if n else 0):
        changed[data.draw(st.integers(0, n - 1))] = data.draw(st.integers(0, 255))
    source = StdinSource(file=io.BytesIO(bytes(changed)))
    try:
        source.open()
    except evcrisp.EvError:
        return
    t = np.concatenate([np.zeros(0, np.int64), *(chunk.t for chunk in source.chunks())])
    assert (np.diff(t) >= 0).all()


def columns(*times):
    n = len(times)
    zeros = np.zeros(n, np.uint16)
    return Columns(zeros, zeros, np.array(times, np.int64), np.zeros(n, np.bool_))


def test_late_packet_is_skipped_and_new_clock_continues():
    counts = SourceCounts()
    stream = CheckedStream((8, 4), counts)
    assert stream.accept(columns(5_000_000, 5_000_100)).t.tolist() == [5_000_000, 5_000_100]
    assert stream.accept(columns(5_000_050)) is None
    assert stream.accept(columns(20, 50)).t.tolist() == [5_000_100, 5_000_130]
    assert stream.accept(columns(60)).t.tolist() == [5_000_140]
    assert (counts.n_damaged, counts.n_clock_restarts) == (1, 1)


class Lockstep:
    """A source that sends groups of packets; the test says when the next one comes."""

    name, can_wait = "lockstep", False

    def __init__(self, groups):
        self.counts, self.groups = SourceCounts(), groups
        self.turns = [threading.Event() for _ in groups]
        self.n_sent = 0

    def open(self):
        return self.groups[0].resolution

    def chunks(self):
        for turn, group in zip(self.turns, self.groups, strict=True):
            assert turn.wait(60)
            for first in range(0, len(group), 100):
                yield group[first : first + 100]
            self.n_sent += 1

    def close(self):
        for turn in self.turns:
            turn.set()


def groups_of(events, ends):
    return [events[a:b] for a, b in itertools.pairwise((0, *ends))]


def test_windows_longer_than_the_queue_make_room_for_two(make_events, wait_until, monkeypatch):
    module = importlib.import_module("evcrisp.streaming.live")
    monkeypatch.setattr(module, "WAITING_EVENTS", 3100)
    events = make_events(13_000, resolution=(80, 60))
    source = Lockstep(groups_of(events, (3100, 9000, 12_100, 13_000)))
    source.turns[0].set()
    parts = []

    def work(part):
        parts.append(part)
        if len(parts) == 1:  # 5900 events come while the first window gets its labels
            source.turns[1].set()
            wait_until(lambda: source.n_sent == 2)
        source.turns[min(len(parts), 3)].set()

    summary = evcrisp.live(
        source, method="auto", motion="translation", on_part=work,
        windowing=evcrisp.Windowing(window_events=3000),
    )  # fmt: skip
    assert (summary.n_events, summary.n_dropped, summary.n_labeled) == (13_000, 0, 13_000)


def test_room_is_bounded():
    queue = BoundedQueue(500, largest_size=2000)
    queue.grow(10**9)
    assert queue.max_size == 2000
    fixed = BoundedQueue(500)
    fixed.grow(10**9)
    assert fixed.max_size == 500


def test_windows_recover_from_overload(make_events, start_live, wait_until):
    """While the third window is held up, sixty times what may wait comes; then the load falls."""
    window, waiting = 1000, 2000
    before = [window * k + 100 for k in range(1, 4)]
    overload = before[-1] + 60 * waiting
    after = [overload + window * k for k in range(1, 11)]
    events = make_events(after[-1], resolution=(80, 60))
    source = Lockstep(groups_of(events, (*before, overload, *after)))
    is_free, parts = threading.Event(), []

    def work(part):
        parts.append(part)
        if len(parts) == 3:
            assert is_free.wait(60)

    session = start_live(
        source, method="auto", motion="translation", on_part=work, max_waiting_events=waiting,
        windowing=evcrisp.Windowing(window_events=window),
    )  # fmt: skip
    for number in range(1, 4):
        source.turns[number - 1].set()
        wait_until(lambda number=number: len(parts) == number)
    source.turns[3].set()
    wait_until(lambda: source.n_sent == 4)
    is_free.set()
    wait_until(lambda: len(parts) == 5)  # two windows have waited
    for number in range(4, 14):  # each window gets its labels before the next one comes
        source.turns[number].set()
        wait_until(lambda number=number: len(parts) == number + 2)
    summary = session.result()
    assert summary.n_dropped in (59 * waiting, 59 * waiting + 100)
    assert summary.n_labeled + summary.n_dropped == summary.n_events == after[-1]
    labeled = Events.concatenate([part.events for part in parts])
    newest = events[overload - waiting :]  # what waited, and all that came later
    assert labeled[len(labeled) - len(newest) :].equals(newest)
