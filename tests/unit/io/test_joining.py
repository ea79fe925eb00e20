"""Joined packets equal concatenated ones, for any estimate of their number."""

import numpy as np
import pytest

from evcrisp.io.joining import join
from evcrisp.io.protocol import Packet


def packets_of(sizes, *, labeled=(), step=100):
    rng = np.random.default_rng(4)
    found = []
    for i, n in enumerate(sizes):
        x, y = rng.integers(0, 100, (2, n)).astype(np.uint16)
        t, p = rng.integers(0, 1000, n), rng.random(n) < 0.5
        signal = rng.random(n) < 0.5 if i in labeled else None
        found.append(Packet(x, y, t, p, 50 + i * step, signal))
    return found


@pytest.mark.parametrize("sizes", [[5], [5, 7], [0, 0], [10, 10, 10, 3], [1, 500, 2], [300, 1, 1]])
@pytest.mark.parametrize("n_expected", [None, 0, 1, 12, 33, 10_000])
@pytest.mark.parametrize("n_bytes", [0, 60, 500, 100_000])
def test_joined_packets_equal_the_concatenated_ones(sizes, n_expected, n_bytes):
    packets = packets_of(sizes)
    joined = join(iter(packets), n_expected=n_expected, n_bytes=n_bytes)
    for name in ("x", "y", "t", "p"):
        parts = [getattr(packet, name) for packet in packets]
        np.testing.assert_array_equal(getattr(joined, name), np.concatenate(parts))
        assert getattr(joined, name).dtype == parts[0].dtype
    assert joined.offset == 50
    assert joined.signal is None


def test_no_packets_join_to_none():
    assert join(iter(()), n_expected=5, n_bytes=100) is None


@pytest.mark.parametrize("n_expected", [None, 0, 20, 1000])
@pytest.mark.parametrize("labeled", [(0, 1, 2), (0,), (1, 2), (0, 1)])
def test_labels_are_kept_if_every_packet_has_them(n_expected, labeled):
    packets = packets_of([10, 10, 10], labeled=labeled)
    joined = join(iter(packets), n_expected=n_expected, n_bytes=10_000)
    if labeled == (0, 1, 2):
        expected = np.concatenate([packet.signal for packet in packets])
        np.testing.assert_array_equal(joined.signal, expected)
    else:
        assert joined.signal is None


def test_packets_without_positions_are_joined_too():
    packets = packets_of([10, 20, 30], step=0)
    joined = join(iter(packets), n_expected=None, n_bytes=1000)
    assert joined.t.size == 60


def test_wrong_number_of_events_does_not_exceed_the_memory_limit():
    joined = join(iter(packets_of([10, 10])), n_expected=10**15, n_bytes=400)
    assert joined.t.base is None or joined.t.base.size <= 400
    assert joined.t.size == 20
