"""Overload and damage: bounded memory, the newest events are kept, counts are true."""

import io
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
