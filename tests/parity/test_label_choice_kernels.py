"""Kernels of the live area, the density of noise and the support of neighbors, with their oracles."""

import numpy as np
import pytest
from tests.oracles.auto import noise_density as density_oracle
from tests.oracles.auto import noise_model as threshold_oracle
from tests.oracles.auto import short_evidence as oracle

from evcrisp.kernels.auto.live_area import count_lines
from evcrisp.kernels.auto.noise_density import count_quiet_in_tiles, density_at
from evcrisp.kernels.auto.noise_model import best_step
from evcrisp.kernels.auto.short_evidence import Area, Readers, short_evidence

LEFT, TOP, WIDTH, HEIGHT = 5, 3, 11, 8


def points(n, seed, ticks=40):
    """Return x, y, p, t of points in the order of time; many have the same time."""
    rng = np.random.default_rng(seed)
    return (
        rng.integers(LEFT, LEFT + WIDTH, n).astype(np.uint16),
        rng.integers(TOP, TOP + HEIGHT, n).astype(np.uint16),
        rng.integers(0, 2, n).astype(np.uint8),
        np.sort(rng.integers(0, ticks + 1, n) / ticks - 0.5).astype(np.float32),
    )


def readers_of(columns, n_reaches):
    n = columns[0].size
    return Readers(*columns, np.empty((n_reaches, n), np.float32), np.empty((2, n), np.float32))


def as_list(columns):
    x, y, p, t = (column.tolist() for column in columns)
    return list(zip(x, y, t, p, strict=True))


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("share", [1.0, 0.6])
def test_support_of_neighbors_equals_oracle(seed, share):
    events, samples = points(150, seed), points(60, seed + 10, ticks=997)
    supporting = np.random.default_rng(seed).random(150) < share
    reaches, near = (0.1, 0.7, 8.0), 0.11
    readers = readers_of([column[::2].copy() for column in events], 3)
    of_samples = readers_of(samples, 3)
    last = np.empty(2 * (HEIGHT + 2) * (WIDTH + 2), np.float32)
    short_evidence(
        *events, supporting, readers, of_samples, Area(LEFT, TOP, HEIGHT + 2, WIDTH + 2),
        np.array([1.0 / reach for reach in reaches], np.float32), np.float32(near), last,
    )  # fmt: skip
    others = as_list([column[supporting] for column in events])
    for found, columns in ((readers, [c[::2] for c in events]), (of_samples, samples)):
        for row, reach in zip(found.support, reaches, strict=True):
            expected, *close = oracle.short_evidence(others, as_list(columns), reach, near)
            np.testing.assert_allclose(row, expected, atol=2e-4)
        np.testing.assert_allclose(found.near, close, atol=1e-5)


def test_support_of_neighbors_does_not_depend_on_the_order_at_equal_times():
    events = points(200, 5, ticks=10)
    order = np.lexsort((np.random.default_rng(0).random(200), events[3]))
    results = []
    for chosen in (np.arange(200), order):
        columns = [column[chosen] for column in events]
        readers, none = readers_of(columns, 1), readers_of([column[:0] for column in events], 1)
        last = np.empty(2 * (HEIGHT + 2) * (WIDTH + 2), np.float32)
        short_evidence(
            *columns, np.ones(200, bool), readers, none, Area(LEFT, TOP, HEIGHT + 2, WIDTH + 2),
            np.array([2.0], np.float32), np.float32(0.1), last,
        )  # fmt: skip
        results.append(readers.support[0])
    np.testing.assert_allclose(results[1], results[0][order], rtol=1e-6)


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (3, 1), (4, 6)])
def test_density_between_tiles_equals_oracle(shape):
    rng = np.random.default_rng(4)
    tiles = rng.uniform(0.1, 3.0, shape).astype(np.float32)
    box = (20, 30, 90, 50)
    x, y = rng.uniform(10.0, 130.0, 200), rng.uniform(20.0, 100.0, 200)
    out = np.empty(200, np.float32)
    density_at(x, y, *box, tiles, out)
    expected = [density_oracle.density_at(*place, box, tiles) for place in zip(x, y, strict=True)]
    np.testing.assert_allclose(out, expected, rtol=1e-5)


@pytest.mark.parametrize("shape", [(1, 1), (3, 4)])
@pytest.mark.parametrize("dtype", [np.uint16, np.float64])
def test_quiet_points_of_tiles_equal_oracle(shape, dtype):
    rng = np.random.default_rng(5)
    x, y, p, _ = points(400, 6)
    x, y = x.astype(dtype), y.astype(dtype)
    support = rng.integers(0, 9, 400).astype(np.float32)
    quiet, limit = np.array([2.0, 3.0], np.float32), rng.integers(0, 3, shape).astype(np.float32)
    # The area is smaller than that of the points.
    corner = np.array([LEFT + 1.5, TOP + 0.5], np.float32)
    scale = np.array([shape[1] / (WIDTH - 4), shape[0] / (HEIGHT - 2)], np.float32)
    chosen, counts = np.flatnonzero(rng.random(400) < 0.7), np.full(shape, np.nan)
    given = x, y, p, support, chosen, quiet, limit, corner, scale
    count_quiet_in_tiles(*given, counts)
    expected = density_oracle.count_quiet_in_tiles(*given)
    np.testing.assert_array_equal(counts, expected)
    assert 0 < counts.sum() < chosen.size


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "interval"), [(1, 1), (7, 3), (900, 1), (900, 4)])
def test_best_step_equals_oracle(n, interval, dtype):
    rng = np.random.default_rng(n + interval)
    # Whole numbers: many are equal.
    ranked = np.sort(rng.integers(0, 30, n)).astype(dtype)
    steps = np.sort(rng.integers(5, 30, 60)).astype(dtype)
    kept_samples, first = np.linspace(0.2, 0.0, 60), (n - 1) % interval // 2
    given = steps, kept_samples, 500.0, 3.0
    found = best_step(ranked, first, interval, *given)
    assert found == threshold_oracle.best_step(ranked[first::interval], *given)


def test_best_step_is_the_median_of_similar_ones():
    ranked, steps = np.arange(1000.0), np.linspace(500.0, 501.0, 11)
    k, kept, gain = best_step(ranked, 0, 1, steps, np.full(11, 0.01), 100.0, 3.0)
    assert (k, kept) == (5, pytest.approx(0.499))
    assert gain == pytest.approx(0.499 - 0.01 - 3.0 * np.sqrt(0.01 * (1e-3 + 1e-2)), abs=2e-3)


def test_events_per_line_are_counted():
    x, y, _, _ = points(300, 8)
    columns, rows = np.zeros(20, np.int64), np.zeros(15, np.int64)
    count_lines(x, y, columns, rows)
    np.testing.assert_array_equal(columns, np.bincount(x, minlength=20))
    np.testing.assert_array_equal(rows, np.bincount(y, minlength=15))
