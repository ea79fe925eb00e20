"""Kernel of ECF against its oracle, and against blocks of the vendor's encoder."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.io import ecf as oracle

from evcrisp.io.hdf5.ecf import decode
from evcrisp.kernels.io import ecf

LAYOUTS = [oracle.APART, oracle.COLUMNS, oracle.PLACES]

#: Blocks that the vendor's encoder (version 1.0.1) makes of events (x, y, t, p). The last group of
#: the last block also has values of an earlier block, which a decoder must ignore.
VENDOR = {
    "06000000040000000000000001000220000000000000000000": [(1, 2, 4, False)],
    "11000000040000000000000004440029003c70ff09": [
        *((1, 2, 4, False), (900, 2, 4, True), (30, 2, 4, False), (1279, 2, 4, True)),
    ],
    "34000000640000000000000005f4f101f0f1f3f107ed00550110059f0c400d8409": [
        *((x, 7, 100, True) for x in (10, 11, 13, 15)),
        *((40, 7, 100, False), (41, 7, 120, False)),
        *((x, 7, 5000, False) for x in range(100, 107)),
    ],
    "16000000000000000000000001e1ff01f3fef9fcfaf9fbf302b00b900005c0c4120710002b520820"
    "00c8707000ca700000": [
        *((5, 9, 0, True), (600, 300, 14, False), (2, 700, 29, True)),
        *((3, 1, 10**9, True), (4, 2, 10**9, False)),
    ],
}


def as_tuples(columns):
    x, y, t, p = (column.tolist() for column in columns)
    return list(zip(x, y, t, p, strict=True))


@pytest.mark.parametrize("block", VENDOR)
def test_blocks_of_the_vendor_are_decoded(block):
    data = bytes.fromhex(block)
    assert as_tuples(decode(data)) == VENDOR[block]
    assert oracle.decode_ecf(data) == (VENDOR[block], len(data))


@st.composite
def some_events(draw):
    n = draw(st.sampled_from([0, 1, 2, 3, 4, 5, 6, 14, 15, 16, 31, 33, 126, 127, 128, 300, 70_000]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = min(n, ecf.MAX_EVENTS)
    step = draw(st.sampled_from([1, 2, 15, 16, 17, 300, 10**6, 10**12]))
    t = draw(st.integers(0, 2**40)) + np.cumsum(rng.integers(0, step, n))
    length = draw(st.sampled_from([1, 3, 40, 400]))
    y = np.repeat(rng.integers(0, 2048, n // length + 1), length)[:n]
    x = np.cumsum(rng.integers(0, draw(st.sampled_from([2, 4, 2000])), n)) % 2048
    p = np.repeat(rng.integers(0, 2, n // length + 1), length)[:n].astype(bool)
    return list(zip(x.tolist(), y.tolist(), t.tolist(), p.tolist(), strict=True))


@pytest.mark.parametrize("layout", LAYOUTS)
@settings(max_examples=60, deadline=None)
@given(events=some_events())
def test_decoder_inverts_the_encoder_of_the_oracle(layout, events):
    block = oracle.encode_ecf(events, layout)
    assert as_tuples(decode(block)) == events


@pytest.mark.parametrize("layout", LAYOUTS)
def test_decoder_matches_oracle(layout):
    rng = np.random.default_rng(layout)
    n = 400
    x, y = rng.integers(0, 2048, n), np.repeat(rng.integers(0, 2048, n // 5), 5)
    t, p = np.cumsum(rng.integers(0, 40, n)), rng.integers(0, 2, n) > 0
    events = list(zip(x.tolist(), y.tolist(), t.tolist(), p.tolist(), strict=True))
    block = oracle.encode_ecf(events, layout)
    assert (as_tuples(decode(block)), len(block)) == oracle.decode_ecf(block)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_cut_and_longer_blocks_are_damaged(layout):
    events = [(x % 900, x // 7, 5000 * x, x % 3 == 0) for x in range(60)]
    block = oracle.encode_ecf(events, layout)
    assert all(decode(block[:n]) is None for n in range(len(block)))
    assert decode(block + b"\0") is None
    assert as_tuples(decode(block)) == events


@pytest.mark.parametrize("layout", LAYOUTS)
def test_random_damage_stays_within_the_columns(layout):
    rng = np.random.default_rng(layout)
    events = [(x % 900, x // 7, 50 * x, x % 3 == 0) for x in range(300)]
    block = np.frombuffer(oracle.encode_ecf(events, layout), np.uint8)
    n_damaged = 0
    for _ in range(2000):
        data = block.copy()
        data[rng.integers(0, data.size, 3)] = rng.integers(0, 256, 3)
        n = int(ecf.count_ecf(data))
        if n < 0:
            n_damaged += 1
            continue
        # Elements after the end must keep their values.
        x, y = np.full((2, n + ecf.SLACK + 8), 9999, np.uint16)
        t, p = np.full(x.size, -7, np.int64), np.zeros(x.size, bool)
        n_damaged += not ecf.decode_ecf(data, x, y, t, p)
        end = n + ecf.SLACK
        assert (x[end:] == 9999).all()
        assert (y[end:] == 9999).all()
        assert (t[end:] == -7).all()
    assert n_damaged > 200


@pytest.mark.parametrize(
    "block",
    [
        b"",
        bytes(11),
        (65_536 << 2).to_bytes(4, "little") + bytes(9),  # too many events
        (1 << 2 | 3).to_bytes(4, "little") + bytes(8) + b"\x01" + bytes(12),  # unknown layout
        (1 << 2).to_bytes(4, "little") + bytes(8) + b"\xf1" * 17 + b"\x01",  # step above 64 bits
        (1 << 2).to_bytes(4, "little") + bytes(8) + b"\x02",  # run beyond the last event
        (1 << 2).to_bytes(4, "little") + bytes(8) + b"\x00" * 500,  # runs without events
    ],
)
def test_impossible_blocks_are_damaged(block):
    assert decode(block) is None


def test_block_without_events_is_empty():
    assert as_tuples(decode(bytes(12))) == []
