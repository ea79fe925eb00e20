"""The kernels of video frames against their oracles."""

import numpy as np
import pytest
from tests.oracles.video import frames as oracle

from evcrisp.kernels.video import frames

SHAPE = (14, 18)


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def counts():
    return np.zeros(SHAPE, np.uint8), np.zeros(SHAPE, np.uint8)


def test_count_dots_matches_the_oracle(rng):
    x, y = rng.integers(0, 18, 500, np.uint16), rng.integers(0, 14, 500, np.uint16)
    kind, keep = rng.random(500) < 0.4, rng.random(500) < 0.8
    first, second = counts()
    frames.count_dots(x, y, kind, keep, first, second)
    assert np.array_equal((first, second), oracle.count_rounded(x, y, kind, keep, SHAPE))
    assert int(first.sum()) + int(second.sum()) == keep.sum()


def test_counts_saturate_at_255():
    x = np.zeros(600, np.uint16)
    kind = np.arange(600) % 2 == 0
    for count, place in ((frames.count_dots, x), (frames.count_rounded, x.astype(np.float64))):
        first, second = counts()
        count(place, place, kind, np.ones(600, bool), first, second)
        assert first[0, 0] == second[0, 0] == 255


def test_count_rounded_matches_the_oracle(rng):
    x, y = rng.uniform(-3, 21, 800), rng.uniform(-3, 17, 800)
    x[:6] = np.nan, np.inf, -np.inf, -0.5, 17.5, 17.4999
    y[:6] = 3.0
    x[6], y[6] = 2.0, 1e300
    kind, keep = rng.random(800) < 0.5, rng.random(800) < 0.8
    first, second = counts()
    frames.count_rounded(x, y, kind, keep, first, second)
    assert np.array_equal((first, second), oracle.count_rounded(x, y, kind, keep, SHAPE))


def test_paint_counts_matches_the_oracle_and_resets_the_counts(rng):
    first, second = (rng.integers(0, 256, SHAPE).astype(np.uint8) for _ in range(2))
    levels = np.minimum(np.arange(256), 10).astype(np.uint8)
    expected = oracle.paint_counts(first, second, levels, 11, 121)
    canvas = np.full((20, 25), 7, np.uint8)
    frames.paint_counts(first, second, levels, 11, 121, canvas, 5, 6)
    assert np.array_equal(canvas[5:19, 6:24], expected)
    assert (canvas[:5] == 7).all()
    assert (canvas[:, :6] == 7).all()
    assert not first.any()
    assert not second.any()


def test_fill_yuv_matches_the_oracle(rng):
    canvas = rng.integers(0, 256, SHAPE).astype(np.uint8)
    table = rng.integers(0, 256, (256, 3)).astype(np.uint8)
    luma, u, v = np.empty(SHAPE, np.uint8), *np.empty((2, 7, 9), np.uint8)
    frames.fill_yuv(canvas, table, luma, u, v)
    for ours, expected in zip((luma, u, v), oracle.fill_yuv(canvas, table), strict=True):
        assert np.array_equal(ours, expected)
