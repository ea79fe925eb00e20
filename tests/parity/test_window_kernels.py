"""Kernels of the windows that choose their length, against NumPy: equal to the last bit."""

import numpy as np
import pytest
from tests.oracles.pipeline import moved_share as oracle

from evcrisp.kernels.pipeline.moved_share import center_tiles, count_cells, match_thirds


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
    cells = np.full((3, 2, rows + 2, columns + 2), 7, np.int32)
    count_cells(x, y, p, ends, 2, cells)
    np.testing.assert_array_equal(cells[:, :, 1:-1, 1:-1], counts)
    assert cells.sum() == counts.sum() == n  # the border is empty

    values, expected = oracle.centered(counts, roots, 8)
    energy = np.full(expected.shape, -1, np.int64)
    center_tiles(cells, roots, 8, energy)
    np.testing.assert_array_equal(cells[:, :, 1:-1, 1:-1], values)
    np.testing.assert_array_equal(energy, expected)

    wanted = rng.random((*energy.shape[:2], 2)) < 0.7
    match = np.full((*wanted.shape, 9), -1, np.int64)
    match_thirds(cells, 8, wanted, match)
    np.testing.assert_array_equal(match, oracle.matches(values, 8) * wanted[..., None])
