"""SPIF over UDP, with packets of known bytes."""

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evcrisp import ConfigError, Events
from evcrisp.streaming.addresses import Address
from evcrisp.streaming.sinks.udp import UdpSink
from evcrisp.streaming.sources.udp import UdpSource
from evcrisp.streaming.spif import SpifDecoder, encode

KNOWN = bytes.fromhex("02800100e8030000")  # (1, 2, ON, 1000 us)
NO_TIME = bytes.fromhex("02800180")


def rows(columns):
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_known_bytes():
    assert encode(Events(x=[1], y=[2], t=[1000], p=[1], resolution=(8, 4))) == KNOWN
    assert rows(SpifDecoder().decode(KNOWN, 7)) == [(1, 2, 1000, True)]


def test_events_without_time():
    decoder = SpifDecoder()
    assert [row[2] for row in rows(decoder.decode(2 * NO_TIME, 7))] == [7, 7]
    assert [row[2] for row in rows(decoder.decode(KNOWN + NO_TIME, 9))] == [1000, 1000]
    assert [row[2] for row in rows(decoder.decode(NO_TIME, 11))] == [1000]
    assert [row[2] for row in rows(SpifDecoder().decode(NO_TIME + KNOWN, 7))] == [1000, 1000]


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=30), st.integers(1, 7))
def test_times_continue_after_32_bits(steps, n):
    t, last = [], 2**32 - 5
    for step in steps:
        last += step
        t.append(last)
    events = Events(x=[3] * len(t), y=[1] * len(t), t=t, p=[0] * len(t), resolution=(8, 4))
    decoder, got = SpifDecoder(), []
    for first in range(0, len(t), n):
        got += decoder.decode(encode(events[first : first + n]), 0).t.tolist()
    assert [time - got[0] for time in got] == [time - t[0] for time in t]


def test_from_udp_to_udp(make_events, start_live, wait_until):
    events = make_events(1000, resolution=(80, 60))
    source = UdpSource(Address("udp", "127.0.0.1", 0), (80, 60))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        receiver.settimeout(60)
        out = UdpSink(Address("udp", "127.0.0.1", receiver.getsockname()[1]))
        session = start_live(source, out)
        sink = UdpSink(Address("udp", "127.0.0.1", source.port))
        for first in range(0, 1000, 100):
            sink.write(events[first : first + 100])
            wait_until(lambda n=first + 100: sum(len(p.events) for p in session.parts) == n)
        sink._socket.send(b"odd")
        wait_until(lambda: source.counts.n_damaged == 1)
        sink.close(is_complete=True)
        session.stop.set()
        summary = session.result()
        decoder, got = SpifDecoder(), []
        while len(got) < 1000:
            got += rows(decoder.decode(receiver.recv(65_536), 0))
    assert (summary.n_events, summary.n_damaged) == (1000, 1)
    assert got == rows((events.x, events.y, events.t, events.p))


def test_resolution_is_needed():
    with pytest.raises(ConfigError, match="resolution"):
        UdpSource(Address("udp", "127.0.0.1", 0), None)
