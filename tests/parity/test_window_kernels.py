"""Kernels of the windows that choose their length, and of their objects, against NumPy and Python: equal."""

import numpy as np
import pytest
from tests.oracles.pipeline import moved_share as oracle
from tests.oracles.pipeline import window_objects as objects_oracle

from evcrisp.core.events import Events
from evcrisp.kernels.pipeline.moved_share import center_tiles, count_cells, match_thirds
from evcrisp.kernels.pipeline.window_objects import count_layer, spread_of_regions
from evcrisp.pipeline.moved_share import MovedShare


@pytest.mark.parametrize("resolution", [(34, 34), (61, 45), (128, 96), (3, 2)])
@pytest.mark.parametrize("n", [0, 40, 30_000])
def test_thirds_of_a_window(resolution, n):
    rng = np.random.default_rng(n + resolution[0])
    x = rng.integers(0, resolution[0], n).astype(np.uint16)
    y = rng.integers(0, resolution[1], n).astype(np.uint16)
    p = rng.integers(0, 2, n).astype(np.uint8)
    ends = np.sort([*rng.integers(0, n + 1, 2), n])
    roots = np.rint(32 * np.sqrt(np.arange(50) + 0.375)).astype(np.int32)

    counts = oracle.cell_counts(x, y, p, ends, 2, resolution)
    rows, columns = counts.shape[2:]
    whole = tuple(8 * -(-side // 8) + 2 for side in (rows, columns))
    cells, inside = (
        np.full((3, 2, *whole), 7, np.int32),
        (..., slice(1, rows + 1), slice(1, columns + 1)),
    )
    count_cells(x, y, p, ends, 2, cells)
    np.testing.assert_array_equal(cells[inside], counts)
    assert cells.sum() == counts.sum() == n  # the border is empty

    roots_of, expected = oracle.centered(counts, roots, 8)
    energy, values = np.full(expected.shape, -1, np.int64), np.zeros(cells.shape, np.int16)
    center_tiles(cells, np.array((rows, columns)), 1 / 16, roots.size - 1, values, energy)
    np.testing.assert_array_equal(values[inside], roots_of)
    np.testing.assert_array_equal(energy, expected)
    assert np.count_nonzero(values) == np.count_nonzero(roots_of)

    wanted = rng.random((*energy.shape[:2], 2)) < 0.7
    match = np.full((*wanted.shape, 9), -1, np.int64)
    match_thirds(values, wanted, match)
    np.testing.assert_array_equal(match, oracle.matches(roots_of, 8) * wanted[..., None])


@pytest.mark.parametrize("speed", [0.0, 10.0, 40.0, 90.0])
def test_share_of_moved_equals_oracle(speed):
    """Random dots that move by so many px; the tiles at the right and at the bottom are smaller."""
    rng = np.random.default_rng(int(speed))
    resolution, n = (150, 110), 30_000
    t = np.sort(rng.integers(0, 10_000, n))
    dots = rng.uniform(0.0, 1.0, (60, 2)) * (150 + 90, 110)
    at = dots[rng.integers(0, 60, n)] + rng.normal(0.0, 1.0, (n, 2))
    at[:, 0] -= speed * t / 10_000
    inside = ((at >= 0) & (at < resolution)).all(axis=1)
    x, y = at[inside].astype(np.uint16).T.copy()
    t, p = t[inside], rng.random(inside.sum()) < 0.5
    roots = np.rint(32 * np.sqrt(np.arange(4096) + 0.375)).astype(np.int32)
    ends = [*np.searchsorted(t, t[[t.size // 3, 2 * t.size // 3]]), t.size]
    thirds = oracle.cell_counts(x, y, p, ends, 2, resolution)
    wanted = oracle.share(thirds, resolution, roots, 1 / 16, 8, (4.0, 4.0, 2.0, 0.3))
    found = MovedShare(resolution)(Events(x=x, y=y, t=t, p=p, resolution=resolution))
    assert found == pytest.approx(wanted, rel=1e-12)
    assert (found < 0.1) if speed == 0.0 else (found > 0.2)


def test_roots_of_all_counts_are_next_to_the_exact_ones():
    counts = np.arange(5_000, dtype=np.int32)
    cells = np.zeros((3, 2, 10, 5_002 + 6), np.int32)
    cells[..., 1, 1:5_001] = counts
    values, energy = np.zeros(cells.shape, np.int16), np.empty((1, 625, 3), np.int64)
    center_tiles(cells, np.array((1, 5_000)), 1 / 16, 4_095, values, energy)
    exact = np.rint(32 * np.sqrt(np.minimum(counts, 4_095) + 0.375)).reshape(-1, 8)
    means = np.floor(exact.mean(axis=1, keepdims=True) + 0.5)
    np.testing.assert_array_equal(values[0, 0, 1, 1:5_001].reshape(-1, 8), exact - means)


def test_sums_of_the_largest_counts_are_exact():
    """Tiles of which half has no events and half has the most that count."""
    roots = np.rint(32 * np.sqrt(np.arange(4096) + 0.375)).astype(np.int32)
    counts = np.zeros((3, 2, 8, 8), np.int64)
    counts[..., :4] = 10**6
    cells, values = np.zeros((3, 2, 10, 10), np.int32), np.zeros((3, 2, 10, 10), np.int16)
    cells[..., 1:9, 1:9] = counts
    roots_of, expected = oracle.centered(counts, roots, 8)
    energy, match = np.empty((1, 1, 3), np.int64), np.empty((1, 1, 2, 9), np.int64)
    center_tiles(cells, np.array((8, 8)), 1 / 16, roots.size - 1, values, energy)
    np.testing.assert_array_equal(energy, expected)
    match_thirds(values, np.ones((1, 1, 2), bool), match)
    np.testing.assert_array_equal(match, oracle.matches(roots_of, 8))


RESOLUTION = (61, 45)


@pytest.mark.parametrize("n", [0, 1, 5_000])
@pytest.mark.parametrize("index", [0, 2])
@pytest.mark.parametrize("step", [(1, 3, 7), (1,), (5,)])
def test_regions_of_a_layer(n, index, step):
    rng = np.random.default_rng(n)
    x, y = (rng.integers(0, side, n).astype(np.uint16) for side in RESOLUTION)
    layer = rng.integers(-1, 3, n).astype(np.int16)
    shape = 6, 8
    counts = np.full(shape, -7, np.int64)
    count_layer(x, y, layer, index, 3, counts)
    np.testing.assert_array_equal(counts, objects_oracle.count_layer(x, y, layer, index, 8, shape))

    region, step = rng.integers(-1, len(step), shape).astype(np.int32), np.array(step)
    across = np.full((step.size, RESOLUTION[0]), -7, np.int32)
    down = np.full((step.size, RESOLUTION[1]), -7, np.int32)
    spread_of_regions(x, y, layer, index, 3, region, step, across, down)
    wanted = objects_oracle.spread_of_regions(
        x, y, layer, index, 8, region, step.tolist(), RESOLUTION
    )
    np.testing.assert_array_equal(across, wanted[0])
    np.testing.assert_array_equal(down, wanted[1])
