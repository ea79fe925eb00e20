"""Kernels of the live area, the density of noise and the support of neighbors, with their oracles."""

import numpy as np
import pytest
from tests.oracles.auto import noise_density as density_oracle
from tests.oracles.auto import short_evidence as oracle

from evcrisp.kernels.auto.live_area import count_lines
from evcrisp.kernels.auto.noise_density import density_at
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


def test_events_per_line_are_counted():
    x, y, _, _ = points(300, 8)
    columns, rows = np.zeros(20, np.int64), np.zeros(15, np.int64)
    count_lines(x, y, columns, rows)
    np.testing.assert_array_equal(columns, np.bincount(x, minlength=20))
    np.testing.assert_array_equal(rows, np.bincount(y, minlength=15))
