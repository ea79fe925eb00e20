"""The record kernels of AEDAT4 against plain struct code."""

import struct

import numpy as np
import pytest

from evcrisp.kernels.aedat4 import is_ordered_inside, join_records, split_records

RECORD = struct.Struct("<qHHB3x")


def columns(n, seed=0):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 1 << 16, (2, n)).astype(np.uint16)
    t = rng.integers(-(2**62), 2**62, n)
    return x, y, t, rng.integers(0, 2, n).astype(np.uint8)


def room(n):
    return (
        np.full(n, 9, np.uint16),
        np.full(n, 9, np.uint16),
        np.full(n, 9, np.int64),
        np.full(n, 9, np.uint8),
    )


def packed(x, y, t, p, padding=b"\0\0\0"):
    rows = zip(t.tolist(), x.tolist(), y.tolist(), p.tolist(), strict=True)
    data = b"".join(RECORD.pack(*row)[:13] + padding for row in rows)
    return np.frombuffer(data, np.uint64)


@pytest.mark.parametrize("n", [0, 1, 2, 7, 1000])
@pytest.mark.parametrize("padding", [b"\0\0\0", b"\xff\x01\x80"])
def test_split_records_matches_struct(n, padding):
    expected = columns(n)
    words = packed(*expected, padding=padding)
    found = room(n + 5)
    assert split_records(words, 0, n, *found, 3) == n
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine[3 : 3 + n], theirs)
        assert (mine[:3] == 9).all()
        assert (mine[3 + n :] == 9).all()


def test_split_records_takes_a_part():
    expected = columns(100)
    found = room(40)
    assert split_records(packed(*expected), 50, 40, *found, 0) == 40
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine, theirs[50:90])


@pytest.mark.parametrize("bad", [0, 1, 36, 99])
@pytest.mark.parametrize("value", [2, 128, 255])
def test_split_records_counts_up_to_a_bad_polarity(bad, value):
    x, y, t, p = columns(100)
    p[bad] = value
    p[99] = value
    assert split_records(packed(x, y, t, p), 0, 100, *room(100), 0) == bad


@pytest.mark.parametrize("n", [0, 1, 2, 7, 1000])
def test_join_records_matches_struct(n):
    x, y, t, p = columns(n + 9)
    words = np.full(2 * (n + 6), 77, np.uint64)
    join_records(x, y, t, p, 4, n, words, 2)
    part = slice(4, 4 + n)
    np.testing.assert_array_equal(words[4 : 4 + 2 * n], packed(x[part], y[part], t[part], p[part]))
    assert (words[:4] == 77).all()
    assert (words[4 + 2 * n :] == 77).all()


@pytest.mark.parametrize("n", [0, 1, 2, 500])
def test_is_ordered_inside_matches_numpy(n):
    rng = np.random.default_rng(n)
    for _ in range(50):
        x, y = rng.integers(0, 30, (2, n)).astype(np.uint16)
        t = np.sort(rng.integers(0, 100, n))
        if n > 1 and rng.random() < 0.3:
            t[rng.integers(0, n)] += rng.integers(-20, 20)
        width, height = rng.integers(28, 32, 2).tolist()
        expected = (np.diff(t) >= 0).all() and (x < width).all() and (y < height).all()
        assert is_ordered_inside(x, y, t, width, height) == expected
