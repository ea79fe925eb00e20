"""Kernels of AEDAT4 records against their oracles."""

import numpy as np
import pytest
from tests.oracles.io import aedat4 as oracle

from evcrisp.kernels.io.aedat4 import join_records, place_records, split_records


def columns(n, seed=0):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 1 << 16, (2, n)).astype(np.uint16)
    t = rng.integers(-(2**62), 2**62, n)
    return x, y, t, rng.integers(0, 2, n).astype(np.uint8)


def buffers(n):
    return (
        np.full(n, 9, np.uint16),
        np.full(n, 9, np.uint16),
        np.full(n, 9, np.int64),
        np.full(n, 9, np.uint8),
    )


def packed(x, y, t, p, padding=b"\0\0\0"):
    rows = zip(x.tolist(), y.tolist(), t.tolist(), p.tolist(), strict=True)
    return np.frombuffer(oracle.join_records(rows, padding), np.uint64)


@pytest.mark.parametrize("n", [0, 1, 2, 7, 1000])
@pytest.mark.parametrize("padding", [b"\0\0\0", b"\xff\x01\x80"])
def test_split_records_matches_oracle(n, padding):
    expected = columns(n)
    words = packed(*expected, padding=padding)
    found = buffers(n + 5)
    assert split_records(words, 0, n, *found, 3) == n == len(oracle.split_records(words))
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine[3 : 3 + n], theirs)
        assert (mine[:3] == 9).all()
        assert (mine[3 + n :] == 9).all()


def test_split_records_reads_a_range():
    expected = columns(100)
    found = buffers(40)
    assert split_records(packed(*expected), 50, 40, *found, 0) == 40
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine, theirs[50:90])


@pytest.mark.parametrize("bad", [0, 1, 36, 99])
@pytest.mark.parametrize("value", [2, 128, 255])
def test_split_records_counts_up_to_a_wrong_polarity(bad, value):
    x, y, t, p = columns(100)
    p[bad] = value
    p[99] = value
    words = packed(x, y, t, p)
    assert split_records(words, 0, 100, *buffers(100), 0) == bad == len(oracle.split_records(words))


@pytest.mark.parametrize("n", [0, 1, 2, 7, 1000])
def test_join_records_matches_oracle(n):
    x, y, t, p = columns(n + 9)
    words = np.full(2 * (n + 6), 77, np.uint64)
    join_records(x, y, t, p, 4, n, words, 2)
    part = slice(4, 4 + n)
    np.testing.assert_array_equal(words[4 : 4 + 2 * n], packed(x[part], y[part], t[part], p[part]))
    assert (words[:4] == 77).all()
    assert (words[4 + 2 * n :] == 77).all()


@pytest.mark.parametrize("n", [0, 1, 2, 500])
def test_place_records_matches_oracle(n):
    rng = np.random.default_rng(n)
    n_good = 0
    for _ in range(80):
        x, y = rng.integers(0, 30, (2, n)).astype(np.uint16)
        t = np.sort(rng.integers(0, 100, n))
        p = rng.integers(0, 2, n).astype(np.uint8)
        if n and rng.random() < 0.2:
            t[rng.integers(0, n)] += rng.integers(-20, 20)
        if n and rng.random() < 0.2:
            p[rng.integers(0, n)] = rng.integers(2, 256)
        width, height, before = rng.integers(29, 32), rng.integers(29, 32), rng.integers(-9, 1)
        limits = np.array([width, height, before])
        found = buffers(n + 4)
        words = packed(x, y, t, p)
        is_good = place_records(words, n, *found, 2, limits)
        assert is_good == oracle.place_records(words, width, height, before)
        assert limits.tolist() == [width, height, t[-1] if n else before]
        n_good += is_good
        for mine, theirs in zip(found, (x, y, t, p), strict=True):
            np.testing.assert_array_equal(mine[2 : 2 + n], theirs)
            assert (mine[:2] == 9).all()
            assert (mine[2 + n :] == 9).all()
    assert n_good > 10
